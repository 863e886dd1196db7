import { isDeepStrictEqual } from "node:util";
import type { Database } from "../../shared/store/connection/database.ts";
import { compareBatches } from "../../shared/views/compare-batches.ts";
import type { ChangeRow, EarlierBatch } from "../../shared/views/compare-batches.ts";
import { selectHolds } from "../../shared/store/jobs/holds.ts";
import type { PastHold } from "../../shared/store/jobs/holds.ts";
import type { BatchProgress } from "../../shared/views/batches.ts";
import {
  selectAnswers,
  selectBatchTimes,
  selectCosts,
  selectKinds,
  selectSlowest,
  selectFailureGroups,
} from "../../shared/views/report-rows.ts";
import type {
  AnswerRow,
  BatchTimes,
  CostRow,
  KindRow,
  SlowRow,
  FailureGroupRow,
} from "../../shared/views/report-rows.ts";
import type { LineRange } from "../export/markdown.ts";
import { CAUSES, describeCause, heldMs } from "../print/batch.ts";
import { formatDuration, formatTime } from "../../shared/views/quantity.ts";
import { isCopy } from "../print/result.ts";

/** How much of a batch a report shows; it says how much more there is, and how to see it. */
const SHOWN = {
  /** Answers, each up to so many characters and pieces of evidence. */
  answers: { jobs: 200, chars: 6_000, pieces: 8 },
  /** Jobs of each code that did not succeed. */
  failureGroups: 10,
  slowest: 10,
  /** Spans in which it was held, the longest. */
  holds: 20,
  /** Jobs of each kind of change. */
  changes: 25,
} as const;

/** What a batch came to, in as much memory for a million jobs as for a thousand. */
export type Report = {
  readonly batch: BatchProgress;
  readonly times: BatchTimes;
  readonly holds: readonly PastHold[];
  readonly kinds: readonly KindRow[];
  readonly costs: readonly CostRow[];
  readonly failureGroups: readonly FailureGroupRow[];
  readonly answers: readonly AnswerRow[];
  readonly slowest: readonly SlowRow[];
  /** Beside the earlier batch; undefined where there is none to compare with. */
  readonly changes:
    { readonly since: EarlierBatch; readonly rows: readonly ChangeRow[] } | undefined;
  readonly madeAt: Date;
  /** Of Nightdesk. */
  readonly version: string;
};

export async function gatherReport(
  database: Database,
  batch: BatchProgress,
  {
    earlier,
    madeAt,
    version,
  }: {
    readonly earlier: EarlierBatch | undefined;
    readonly madeAt: Date;
    readonly version: string;
  },
): Promise<Report> {
  const { batchId } = batch;
  return {
    batch,
    times: await selectBatchTimes(database, batchId),
    holds: await selectHolds(database, batchId),
    kinds: await selectKinds(database, batchId),
    costs: await selectCosts(database, batchId),
    failureGroups: await selectFailureGroups(database, batchId, SHOWN.failureGroups),
    answers: await selectAnswers(database, batchId, SHOWN.answers),
    slowest: await selectSlowest(database, batchId, SHOWN.slowest),
    changes: earlier && {
      since: earlier,
      rows: await compareBatches(
        database,
        { now: batchId, before: earlier.batch_id },
        SHOWN.changes,
      ),
    },
    madeAt,
    version,
  };
}

/** An answer as a report lists it, with the same answers of copies of its document. */
export type ListedAnswer = { readonly answer: AnswerRow; readonly copies: readonly AnswerRow[] };

/** Copies of a document that came to the same are listed once, where the first of them stands. */
export function foldCopies(answers: readonly AnswerRow[]): readonly ListedAnswer[] {
  const listed: { readonly answer: AnswerRow; readonly copies: AnswerRow[] }[] = [];
  for (const answer of answers) {
    const first = listed.find((earlier) => isSameOfCopy(earlier.answer, answer));
    if (first === undefined) listed.push({ answer, copies: [] });
    else first.copies.push(answer);
  }
  return listed;
}

/** The same asked of a copy, with the same result. A question has no document, and is never folded. */
const isSameOfCopy = (one: AnswerRow, other: AnswerRow): boolean =>
  typeof one.input["path"] === "string" &&
  one.evidence.length > 0 &&
  one.evidence.length === other.evidence.length &&
  one.evidence.every((piece, at) => isCopy(piece, other.evidence[at] ?? piece)) &&
  isDeepStrictEqual(resultOf(one), resultOf(other));

const resultOf = ({ kind, input, answer, scope, output, pieces, is_cut }: AnswerRow) => ({
  ...{ kind, answer, scope, output, pieces, is_cut },
  input: { ...input, path: null },
});

/** A piece of evidence with the number that the answer cites it by; null for one that it does not cite by number. */
type ShownEvidence = LineRange & { readonly number: number | null; readonly sha256: string };

