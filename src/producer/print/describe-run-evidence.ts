import type { RunDetail } from "../../shared/db/jobs/read-runs.ts";
import { formatCount, formatDuration } from "./quantity.ts";
import { placeOf } from "./run-place.ts";
import { fold, oneLine } from "./run-text.ts";
import type { Extent } from "./run-text.ts";

/** What was read, admitted or not, each with what proves where it is from. */
export const describeEvidence = (run: RunDetail, extent: Extent): readonly string[] =>
  fold(run.evidence.map(describePiece), extent, "piece");

function describePiece(piece: RunDetail["evidence"][number], index: number): readonly string[] {
  const verdict = piece.admitted ? "admitted" : `rejected (${piece.rejected_reason ?? ""})`;
  const place = placeOf(piece.path, piece.heading_path, piece);
  const facts = [
    `characters ${formatCount(piece.start_char)}-${formatCount(piece.end_char)} of ${formatCount(piece.chars_full)}`,
    ...(piece.kind === "file" && piece.truncated ? ["cut"] : []),
    ...(piece.score === null ? [] : [`score ${piece.score.toPrecision(4)}`]),
    ...(piece.chunk_key === null
      ? []
      : [`chunk ${piece.chunk_key} of source ${piece.source ?? ""}`]),
  ];
  return [
    `${`E${index + 1}`.padEnd(3)} ${verdict}  ${piece.kind === "file" ? "file" : "passage"} ${place}`,
    `    ${facts.join(", ")}`,
    `    sha256 ${piece.sha256}`,
  ];
}

/** The tool trace: what the model asked for, and what became of it. */
export const describeToolCalls = (run: RunDetail, extent: Extent): readonly string[] =>
  run.tool_calls.flatMap((call) => [
    `${call.name}(${JSON.stringify(call.args)})  ${formatDuration(call.duration_ms)}`,
    `  ${describeOutcome(call)}`,
    ...(call.trailing_text === null
      ? []
      : [`  text after the call: ${oneLine(JSON.stringify(call.trailing_text), extent)}`]),
  ]);

const describeOutcome = (call: RunDetail["tool_calls"][number]): string =>
  call.error_code === null
    ? JSON.stringify(call.result)
    : `${call.error_code}: ${call.error_message ?? ""}`;

/** What the numbers of the answer stand for: `[2] notes/brakes.md#Bleeding:10-14`. */
export const describeCitations = (run: RunDetail): readonly string[] =>
  run.citations.map((citation) => {
    const { path, heading, lineStart, lineEnd, quote, jobId } = citation;
    // What a digest cites is the answer of a job, and its lines are of no file.
    if (typeof jobId === "string")
      return `${citationNumber(run, citation)} ${String(path)}  job ${jobId}`;
    const place = placeOf(String(path), typeof heading === "string" ? heading : null, {
      line_start: typeof lineStart === "number" ? lineStart : null,
      line_end: typeof lineEnd === "number" ? lineEnd : null,
    });
    const quoted = typeof quote === "string" ? `  "${oneLine(quote, "brief")}"` : "";
    return `${citationNumber(run, citation)} ${place}${quoted}`;
  });

/** Its number in the last prompt; a dash where several pieces are of the same file. */
function citationNumber(
  { calls }: RunDetail,
  { number, path, chunkKey }: Readonly<Record<string, unknown>>,
): string {
  if (typeof number === "number") return `[${number}]`;
  const shown = calls.at(-1)?.prompt.evidence ?? [];
  const cited = shown.filter(
    (piece) => piece.path === path && piece.chunkKey === (chunkKey ?? null),
  );
  const [only] = cited;
  return only !== undefined && cited.length === 1 ? `[${only.number}]` : "-";
}
