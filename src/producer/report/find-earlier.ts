import type { Database } from "../../shared/db/database.ts";
import { selectEarlierBatches, selectRepeatedBatch } from "../../shared/db/jobs/compare-batches.ts";
import type { EarlierBatch } from "../../shared/db/jobs/compare-batches.ts";
import type { BatchProgress } from "../../shared/db/jobs/read-batches.ts";
import { findNamedBatch } from "../find-named-batch.ts";
import { nameStem } from "./name-stem.ts";

/**
 * The batch to compare with: the one that is asked for, else the one whose jobs this one repeats, else the last before
 * it whose name differs only in its day or number.
 * @throws Failure NOT_FOUND for a batch that is asked for and not there
 */
export async function findEarlier(
  database: Database,
  batch: BatchProgress,
  asked: string | undefined,
): Promise<EarlierBatch | undefined> {
  if (asked !== undefined) {
    const { batchId, name, createdAt } = await findNamedBatch(database, asked);
    return { batch_id: batchId, name, created_at: createdAt };
  }
  const repeated = await selectRepeatedBatch(database, batch.batchId);
  if (repeated !== undefined) return repeated;
  const stem = nameStem(batch.name);
  const earlier = await selectEarlierBatches(database, batch.batchId, stem);
  return earlier.find(({ name }) => nameStem(name) === stem);
}
