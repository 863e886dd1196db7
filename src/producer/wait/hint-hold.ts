import type { CommandContext } from "../../shared/command-context.ts";
import type { Database } from "../../shared/db/database.ts";
import { findBatch } from "../../shared/db/jobs/read-batches.ts";
import { describeHold, holdRemedy } from "../print/describe-hold.ts";

/** Says that what was queued does not run now, and what to do about it. */
export async function hintHold(
  { terminal }: CommandContext,
  database: Database,
  batchId: string,
): Promise<void> {
  const batch = await findBatch(database, batchId);
  const remedy = batch === undefined ? undefined : holdRemedy(batch);
  if (batch === undefined || remedy === undefined) return;
  terminal.say(`It is ${describeHold(batch)}; ${remedy}`);
}
