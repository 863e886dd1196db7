import type { EvidenceSpan, RunResult } from "../../run-result.ts";
import { callRowOf } from "./model-calls.ts";

type RunRecord = Omit<RunResult, "outcome">;

/**
 * What a run leaves behind as rows, a list for each table: evidence, tool_calls, run_calls, run_events, quotes, figures,
 * support, summary_parts, model_calls (those that were not committed when they returned).
 */
export const childRows = (record: RunRecord): readonly (readonly object[])[] => [
  record.evidence.map(evidenceRow),
  record.toolCalls.map(toolCallRow),
  record.replies.map(callRow),
  record.events.map(eventRow),
  record.checks.quotes.map(quoteRow),
  record.checks.figures.map(figureRow),
  record.checks.sentences.map(sentenceRow),
  record.parts.map(partRow),
  unkeptCalls(record),
];

const evidenceRow = (piece: RunRecord["evidence"][number], ordinal: number) => ({
  ordinal,
  kind: piece.kind,
  admitted: piece.admitted,
  rejected_reason: piece.rejectedReason,
  path: piece.path,
  source: piece.source,
  sha256: piece.sha256,
  chars_full: piece.charsFull,
  chars_returned: piece.charsReturned,
  truncated: piece.truncated,
  chunk_key: piece.chunkKey,
  heading_path: piece.headingPath,
  start_char: piece.startChar,
  end_char: piece.endChar,
  line_start: piece.lineStart,
  line_end: piece.lineEnd,
  score: piece.score,
  preview: piece.preview,
});

const toolCallRow = (call: RunRecord["toolCalls"][number], ordinal: number) => ({
  ordinal,
  name: call.name,
  args: call.args,
  error_code: call.errorCode,
  error_message: call.errorMessage,
  result: call.result,
  trailing_text: call.trailingText,
  duration_ms: call.durationMs,
});

const callRow = (
  { pass, requestSha256, origin }: RunRecord["replies"][number],
  ordinal: number,
) => ({ ordinal, pass, request_sha256: requestSha256, origin });

/** Calls that were not committed when they returned, each request once. */
const unkeptCalls = ({ replies }: RunRecord) =>
  [
    ...new Map(
      replies
        .filter(({ kept, origin }) => kept === "with_run" && origin === "asked")
        .map((reply) => [reply.requestSha256, reply]),
    ).values(),
  ].map((reply) =>
    callRowOf({
      ...reply,
      modelDigest: null,
      reply: { ...reply, toolCalls: [], doneReason: "stop", loadMs: 0 },
      refusal: null,
    }),
  );

const eventRow = (
  { step, atMs, durationMs, detail }: RunRecord["events"][number],
  ordinal: number,
) => ({ ordinal, step, at_ms: atMs, duration_ms: durationMs, detail });

const spanColumns = (span: EvidenceSpan | null) => ({
  number: span?.number ?? null,
  path: span?.path ?? null,
  start_char: span?.startChar ?? null,
  end_char: span?.endChar ?? null,
  line_start: span?.lineStart ?? null,
  line_end: span?.lineEnd ?? null,
});

const quoteRow = (found: RunRecord["checks"]["quotes"][number], ordinal: number) => ({
  ordinal,
  quote: found.quote,
  class: found.class,
  ...spanColumns(found.span),
});

const figureRow = (found: RunRecord["checks"]["figures"][number], ordinal: number) => ({
  ordinal,
  kind: found.kind,
  figure: found.text,
  stands_in: found.standsIn,
  flagged: found.flagged,
  ...spanColumns(found.span),
});

const sentenceRow = (found: RunRecord["checks"]["sentences"][number], ordinal: number) => ({
  ordinal,
  sentence: found.sentence,
  score: found.score,
  ...spanColumns(found.span),
});

const partRow = (part: RunRecord["parts"][number]) => ({
  level: part.level,
  ordinal: part.ordinal,
  start_char: part.startChar,
  end_char: part.endChar,
  line_start: part.lineStart,
  line_end: part.lineEnd,
  summary: part.summary,
});
