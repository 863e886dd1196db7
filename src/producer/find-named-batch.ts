import type { Queryable } from "../shared/db/database.ts";
import { findId } from "../shared/db/jobs/find-id.ts";
import { findBatch, selectBatchNames } from "../shared/db/jobs/read-batches.ts";
import type { BatchProgress } from "../shared/db/jobs/read-batches.ts";
import { Failure } from "../shared/failure.ts";
import { findCloseNames } from "../shared/close-names.ts";

const RECENT = 1_000;

/**
 * The batch of that name, or of the id that the text is or begins.
 * @throws Failure NOT_FOUND with the names that were likely meant, AMBIGUOUS_ID
 */
export async function findNamedBatch(db: Queryable, nameOrId: string): Promise<BatchProgress> {
  const batch = (await findBatch(db, nameOrId)) ?? (await findByBeginning(db, nameOrId));
  if (batch !== undefined) return batch;
  const close = findCloseNames(nameOrId, await selectBatchNames(db, RECENT));
  const hint =
    close.length === 0
      ? "nightdesk batch list --all shows all."
      : `did you mean ${close.map((name) => JSON.stringify(name)).join(" or ")}?`;
  throw new Failure("NOT_FOUND", `There is no batch ${JSON.stringify(nameOrId)}; ${hint}`);
}

async function findByBeginning(db: Queryable, text: string): Promise<BatchProgress | undefined> {
  const batchId = await findId(db, text, ["batch"]);
  return batchId === undefined ? undefined : findBatch(db, batchId);
}
