import type { Database } from "../../shared/db/database.ts";
import { compareBatches } from "../../shared/db/jobs/compare-batches.ts";
import type { ChangeRow, EarlierBatch } from "../../shared/db/jobs/compare-batches.ts";
import { selectHolds } from "../../shared/db/jobs/hold-history.ts";
import type { PastHold } from "../../shared/db/jobs/hold-history.ts";
import type { BatchProgress } from "../../shared/db/jobs/read-batches.ts";
import {
  selectAnswers,
  selectBatchTimes,
  selectCosts,
  selectKinds,
  selectSlowest,
  selectTroubles,
} from "../../shared/db/jobs/report-rows.ts";
import type {
  AnswerRow,
  BatchTimes,
  CostRow,
  KindRow,
  SlowRow,
  TroubleRow,
} from "../../shared/db/jobs/report-rows.ts";

/** How much of a batch a report shows; it says how much more there is, and how to see it. */
export const SHOWN = {
  /** Answers, each up to so many characters and pieces of evidence. */
  answers: { jobs: 200, chars: 6_000, pieces: 8 },
  /** Jobs of each code that did not succeed. */
  troubles: 10,
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
  readonly troubles: readonly TroubleRow[];
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
    troubles: await selectTroubles(database, batchId, SHOWN.troubles),
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
