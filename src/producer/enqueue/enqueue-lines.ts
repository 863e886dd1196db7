import type { Database, Queryable } from "../../shared/db/database.ts";
import { setBatchFormat } from "../../shared/db/jobs/batch-format.ts";
import { deleteBatch } from "../../shared/db/jobs/batches.ts";
import { keepHolds } from "../../shared/db/jobs/holds.ts";
import { deleteHeldBackJobs, releaseJobs } from "../../shared/db/jobs/load-batch.ts";
import type { ChosenBatch } from "./choose-batch.ts";
import { LineProblems } from "./line-problems.ts";
import { loadJobs } from "./load-jobs.ts";
import type { LoadCounts, LoadOptions } from "./load-jobs.ts";

export type Enqueued = LoadCounts & {
  /** `queued`: the batch is open. `rejected`: nothing of this file is left. `empty`: there was no line. */
  readonly outcome: "queued" | "rejected" | "empty";
  readonly problems: LineProblems;
};

export type EnqueueOptions = Omit<LoadOptions, "problems"> & {
  readonly badLines: "strict" | "skip";
  /** What else goes into the batch, in the transaction that opens it. */
  readonly beforeOpening?: (db: Queryable, counts: LoadCounts) => Promise<void>;
};

/**
 * Loads a file into a batch and opens it after the last line. With `strict` one bad line rejects the file: a batch
 * that was never opened is deleted, and one that was keeps what it had before. So does a model name that is not known,
 * whatever is said of bad lines: a whole night without its model is worth less than a look at the configuration.
 */
export async function enqueueLines(
  database: Database,
  batch: ChosenBatch,
  chunks: AsyncIterable<Uint8Array>,
  options: EnqueueOptions,
): Promise<Enqueued> {
  const problems = new LineProblems();
  const { parser } = options;
  const counts = await loadJobs(database, batch, chunks, { ...options, problems });
  const isEmpty = counts.added + counts.skipped === 0;
  const isRejected =
    parser.unknownModels().length > 0 ||
    (problems.count > 0 && (options.badLines === "strict" || isEmpty));
  if (isRejected || isEmpty) {
    await undoLoad(database, batch);
    return { ...counts, outcome: isRejected ? "rejected" : "empty", problems };
  }
  await database.within("build").transaction(async (db) => {
    if (batch.mode === "loading") await setBatchFormat(db, batch.batchId, parser.format());
    await options.beforeOpening?.(db, counts);
    await releaseJobs(db, batch.batchId);
  });
  await keepHolds(database);
  return { ...counts, outcome: "queued", problems };
}

const undoLoad = (database: Database, { batchId, mode }: ChosenBatch): Promise<void> =>
  mode === "loading"
    ? deleteBatch(database.within("build"), batchId)
    : deleteHeldBackJobs(database.within("build"), batchId);
