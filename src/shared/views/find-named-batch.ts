import { hintNames } from "../text/close-names.ts";
import { Failure } from "../failure.ts";
import type { Queryable } from "../store/connection/database.ts";
import { findId } from "../store/jobs/find-id.ts";
import { findBatch, selectBatchNames } from "./batches.ts";
import type { BatchProgress } from "./batches.ts";

const RECENT = 1_000;

/**
 * The batch with this name or id, or whose id starts with the text.
 * @throws Failure NOT_FOUND with names that were likely meant, AMBIGUOUS_ID
 */
export async function findNamedBatch(db: Queryable, nameOrId: string): Promise<BatchProgress> {
  const batch = (await findBatch(db, nameOrId)) ?? (await findByBeginning(db, nameOrId));
  if (batch !== undefined) return batch;
  const names = await selectBatchNames(db, RECENT);
  const hint = hintNames(nameOrId, names, "nightdesk batch list --all shows all.");
  throw new Failure("NOT_FOUND", `There is no batch ${JSON.stringify(nameOrId)}; ${hint}`);
}

async function findByBeginning(db: Queryable, text: string): Promise<BatchProgress | undefined> {
  const batchId = await findId(db, text, ["batch"]);
  return batchId === undefined ? undefined : findBatch(db, batchId);
}
