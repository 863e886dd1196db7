import type { RunDetail } from "../../shared/db/jobs/read-runs.ts";
import { formatCount, formatDuration, formatTime } from "./quantity.ts";
import { line, styledState } from "../../shared/styled-text.ts";
import type { Line } from "../../shared/styled-text.ts";
import { fold, oneLine } from "./run-text.ts";
import type { Extent } from "./run-text.ts";

/** Who ran when, for which job, and made with what. */
export function describeHead(run: RunDetail, zone: string | null): readonly Line[] {
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
export const describeInput = ({ input }: RunDetail, extent: Extent): readonly string[] =>
  Object.entries(input)
    .filter(([name]) => name !== "kind")
    .map(([name, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      return `${name}: ${extent === "all" ? text : oneLine(text, extent)}`;
    });

/** Each step with the time at which it began. */
export function describeTimeline({ events }: RunDetail, extent: Extent): readonly string[] {
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
export const describeModels = ({ models }: RunDetail): readonly string[] =>
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
export const describeNotes = ({ notes }: RunDetail, extent: Extent): readonly string[] =>
  notes.map(({ memory_id: id, type, content }) =>
    content === null
      ? `${id}  deleted since; the prompts above hold its words`
      : `${id}  ${type ?? ""}: ${oneLine(content, extent)}`,
  );
