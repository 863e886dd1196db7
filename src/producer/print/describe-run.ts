import type { RunDetail } from "../../shared/db/jobs/read-runs.ts";
import { formatCount, formatDuration, formatTime } from "./quantity.ts";

/** A run so that an auditor needs nothing else: what was asked, step by step what was done, what was read and what came of it. */
export const describeRun = (run: RunDetail): readonly string[] => [
  ...describeHead(run),
  ...section("Input", [JSON.stringify(run.input)]),
  ...section("Steps", run.events.map(describeEvent)),
  ...section("Tool calls", run.tool_calls.flatMap(describeCall)),
  ...section("Evidence", run.evidence.map(describeEvidence)),
  ...section("Replies of the model", run.replies.map(describeReply)),
  ...section("Summary", run.summary === null ? [] : [JSON.stringify(run.summary)]),
  ...section(
    "Citations",
    run.citations.map((citation, index) => `[${index + 1}] ${JSON.stringify(citation)}`),
  ),
  ...section("Answer", run.answer === null ? [] : run.answer.split("\n")),
  ...section(run.state === "refused" ? "Refused" : "Error", describeError(run)),
];

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : ["", title, ...lines.map((line) => `  ${line}`)];

function describeHead(run: RunDetail): readonly string[] {
  const finished = run.finished_at === null ? "" : ` to ${formatTime(run.finished_at)}`;
  return [
    `run       ${run.run_id}  ${run.state}, attempt ${run.attempt} of ${run.max_attempts}`,
    `job       ${run.job_id}  ${run.kind} ${JSON.stringify(run.custom_id)}, now ${run.job_state}`,
    `batch     ${run.batch_id}  ${run.batch}`,
    `worker    ${run.worker_id}`,
    `queued    ${formatTime(run.job_created_at)}, priority ${run.priority}`,
    `ran       ${formatTime(run.started_at)}${finished}`,
    `took      ${describeTimes(run)}`,
    `models    first ${run.model_first ?? "-"}, second ${run.model_second ?? "-"}`,
    `tokens    ${formatCount(run.prompt_tokens)} of prompts, ${formatCount(run.completion_tokens)} of replies`,
  ];
}

function describeTimes(run: RunDetail): string {
  const ran = run.run_ms === null ? "still running" : formatDuration(run.run_ms);
  return `${ran}, of it ${formatDuration(run.model_ms)} in the model; due ${formatDuration(run.queued_ms)} before it ran`;
}

function describeEvent({
  step,
  duration_ms: duration,
  detail,
}: RunDetail["events"][number]): string {
  const facts = Object.keys(detail).length === 0 ? "" : `  ${JSON.stringify(detail)}`;
  return `${step.padEnd(16)} ${formatDuration(duration).padStart(9)}${facts}`;
}

function describeCall(call: RunDetail["tool_calls"][number]): readonly string[] {
  const outcome =
    call.error_code === null
      ? JSON.stringify(call.result)
      : `${call.error_code}: ${call.error_message ?? ""}`;
  return [
    `${call.name}(${JSON.stringify(call.args)})  ${formatDuration(call.duration_ms)}`,
    `  ${outcome}`,
    ...(call.trailing_text === null
      ? []
      : [`  text after the call: ${JSON.stringify(call.trailing_text)}`]),
  ];
}

function describeEvidence(piece: RunDetail["evidence"][number]): string {
  const verdict = piece.admitted ? "admitted" : `rejected (${piece.rejected_reason ?? ""})`;
  const heading = piece.heading_path === null ? "" : ` # ${piece.heading_path}`;
  const facts = [
    `lines ${piece.line_start}-${piece.line_end}`,
    `${formatCount(piece.chars_returned)} of ${formatCount(piece.chars_full)} characters`,
    ...(piece.truncated ? ["cut"] : []),
    ...(piece.score === null ? [] : [`score ${piece.score.toPrecision(4)}`]),
    ...(piece.chunk_key === null ? [] : [`chunk ${piece.chunk_key}`]),
    `sha256 ${piece.sha256}`,
  ];
  return `${verdict}  ${piece.kind} ${piece.path}${heading}  ${facts.join(", ")}`;
}

const describeReply = (reply: RunDetail["replies"][number]): string =>
  `${reply.pass.padEnd(6)} ${reply.model}  ${formatCount(Array.from(reply.reply).length)} characters, ` +
  `${formatCount(reply.prompt_tokens)} + ${formatCount(reply.completion_tokens)} tokens, ` +
  `${formatDuration(reply.duration_ms)}, prompt sha256 ${reply.prompt_sha256}`;

const describeError = ({
  error_code: code,
  error_message: message,
}: RunDetail): readonly string[] => (code === null ? [] : [`${code}: ${message ?? ""}`]);
