import { modelNameAt } from "../../shared/config/hosts.ts";
import type { HostPlace } from "../../shared/config/hosts.ts";
import { Failure, HostFailure } from "../../shared/failure.ts";
import type { ClosedHost } from "../../shared/store/hosts/choose-host.ts";
import { hostDown, hostPaused } from "./host-failure.ts";
import type { Model } from "./model.ts";

/** Chooses one of several hosts, for a run or for a caller without one. */
export type HostChoice = {
  /**
   * Chooses the host to call now. For a run, a slot of the host is reserved until its call begins.
   * @param among in the order of the configuration
   * @param tried base URLs of hosts that failed: their reservations end
   */
  choose(among: readonly [HostPlace, ...HostPlace[]], tried: readonly string[]): Promise<NextHost>;
  /** Counts a host that could not be reached, when the run continues on another. */
  failed(failure: HostFailure): Promise<void>;
};

export type NextHost =
  | { readonly outcome: "chosen"; readonly host: string }
  /** No host may be called now: their states, the one that opens first at the beginning. */
  | { readonly outcome: "closed"; readonly hosts: readonly ClosedHost[] };

/** The choice of a caller without a run: by priority, then in the order of the configuration. */
export const IN_ORDER: HostChoice = {
  async choose(among) {
    const { host } = among.reduce((first, place) =>
      priorityOf(place) < priorityOf(first) ? place : first,
    );
    return { outcome: "chosen", host };
  },
  failed: async () => undefined,
};

const priorityOf = ({ entry }: HostPlace): number => entry?.priority ?? 0;

/** Opens a model at a host, by its name on that host. */
export type OpenAt = (place: HostPlace, name: string, signal: AbortSignal) => Promise<Model>;

/** Opens a model at the first of its hosts that is available. @throws as askFirstHost */
export async function openAtHost(
  name: string,
  places: readonly HostPlace[],
  { open, choice }: { readonly open: OpenAt; readonly choice: HostChoice },
  signal: AbortSignal,
): Promise<Model> {
  const { given, host, others } = await askFirstHost(name, places, { ask: open, choice }, signal);
  return withHost(given, { name, host, others });
}

type AskHosts<T> = {
  /** Calls one host, with the name that the model has there. */
  readonly ask: (place: HostPlace, nameThere: string, signal: AbortSignal) => Promise<T>;
  readonly choice: HostChoice;
};

/** The reply of the first available host, and how many other hosts may have the model. */
type HostAnswer<T> = { readonly given: T; readonly host: string; readonly others: number };

/**
 * Calls the host that is chosen for a model, and if it can't be reached or does not have the model, the next chosen one.
 *
 * @throws Failure MODEL_NOT_FOUND if no host has the model; if all hosts that may have it are down or busy, the HostFailure of
 *   the host that was called first, or that opens first; and whatever a reached host threw
 */
export async function askFirstHost<T>(
  name: string,
  places: readonly HostPlace[],
  { ask, choice }: AskHosts<T>,
  signal: AbortSignal,
): Promise<HostAnswer<T>> {
  const serving = servingHosts(name, places);
  const troubles: HostFailure[] = [];
  const tried: string[] = [];
  for (;;) {
    const next = await nextHost(serving, tried, choice);
    if (next === undefined) break;
    if ("closed" in next) {
      troubles.push(...next.closed.map(whyNotNow));
      break;
    }
    const { place, nameThere } = next;
    try {
      const given = await ask(place, nameThere, signal);
      await Promise.all(troubles.map((trouble) => choice.failed(trouble)));
      return { given, host: place.host, others: serving.length - 1 };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof HostFailure) troubles.push(error);
      else if (!isMissing(error)) throw error;
      tried.push(place.host);
    }
  }
  const [first, ...rest] = troubles;
  if (first === undefined) throw missingEverywhere(name, places);
  await Promise.all(rest.map((trouble) => choice.failed(trouble)));
  throw first;
}

type ServingHost = { readonly place: HostPlace; readonly nameThere: string };

const servingHosts = (name: string, places: readonly HostPlace[]): readonly ServingHost[] =>
  places.flatMap((place) => {
    const nameThere = modelNameAt(place, name);
    return nameThere === null ? [] : [{ place, nameThere }];
  });

/** Undefined when all were tried. A host that alone serves the model is called whatever its state. */
async function nextHost(
  serving: readonly ServingHost[],
  tried: readonly string[],
  choice: HostChoice,
): Promise<ServingHost | { readonly closed: readonly ClosedHost[] } | undefined> {
  const left = serving.filter(({ place }) => !tried.includes(place.host));
  const [first, ...others] = left;
  if (first === undefined || serving.length === 1) return first;
  const among = [first.place, ...others.map(({ place }) => place)] as const;
  const next = await choice.choose(among, tried);
  if (next.outcome === "closed") return { closed: next.hosts };
  return left.find(({ place }) => place.host === next.host);
}

const whyNotNow = (closed: ClosedHost): HostFailure =>
  closed.state === "open"
    ? hostDown(closed.host, closed)
    : hostPaused(closed.host, closed.paused_ms);

const isMissing = (error: unknown): boolean =>
  error instanceof Failure && error.code === "MODEL_NOT_FOUND";

const missingEverywhere = (name: string, places: readonly HostPlace[]): Failure =>
  new Failure(
    "MODEL_NOT_FOUND",
    `No host of hosts has the model "${name}": ${places.map(({ entry, host }) => entry?.name ?? host).join(", ")}. ` +
      "Load it there, or name it among the models of the one that has it.",
  );

type ChosenHost = { readonly name: string; readonly host: string; readonly others: number };

/** Jobs use the name of the configuration, whatever the model is called on the host. */
const withHost = (model: Model, { name, host, others }: ChosenHost): Model => ({
  ...model,
  name,
  host,
  async complete(request, signal) {
    try {
      return await model.complete(request, signal);
    } catch (error) {
      if (error instanceof HostFailure) error.isServedElsewhere = others > 0;
      throw error;
    }
  },
});
