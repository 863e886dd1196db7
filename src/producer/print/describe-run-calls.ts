import type { RunDetail } from "../../shared/db/jobs/read-runs.ts";
import { formatCount, formatDuration } from "./quantity.ts";
import { fold, oneLine } from "./run-text.ts";
import type { Extent } from "./run-text.ts";

type Call = RunDetail["calls"][number];
type Reference = Call["prompt"]["evidence"][number];

/** Each call of a model: who, what the prompt was made of, and what came back. */
export function describeCalls(run: RunDetail, extent: Extent): readonly string[] {
  const of = (wanted: Call["origin"]) => run.calls.filter(({ origin }) => origin === wanted).length;
  const taken = [
    ...(of("reused") === 0 ? [] : [`${of("reused")} of them reused from an earlier attempt`]),
    ...(of("cached") === 0 ? [] : [`${of("cached")} of them taken over from other jobs`]),
  ];
  const blocks = run.calls.map((call, index) => describeCall(run, call, index, extent));
  return [
    ...(taken.length === 0 ? [] : [`${run.calls.length} calls, ${taken.join(", ")}`]),
    ...fold(blocks, extent, "call"),
  ];
}

function describeCall(
  run: RunDetail,
  call: Call,
  index: number,
  extent: Extent,
): readonly string[] {
  const { prompt } = call;
  const lines = [
    `prompt   ${call.prompt_template}, sha256 ${call.prompt_sha256}`,
    ...describeValues(run, call, extent),
    ...(prompt.evidence.length === 0
      ? []
      : [`shows    ${describeReferences(run, prompt.evidence)}`]),
    ...(prompt.violations.length === 0
      ? []
      : [`corrects ${prompt.violations.join(", ")} of the reply before`]),
    `request  sha256 ${call.request_sha256}`,
    ...describeReply(call, extent),
  ];
  return [`${String(index + 1).padStart(3)} ${describeAsked(run, call)}`, ...lines.map(indented)];
}

const indented = (line: string): string => `      ${line}`;

function describeAsked(run: RunDetail, call: Call): string {
  const tokens = `${formatCount(call.prompt_tokens)} + ${formatCount(call.completion_tokens)} tokens`;
  const load = call.load_ms < 1 ? "" : `, ${formatDuration(call.load_ms)} of it loading`;
  return `${call.pass.padEnd(6)} ${call.model}, ${formatDuration(call.duration_ms)}${load}, ${tokens}${describeOrigin(run, call)}`;
}

function describeOrigin(run: RunDetail, call: Call): string {
  switch (call.origin) {
    case "asked":
      return call.run_id === run.run_id ? "" : `, by run ${call.run_id}`;
    case "reused":
      return `, reused: run ${call.run_id} asked it at ${call.created_at}`;
    case "cached":
      return `, cached: run ${String(call.cached_from)} of another job asked it`;
  }
}

/** What filled the template beside the evidence; the question only where it is not as it was asked. */
function describeValues(run: RunDetail, { prompt }: Call, extent: Extent): readonly string[] {
  const values = Object.entries(prompt.values).filter(
    ([name, value]) => value !== "" && !(name === "question" && value === run.input["question"]),
  );
  return values.map(([name, value]) => `${name.padEnd(8)} ${oneLine(value, extent)}`);
}

function describeReply(call: Call, extent: Extent): readonly string[] {
  if (call.reply === null)
    return [`refused  ${call.error_code ?? ""}: ${call.error_message ?? ""}`];
  const ended = call.done_reason === "stop" ? "" : ` (cut by its ${String(call.done_reason)})`;
  const tools = call.tool_calls.map((tool) => `calls    ${JSON.stringify(tool)}`);
  return [
    ...(call.reply === "" && tools.length > 0
      ? []
      : [`reply    ${oneLine(call.reply, extent)}${ended}`]),
    ...tools,
  ];
}

/** Numbered as in the prompt, with the rows of the section Evidence that hold them. */
function describeReferences(run: RunDetail, references: readonly Reference[]): string {
  const shown = references.map((reference) => describeReference(run, reference));
  const [first, last] = [references[0], references.at(-1)];
  const whole = shown.every(
    ({ row, span }, index) => span === "" && row === (shown[0]?.row ?? 0) + index,
  );
  if (whole && first !== undefined && last !== undefined && references.length > 2) {
    return `[${first.number}]-[${last.number}] = E${shown[0]?.row ?? 0}-E${shown.at(-1)?.row ?? 0}`;
  }
  return references
    .map(({ number }, index) => {
      const { row, name, span } = shown[index] ?? { row: 0, name: "", span: "" };
      return `[${number}] = ${row === 0 ? name : `E${row}`}${span}`;
    })
    .join("; ");
}

type Shown = { readonly row: number; readonly name: string; readonly span: string };

function describeReference(run: RunDetail, reference: Reference): Shown {
  const { path, sha256, chunkKey, startChar, endChar, summaryLevel } = reference;
  const row = run.evidence.findIndex(
    (piece) => piece.path === path && piece.sha256 === sha256 && piece.chunk_key === chunkKey,
  );
  const piece = run.evidence[row];
  const isWhole =
    summaryLevel === null && piece?.start_char === startChar && piece.end_char === endChar;
  const characters = `characters ${formatCount(startChar)}-${formatCount(endChar)}`;
  const span = summaryLevel === null ? `, ${characters}` : `, summary of ${characters}`;
  return { row: row + 1, name: `${path}, sha256 ${sha256}`, span: isWhole ? "" : span };
}
