import type { Queryable } from "../shared/db/database.ts";
import { findBatch, selectBatchNames } from "../shared/db/jobs/read-batches.ts";
import type { BatchProgress } from "../shared/db/jobs/read-batches.ts";
import { Failure } from "../shared/failure.ts";
import { findCloseNames } from "../shared/close-names.ts";

const RECENT = 1_000;

/** The batch of that name or id. @throws Failure NOT_FOUND with the names that were likely meant */
export async function findNamedBatch(db: Queryable, nameOrId: string): Promise<BatchProgress> {
  const batch = await findBatch(db, nameOrId);
  if (batch !== undefined) return batch;
  const close = findCloseNames(nameOrId, await selectBatchNames(db, RECENT));
  const hint =
    close.length === 0
      ? "nightdesk batch list --all shows all."
      : `did you mean ${close.map((name) => JSON.stringify(name)).join(" or ")}?`;
  throw new Failure("NOT_FOUND", `There is no batch ${JSON.stringify(nameOrId)}; ${hint}`);
}
