import { isRecord } from "../schema/json-value.ts";
import { fieldFacts } from "./answer-sections.ts";
import { countOf, formatCount, formatDuration } from "./quantity.ts";
import { checkSections } from "./run-checks.ts";
import { callBlocks, citationItems, evidenceItem, oneLine, toolCallItem } from "./run-evidence.ts";
import type { RunDetail, RunRow } from "./runs.ts";
import { stepBlocks } from "./steps.ts";
import {
  RIGHT,
  duration,
  fact,
  fold,
  ids,
  listSection,
  sectionOf,
  state,
  tableOf,
  time,
} from "./section.ts";
import type { Block, Extent, Fact, Item, Page, Piece, Section, Table } from "./section.ts";

/** Runs, one a row. */
export const runTable = (runs: readonly RunRow[]): Table =>
  tableOf(runs, [
    ids("run", (run) => run.run_id),
    ["batch", ({ batch }) => batch, { cut: "middle", least: 12, leftOut: 4 }],
    ["custom_id", (run) => run.custom_id, { cut: "middle", least: 12 }],
    ["kind", ({ kind }) => kind, { leftOut: 3 }],
    ["state", runState, { least: 9 }],
    [
      "took",
      (run) => (run.run_ms === null ? null : duration(run.run_ms)),
      { ...RIGHT, leftOut: 2 },
    ],
    ["started", (run) => time(run.started_at, "minutes"), { leftOut: 5 }],
    ["model", ({ model }) => model, { cut: "middle", least: 12, leftOut: 1 }],
    ["code", (run) => run.error_code, { least: 21 }],
  ]);

const runState = ({ state: outcome, attempt }: RunRow): Piece =>
  state(outcome, attempt > 1 ? `${outcome}, attempt ${attempt}` : outcome);

/** A complete run for an auditor: its input, each step, what it read, and its result. */
export const runPage = (run: RunDetail, extent: Extent): Page => ({
  title: `Run ${run.run_id}`,
  facts: headFacts(run),
  sections: [
    ...sectionOf("asked", "Asked", [{ kind: "facts", facts: inputFacts(run, extent) }]),
    ...timelineSection(run, extent),
    ...sectionOf("steps", "Steps", stepBlocks(run.steps, run.run_id, extent)),
    ...listSection("models", "Models", run.models.map(modelItem), { markColumns: 7 }),
    ...listSection("notes", "Durable notes in the prompts", run.notes.map(noteItem(extent)), {
      markColumns: 38,
    }),
    ...sectionOf("calls", "Model calls", callBlocks(run, extent)),
    ...listSection("tools", "Tool calls", run.tool_calls.map(toolCallItem(extent))),
    ...listSection("evidence", "Evidence", run.evidence.map(evidenceItem), {
      ...{ extent, noun: "piece", markColumns: 4 },
    }),
    ...partsSection(run, extent),
    ...checkSections(run, extent),
    ...sectionOf(
      "summary",
      "Summary",
      run.summary === null ? [] : outputBlocks(run.kind, run.summary),
    ),
    ...listSection("citations", "Citations", citationItems(run)),
    ...endSections(run),
  ],
});

/** The answer, or the error. */
export const endSections = ({
  state: outcome,
  answer,
  error_code: name,
  error_message: message,
}: Pick<RunDetail, "state" | "answer" | "error_code" | "error_message">): readonly Section[] => [
  ...sectionOf("answer", "Answer", answer === null ? [] : [{ kind: "quote", text: answer }]),
  ...sectionOf(
    "error",
    outcome === "refused" ? "Refused" : "Error",
    name === null ? [] : [{ kind: "line", text: `${name}: ${message ?? ""}` }],
  ),
];

/** The job, worker, times and versions of a run. */
const headFacts = (run: RunDetail): readonly Fact[] => [
  fact("run", [
    `${run.run_id}  `,
    state(run.state),
    `, attempt ${run.attempt} of ${run.max_attempts}`,
  ]),
  fact("job", [
    `${run.job_id}  ${run.kind} ${JSON.stringify(run.custom_id)}, now `,
    state(run.job_state),
  ]),
  fact("batch", `${run.batch_id}  ${run.batch}`),
  fact("worker", run.worker_id),
  fact("queued", [time(run.job_created_at), `, priority ${run.priority}`]),
  fact("ran", [
    time(run.started_at),
    ...(run.finished_at === null ? [] : [" to ", time(run.finished_at)]),
  ]),
  fact("took", formatTimes(run)),
  fact(
    "tokens",
    `${formatCount(run.prompt_tokens)} of prompts, ${formatCount(run.completion_tokens)} of replies`,
  ),
  fact("made with", `nightdesk ${run.version ?? "(not recorded)"}`),
  fact("config", run.config_sha256 === null ? "(not recorded)" : `sha256 ${run.config_sha256}`),
  ...(run.config_file === null ? [] : [fact("of file", run.config_file)]),
  ...(run.roots === null ? [] : rootFacts(run.roots)),
];

