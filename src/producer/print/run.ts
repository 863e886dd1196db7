import type { RunDetail } from "../../shared/views/runs.ts";
import { isRecord } from "../../shared/json-value.ts";
import { line, styledState } from "../../shared/styled-text.ts";
import type { Line } from "../../shared/styled-text.ts";
import { fold, oneLine, section } from "./layout.ts";
import type { Extent } from "./layout.ts";
import { countOf, formatCount, formatDuration, formatTime } from "../../shared/views/quantity.ts";
import {
  describeCalls,
  describeCitations,
  describeEvidence,
  describeToolCalls,
  spanPlace,
} from "./run-evidence.ts";

/** A run so that an auditor needs nothing else: what was asked, step by step what was done, what was read and what came of it. */
export const describeRun = (
  run: RunDetail,
  extent: Extent,
  zone: string | null,
): readonly Line[] => [
  ...describeHead(run, zone),
  ...section("Asked", describeInput(run, extent)),
  ...section("Timeline", describeTimeline(run, extent)),
  ...section("Models", describeModels(run)),
  ...section("Durable notes in the prompts", describeNotes(run, extent)),
  ...section("Model calls", describeCalls(run, extent)),
  ...section("Tool calls", describeToolCalls(run, extent)),
  ...section("Evidence", describeEvidence(run, extent)),
  ...describeParts(run, extent),
  ...describeChecks(run, extent),
  ...section("Summary", run.summary === null ? [] : describeOutput(run.kind, run.summary)),
  ...section("Citations", describeCitations(run)),
  ...section("Answer", run.answer === null ? [] : run.answer.split(/\r?\n/)),
  ...section(run.state === "refused" ? "Refused" : "Error", describeError(run)),
];

const describeError = ({
  error_code: code,
  error_message: message,
}: RunDetail): readonly string[] => (code === null ? [] : [`${code}: ${message ?? ""}`]);

/** Who ran when, for which job, and made with what. */
function describeHead(run: RunDetail, zone: string | null): readonly Line[] {
  const finished = run.finished_at === null ? "" : ` to ${formatTime(run.finished_at, zone)}`;
  return [
    line`run       ${run.run_id}  ${styledState(run.state)}, attempt ${String(run.attempt)} of ${String(run.max_attempts)}`,
    line`job       ${run.job_id}  ${run.kind} ${JSON.stringify(run.custom_id)}, now ${styledState(run.job_state)}`,
    `batch     ${run.batch_id}  ${run.batch}`,
    `worker    ${run.worker_id}`,
    `queued    ${formatTime(run.job_created_at, zone)}, priority ${run.priority}`,
    `ran       ${formatTime(run.started_at, zone)}${finished}`,
    `took      ${describeTimes(run)}`,
    `tokens    ${formatCount(run.prompt_tokens)} of prompts, ${formatCount(run.completion_tokens)} of replies`,
    `made with nightdesk ${run.version ?? "(not recorded)"}`,
    `config    ${run.config_sha256 === null ? "(not recorded)" : `sha256 ${run.config_sha256}`}`,
    ...(run.config_file === null ? [] : [`of file   ${run.config_file}`]),
    ...(run.roots === null ? [] : describeRoots(run.roots)),
  ];
}

const describeRoots = ({
  workroot,
  allowed,
  sources,
}: NonNullable<RunDetail["roots"]>): readonly string[] => [
  `work root ${workroot}; may be read: ${allowed.join(", ")}`,
  `sources   ${Object.entries(sources)
    .map(([name, root]) => `${name} ${root}`)
    .join(", ")}`,
];

function describeTimes(run: RunDetail): string {
  const ran = run.run_ms === null ? "not recorded" : formatDuration(run.run_ms);
  return `${ran}, of it ${formatDuration(run.model_ms)} in the model; due ${formatDuration(run.queued_ms)} before it ran`;
}

