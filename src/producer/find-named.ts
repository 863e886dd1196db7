import { hintNames } from "../shared/close-names.ts";
import type { Config } from "../shared/config/schema.ts";
import type { Queryable } from "../shared/store/connection/database.ts";
import { findId } from "../shared/store/jobs/find-id.ts";
import { findBatch, selectBatchNames } from "../shared/views/batches.ts";
import type { BatchProgress } from "../shared/views/batches.ts";
import { findSchedule, putSchedule, selectSchedules } from "../shared/store/schedules/schedules.ts";
import type { Schedule } from "../shared/store/schedules/schedules.ts";
import { Failure } from "../shared/failure.ts";
import { assertHolds, configuredSchedules } from "../shared/schedules/schedule.ts";

const RECENT = 1_000;

/**
 * The batch of that name, or of the id that the text is or begins.
 * @throws Failure NOT_FOUND with the names that were likely meant, AMBIGUOUS_ID
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

/**
 * The schedule of that name. One that only the configuration knows, because no worker has started with it yet, is
 * written first.
 * @throws Failure NOT_FOUND with the names that were likely meant, INPUT_INVALID when its entry does not hold
 */
export async function findNamedSchedule(
  db: Queryable,
  config: Config,
  name: string,
): Promise<Schedule> {
  const known = await findSchedule(db, name);
  if (known !== undefined) return known;
  const entries = configuredSchedules(config);
  const entry = entries.find((candidate) => candidate.name === name);
  if (entry === undefined) {
    const names = [...entries, ...(await selectSchedules(db))].map((schedule) => schedule.name);
    throw notFound(name, [...new Set(names)]);
  }
  assertHolds(entry);
  await putSchedule(db, entry, "file");
  return findNamedSchedule(db, { ...config, schedules: [] }, name);
}

function notFound(name: string, names: readonly string[]): Failure {
  const hint = hintNames(name, names, "nightdesk schedule list shows all.");
  return new Failure("NOT_FOUND", `There is no schedule ${JSON.stringify(name)}; ${hint}`);
}
