import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";

/** The definition of a metric. Its name ends in its unit, and its labels have a closed set or a bounded number of values. */
export type MetricKind = "counter" | "gauge" | "histogram";
export type Definition = {
  readonly kind: MetricKind;
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram, in its unit. */
  readonly buckets?: readonly number[];
};
export type Definitions = Readonly<Record<string, Definition>>;
export type Labels = Readonly<Record<string, string>>;
export type Sample = { readonly name: string; readonly labels?: Labels; readonly value: number };

/** Gauges that are read together on each scrape. */
export type GaugeGroup = {
  readonly name: string;
  readonly definitions: Definitions;
  /** If it throws, the group is left out of this reply, and the error is counted. */
  readonly read: () => Promise<readonly Sample[]>;
};

export type Metrics = {
  /** Adds to a counter, or one observation to a histogram. */
  record(sample: Sample): void;
  addGauges(group: GaugeGroup): void;
  /** All metrics in the text format of Prometheus. */
  text(): Promise<string>;
};

export const METRICS_CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/** Metrics of the scrape itself. */
export const OWN_METRICS: Definitions = {
  nightdesk_metrics_unreadable_total: {
    kind: "counter",
    help: "Groups of gauges that could not be read and were left out of an answer.",
    labels: ["group"],
  },
};

/** Metrics of a process: Node's defaults, recorded ones, and gauges that are read on each scrape. */
export function openMetrics(definitions: Definitions): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const recorders = new Map(
    Object.entries({ ...definitions, ...OWN_METRICS }).map(([name, definition]) => [
      name,
      recorderOf(name, definition, registry),
    ]),
  );
  const record: Metrics["record"] = (sample) => {
    recorders.get(sample.name)?.(sample);
  };
  const groups: (() => Promise<string>)[] = [];
  return {
    record,
    addGauges(group) {
      const read = groupReader(group);
      groups.push(() =>
        read().catch(() => {
          record({
            name: "nightdesk_metrics_unreadable_total",
            labels: { group: group.name },
            value: 1,
          });
          return "";
        }),
      );
    },
    async text() {
      const read = await Promise.all(groups.map((group) => group()));
      const own = await registry.metrics();
      return [...read.filter((text) => text !== ""), own].join("\n");
    },
  };
}

function recorderOf(
  name: string,
  { kind, help, labels, buckets }: Definition,
  registry: Registry,
): (sample: Sample) => void {
  const given = { name, help, labelNames: [...labels], registers: [registry] };
  if (kind === "histogram") {
    const histogram = new Histogram({ ...given, buckets: [...(buckets ?? [])] });
    return ({ labels: of = {}, value }) => {
      histogram.observe({ ...of }, value);
    };
  }
  if (kind === "gauge") {
    const gauge = new Gauge(given);
    return ({ labels: of = {}, value }) => {
      gauge.set({ ...of }, value);
    };
  }
  const counter = new Counter(given);
  return ({ labels: of = {}, value }) => {
    counter.inc({ ...of }, value);
  };
}

/** Each reading has its own registry, so that a vanished value is not reported again. */
const groupReader =
  ({ definitions, read }: GaugeGroup): (() => Promise<string>) =>
  async () => {
    const samples = await read();
    const registry = new Registry();
    const reported = new Set(samples.map(({ name }) => name));
    const recorders = new Map(
      Object.entries(definitions)
        .filter(([name]) => reported.has(name))
        .map(([name, definition]) => [name, recorderOf(name, definition, registry)]),
    );
    for (const sample of samples) recorders.get(sample.name)?.(sample);
    return registry.metrics();
  };

/** Keeps the first `most` values and replaces any other by `other`, which bounds the cost of a label. */
export function boundedLabel(most: number): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (known.has(value)) return value;
    if (known.size >= most) return "other";
    known.add(value);
    return value;
  };
}
