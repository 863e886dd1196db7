import type { RunDetail } from "../../shared/store/jobs/read-runs.ts";
import type { EvidenceSpan } from "../../shared/run-result.ts";
import type { Repetition } from "./replay-run.ts";
import { sameJson } from "./same-json.ts";

/** One thing that a run left behind, then and in its repetition. */
export type Difference = { readonly what: string; readonly then: unknown; readonly now: unknown };

/** What of the run came out otherwise in its repetition; nothing where it is the same to the letter. */
export function compareRun(run: RunDetail, { end, record }: Repetition): readonly Difference[] {
  const result = end.kind === "stopped" ? [] : resultPairs(run, end);
  const pairs: readonly Difference[] = [
    ...result,
    {
      what: "tool calls",
      then: run.tool_calls.map(storedCall),
      now: record.toolCalls.map(madeCall),
    },
    { what: "evidence", then: run.evidence.map(storedPiece), now: record.evidence.map(madePiece) },
    { what: "quotes", then: run.quotes.map(storedQuote), now: record.checks.quotes.map(madeQuote) },
    {
      what: "figures",
      then: run.figures.map(storedFigure),
      now: record.checks.figures.map(madeFigure),
    },
    {
      what: "support",
      then: run.support.map((row) => [row.sentence, row.score, ...storedSpan(row)]),
      now: record.checks.sentences.map((made) => [
        made.sentence,
        made.score,
        ...madeSpan(made.span),
      ]),
    },
    {
      what: "parts",
      then: run.summary_parts.map((row) => [row.level, row.start_char, row.end_char, row.summary]),
      now: record.parts.map((made) => [made.level, made.startChar, made.endChar, made.summary]),
    },
  ];
  return pairs.filter(({ then, now }) => !sameJson(then, now));
}

/** State, code, answer, scope, citations, and the fields or the counts of a digest. */
function resultPairs(
  run: RunDetail,
  end: Exclude<Repetition["end"], { kind: "stopped" }>,
): readonly Difference[] {
  const state = end.kind === "broke" ? "failed" : end.outcome.kind;
  const code = end.kind === "broke" ? end.code : "code" in end.outcome ? end.outcome.code : null;
  const answer = end.kind === "ended" && end.outcome.kind === "succeeded" ? end.outcome : null;
  return [
    { what: "state", then: run.state, now: state },
    { what: "code", then: run.error_code, now: code },
    { what: "answer", then: run.answer, now: answer?.answer ?? null },
    { what: "scope", then: run.scope, now: answer?.scope ?? null },
    { what: "citations", then: run.citations, now: answer?.citations ?? [] },
    { what: "summary", then: run.summary, now: answer?.summary ?? null },
  ];
}

type Made = Repetition["record"];

const storedCall = (row: RunDetail["tool_calls"][number]) => [row.name, row.error_code, row.result];
const madeCall = (made: Made["toolCalls"][number]) => [made.name, made.errorCode, made.result];

const storedPiece = (row: RunDetail["evidence"][number]) => [
  row.kind,
  row.path,
  row.sha256,
  row.start_char,
  row.end_char,
  row.rejected_reason,
];
const madePiece = (made: Made["evidence"][number]) => [
  made.kind,
  made.path,
  made.sha256,
  made.startChar,
  made.endChar,
  made.rejectedReason,
];

const storedQuote = (row: RunDetail["quotes"][number]) => [
  row.quote,
  row.class,
  ...storedSpan(row),
];
const madeQuote = (made: Made["checks"]["quotes"][number]) => [
  made.quote,
  made.class,
  ...madeSpan(made.span),
];

const storedFigure = (row: RunDetail["figures"][number]) => [
  row.kind,
  row.figure,
  row.stands_in,
  row.flagged,
  ...storedSpan(row),
];
const madeFigure = (made: Made["checks"]["figures"][number]) => [
  made.kind,
  made.text,
  made.standsIn,
  made.flagged,
  ...madeSpan(made.span),
];

type StoredSpan = Pick<RunDetail["support"][number], "number" | "path" | "start_char" | "end_char">;

const storedSpan = ({ number, path, start_char: start, end_char: end }: StoredSpan) => [
  number,
  path,
  start,
  end,
];
const madeSpan = (span: EvidenceSpan | null) => [
  span?.number ?? null,
  span?.path ?? null,
  span?.startChar ?? null,
  span?.endChar ?? null,
];