const rootFacts = ({
  workroot,
  allowed,
  sources,
}: NonNullable<RunDetail["roots"]>): readonly Fact[] => [
  fact("work root", `${workroot}; may be read: ${allowed.join(", ")}`),
  fact(
    "sources",
    Object.entries(sources)
      .map(([name, root]) => `${name} ${root}`)
      .join(", "),
  ),
];

function formatTimes(run: RunDetail): string {
  const ran = run.run_ms === null ? "not recorded" : formatDuration(run.run_ms);
  return `${ran}, of it ${formatDuration(run.model_ms)} in the model; due ${formatDuration(run.queued_ms)} before it ran`;
}

/** The input, one fact per key. */
const inputFacts = ({ input }: RunDetail, extent: Extent): readonly Fact[] =>
  Object.entries(input)
    .filter(([name]) => name !== "kind")
    .map(([name, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      return fact(name, extent === "full" ? text : oneLine(text, extent));
    });

/** Each step with its start time. */
function timelineSection({ events }: RunDetail, extent: Extent): readonly Section[] {
  const steps = events.map(({ step, at_ms: atMs, duration_ms: durationMs, detail }) => ({
    ...{ step, atMs, durationMs },
    text: formatDetail(detail),
  }));
  const { items, gap } = fold(steps, extent, "step");
  const block: Block = { kind: "timeline", events: items, gap };
  return sectionOf("timeline", "Timeline", steps.length === 0 ? [] : [block]);
}

/** These have a section of their own. */
const ELSEWHERE = new Set(["model", "why", "prompt_version", "prompt_sha256", "scores"]);

/** Verdicts first; a jsonb column does not keep the order of keys. */
const rankOf = (name: string): number => (["verdict", "pass", "need"].includes(name) ? 0 : 1);

const formatDetail = (detail: Readonly<Record<string, unknown>>): string =>
  Object.entries(detail)
    .filter(([name, value]) => value !== null && !ELSEWHERE.has(name))
    .sort(([one], [other]) => rankOf(one) - rankOf(other))
    .map(([name, value]) => `${name.replaceAll("_", " ")}: ${formatValue(value)}`)
    .join("; ");

function formatValue(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(String).join(", ");
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The model of a pass, why it was chosen, and all that its host reported. */
const modelItem = ({ pass, model, why, facts }: RunDetail["models"][number]): Item => ({
  mark: pass,
  text: `${model}, because of ${why}`,
  lines: [formatModelFacts(facts)],
});

const formatModelFacts = (facts: Readonly<Record<string, unknown>>): string =>
  Object.entries(facts)
    .filter(([, value]) => value !== null)
    .flatMap(([name, value]) =>
      name === "options" && typeof value === "object" && value !== null
        ? Object.entries(value).map(([option, set]) => `${option} ${String(set)}`)
        : [`${name.replaceAll("_", " ")} ${formatValue(value)}`],
    )
    .join(", ");

/** One of the operator's notes in the prompts of pass 2. */
const noteItem =
  (extent: Extent) =>
  ({ memory_id: id, type, content }: RunDetail["notes"][number]): Item => ({
    mark: id,
    text:
      content === null
        ? "deleted since; the prompts above hold its words"
        : `${type ?? ""}: ${oneLine(content, extent)}`,
  });

type Output = Readonly<Record<string, unknown>>;

/** The structured output of a run: fields of an extraction, the sources of a digest, counters as JSON. */
function outputBlocks(kind: string, output: Output): readonly Block[] {
  switch (kind) {
    case "extract":
      return [{ kind: "facts", facts: fieldFacts(output) }];
    case "digest":
      return digestBlocks(output);
    default:
      return [{ kind: "line", text: JSON.stringify(output) }];
  }
}

function digestBlocks({ children, succeeded, levels, failed }: Output): readonly Block[] {
  const left = Array.isArray(failed) ? failed.filter(isRecord) : [];
  const items = left.map(({ path, state: outcome, error_code: code, job_id: jobId }) => ({
    mark: "-",
    text: `${String(path)} ${String(outcome)} ${typeof code === "string" ? code : ""}  job ${String(jobId)}`,
  }));
  return [
    {
      kind: "line",
      text: `${countOf(Number(succeeded), "answer")} of ${countOf(Number(children), "job")}, on ${countOf(Number(levels) + 1, "level")}`,
    },
    ...(items.length === 0 ? [] : [{ kind: "list" as const, items }]),
  ];
}

/** The summaries of parts between the file and the answer, each with its span. */
function partsSection(run: RunDetail, extent: Extent): readonly Section[] {
  const parts = run.summary_parts;
  const levels = new Set(parts.map(({ level }) => level)).size;
  const items = parts.map((part) => ({
    text: `level ${part.level}, ${part.path} lines ${part.line_start}-${part.line_end}, characters ${formatCount(part.start_char)}-${formatCount(part.end_char)}`,
    lines: [oneLine(part.summary, extent)],
  }));
  const title = `Summaries of parts: ${formatCount(parts.length)} in ${countOf(levels, "level")}`;
  return listSection("parts", title, items, { extent, noun: "part" });
}