/** What was asked for, a line a key. */
const describeInput = ({ input }: RunDetail, extent: Extent): readonly string[] =>
  Object.entries(input)
    .filter(([name]) => name !== "kind")
    .map(([name, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      return `${name}: ${extent === "all" ? text : oneLine(text, extent)}`;
    });

/** Each step with the time at which it began. */
function describeTimeline({ events }: RunDetail, extent: Extent): readonly string[] {
  const lines = events.map(({ step, at_ms: at, duration_ms: duration, detail }) => {
    const offset = `+${formatDuration(at)}`.padStart(9);
    const facts = describeFacts(detail);
    return [
      `${offset}  ${step.padEnd(12)} ${formatDuration(duration).padStart(8)}  ${facts}`.trimEnd(),
    ];
  });
  return fold(lines, extent, "step");
}

/** These stand in a section of their own. */
const ELSEWHERE = new Set(["model", "why", "prompt_version", "prompt_sha256", "scores"]);

/** Verdicts first; a database keeps the rest in an order of its own. */
const rankOf = (name: string): number => (["verdict", "pass", "need"].includes(name) ? 0 : 1);

const describeFacts = (detail: Readonly<Record<string, unknown>>): string =>
  Object.entries(detail)
    .filter(([name, value]) => value !== null && !ELSEWHERE.has(name))
    .sort(([one], [other]) => rankOf(one) - rankOf(other))
    .map(([name, value]) => `${name.replaceAll("_", " ")}: ${describeValue(value)}`)
    .join("; ");

function describeValue(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(String).join(", ");
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Who took each pass and why, and all that its host said of it. */
const describeModels = ({ models }: RunDetail): readonly string[] =>
  models.flatMap(({ pass, model, why, facts }) => [
    `${pass.padEnd(6)} ${model}, because of ${why}`,
    `       ${describeModelFacts(facts)}`,
  ]);

const describeModelFacts = (facts: Readonly<Record<string, unknown>>): string =>
  Object.entries(facts)
    .filter(([, value]) => value !== null)
    .flatMap(([name, value]) =>
      name === "options" && typeof value === "object" && value !== null
        ? Object.entries(value).map(([option, set]) => `${option} ${String(set)}`)
        : [`${name.replaceAll("_", " ")} ${describeValue(value)}`],
    )
    .join(", ");

/** The operator's notes in the prompts of pass 2. */
const describeNotes = ({ notes }: RunDetail, extent: Extent): readonly string[] =>
  notes.map(({ memory_id: id, type, content }) =>
    content === null
      ? `${id}  deleted since; the prompts above hold its words`
      : `${id}  ${type ?? ""}: ${oneLine(content, extent)}`,
  );

type Output = Readonly<Record<string, unknown>>;

/**
 * What a run gave beside its answer: the fields of an extraction one a line, items of a list below each other; of a digest
 * what it is of; counters as they are.
 */
function describeOutput(kind: string, output: Output): readonly string[] {
  switch (kind) {
    case "extract":
      return Object.entries(output).flatMap(([name, value]) => describeField(name, value));
    case "digest":
      return describeDigest(output);
    default:
      return [JSON.stringify(output)];
  }
}

const describeField = (name: string, value: unknown): readonly string[] =>
  Array.isArray(value)
    ? [`${name}: ${value.length}`, ...value.map((item) => `- ${JSON.stringify(item)}`)]
    : [`${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`];

function describeDigest({ children, succeeded, levels, failed }: Output): readonly string[] {
  const left = Array.isArray(failed) ? failed.filter(isRecord) : [];
  return [
    `${String(succeeded)} answers of ${String(children)} jobs, on ${Number(levels) === 0 ? "1 level" : `${Number(levels) + 1} levels`}`,
    ...left.map(
      ({ path, state, error_code: code, job_id: jobId }) =>
        `- ${String(path)} ${String(state)} ${typeof code === "string" ? code : ""}  job ${String(jobId)}`,
    ),
  ];
}

/** What the words of the answer were found to be: quotes, figures, and the evidence behind each sentence. */
const describeChecks = (run: RunDetail, extent: Extent): readonly string[] => [
  ...section("Quotes", fold(run.quotes.map(describeQuote), extent, "quote")),
  ...section("Figures, links and paths", fold(run.figures.map(describeFigure), extent, "figure")),
  ...section(supportTitle(run), fold(run.support.map(describeSupport(extent)), extent, "sentence")),
];

const describeQuote = (row: RunDetail["quotes"][number]): readonly string[] => [
  `${row.class.padEnd(13)} "${oneLine(row.quote, "brief")}"  ${spanPlace(row)}`,
];

const describeFigure = (row: RunDetail["figures"][number]): readonly string[] => [
  (row.flagged ? "FLAGGED" : "ok").padEnd(8) +
    `${row.kind} ${oneLine(row.figure, "brief")}, stands in ${standsIn(row)}`,
];

const standsIn = (row: RunDetail["figures"][number]): string =>
  row.path === null ? row.stands_in : `${row.stands_in}: ${spanPlace(row)}`;

function supportTitle({ support }: RunDetail): string {
  const weakest = Math.min(...support.map(({ score }) => score));
  return `Support, sentence by sentence (0 to 1; the weakest has ${formatScore(weakest)})`;
}

const describeSupport =
  (extent: Extent) =>
  (row: RunDetail["support"][number]): readonly string[] => [
    `${formatScore(row.score)}  ${oneLine(row.sentence, extent)}  ← ${spanPlace(row)}`,
  ];

const formatScore = (score: number): string => score.toFixed(2);

/** The summaries that stand between the file and the answer, each with the span that it covers. */
function describeParts(run: RunDetail, extent: Extent): readonly string[] {
  const parts = run.summary_parts;
  const levels = new Set(parts.map(({ level }) => level)).size;
  const lines = parts.map((part) => [
    `level ${part.level}, lines ${part.line_start}-${part.line_end}, characters ${formatCount(part.start_char)}-${formatCount(part.end_char)}`,
    `  ${oneLine(part.summary, extent)}`,
  ]);
  const title = `Summaries of parts: ${formatCount(parts.length)} in ${countOf(levels, "level")}`;
  return section(title, fold(lines, extent, "part"));
}