/**
 * What an answer rests on: what it cites, in the order of the numbers, or all that was read where it cites nothing.
 * `more` counts pieces that were read and are not shown.
 */
export function citedEvidence({ citations, evidence, pieces }: AnswerRow): {
  readonly shown: readonly ShownEvidence[];
  readonly more: number;
} {
  const cited = new Map<string, ShownEvidence>();
  const found = new Set<AnswerRow["evidence"][number]>();
  for (const { path, chunkKey, lineStart, lineEnd, number } of citations) {
    const piece = evidence.find(
      (candidate) => candidate.path === path && candidate.chunk_key === (chunkKey ?? null),
    );
    if (piece === undefined) continue;
    found.add(piece);
    const place = {
      path,
      line_start: lineStart ?? piece.line_start,
      line_end: lineEnd ?? piece.line_end,
    };
    const shown = { ...place, number: number ?? null, sha256: piece.sha256 };
    cited.set(`${number ?? ""} ${path} ${place.line_start}`, shown);
  }
  if (cited.size > 0) {
    const shown = [...cited.values()].sort((a, b) => (a.number ?? 0) - (b.number ?? 0));
    return { shown, more: pieces - found.size };
  }
  const shown = evidence.map((piece) => ({ ...piece, number: null }));
  return { shown, more: pieces - shown.length };
}

/** A job whose answer a digest cites. */
type CitedChild = {
  readonly number: number | null;
  readonly path: string;
  readonly jobId: string;
};

/** The jobs that a digest cites, in the order of the numbers; none of another kind's answer. */
export const citedChildren = (citations: AnswerRow["citations"]): readonly CitedChild[] =>
  citations
    .flatMap(({ number, path, jobId }) =>
      typeof jobId === "string" ? [{ number: number ?? null, path, jobId }] : [],
    )
    .sort((a, b) => (a.number ?? 0) - (b.number ?? 0));

export const HOLD_TITLES = ["From", "To", "Held", "Why"] as const;
export type HoldRow = readonly [from: string, to: string, held: string, why: string];

/** When and why the batch stood still, in texts that both forms of a report show. */
type ShownHolds = {
  /** `Held for 2 h 15 min in all: host down 1 h 30 min, no room in the budget 45 min 0 s.` */
  readonly sentence: string;
  /** The longest spans in order of time. */
  readonly rows: readonly HoldRow[];
  readonly leftOut: number;
};

export function holdsOf({ holds, times }: Report): ShownHolds {
  const longest = new Set(holds.toSorted((a, b) => b.held_ms - a.held_ms).slice(0, SHOWN.holds));
  const { started_at: began } = times;
  const before = began === null ? 0 : heldMsBetween(holds, new Date(0), began);
  const wait =
    before === 0 ? "" : ` Of that, ${formatDuration(before)} passed before its first job began.`;
  return {
    sentence: `It was held for ${formatDuration(heldMs(holds))} in all: ${describeReasons(holds)}. No job of it began in that time; what ran went on.${wait}`,
    rows: holds.filter((hold) => longest.has(hold)).map(cellsOf),
    leftOut: holds.length - longest.size,
  };
}

const cellsOf = (hold: PastHold): HoldRow => [
  formatTime(hold.began_at),
  hold.ended_at === null ? "still held" : formatTime(hold.ended_at),
  formatDuration(hold.held_ms),
  describeCause(hold),
];

/** Time by reason, most first. */
function describeReasons(holds: readonly PastHold[]): string {
  const reasons = [...new Set(holds.map(({ reason }) => reason))].map((reason) => ({
    reason,
    ms: heldMs(holds.filter((hold) => hold.reason === reason)),
  }));
  return reasons
    .sort((a, b) => b.ms - a.ms)
    .map(({ reason, ms }) => `${CAUSES[reason]} ${formatDuration(ms)}`)
    .join(", ");
}

/**
 * Milliseconds for which a batch was held between two times. Of a span that came again and reaches over one of them, no
 * more is counted than lies between them.
 */
export const heldMsBetween = (holds: readonly PastHold[], from: Date, to: Date): number =>
  holds.reduce((total, { began_at: began, ended_at: ended, held_ms: held }) => {
    const start = Math.max(began.getTime(), from.getTime());
    const end = Math.min(ended?.getTime() ?? Infinity, to.getTime());
    return total + Math.min(held, Math.max(0, end - start));
  }, 0);

/** Refusals are results; all else that did not succeed is a fault, was cut short, or waits. */
export const troublesOf = ({
  failureGroups,
}: Report): {
  readonly refusals: readonly FailureGroupRow[];
  readonly failures: readonly FailureGroupRow[];
} => ({
  refusals: failureGroups.filter(({ state }) => state === "refused"),
  failures: failureGroups.filter(({ state }) => state !== "refused"),
});
