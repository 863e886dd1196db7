import type { Logger } from "../../shared/logger.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { endSlice, expireBatches, selectClosing } from "../../shared/store/jobs/close-batches.ts";
import { evaluateHolds } from "../../shared/store/jobs/holds.ts";
import type { NightClock } from "../hosts/pacing.ts";

export type KeeperParts = {
  readonly database: Database;
  readonly logger: Logger;
  readonly clock: NightClock;
};

/** The start of the next slice of each closed batch. */
export type ClosingPlaces = Map<string, string>;

/**
 * Advances the state of batches: holds and releases them, expires those whose deadline passed, and ends a slice of the
 * waiting jobs of closed batches.
 * @returns `closing` while closed batches still have waiting jobs
 */
export async function reconcileBatches(
  { database, logger, clock }: KeeperParts,
  places: ClosingPlaces,
): Promise<"kept" | "closing"> {
  const now = clock();
  for (const { batchId, reason, until } of await evaluateHolds(database, now)) {
    logger.info(
      { batch_id: batchId, hold_reason: reason, hold_until: until },
      reason === null ? "batch may run" : "batch held",
    );
  }
  for (const { batchId } of await expireBatches(database, now)) {
    logger.info({ batch_id: batchId }, "the deadline of a batch passed; what waits expires");
  }
  return endSlices(database, places);
}

async function endSlices(database: Database, places: ClosingPlaces): Promise<"kept" | "closing"> {
  const closing = await selectClosing(database);
  const slices = await Promise.all(
    closing.map(async (batchId) => {
      const slice = await endSlice(database, batchId, places.get(batchId));
      if (typeof slice === "object") places.set(batchId, slice.after);
      else if (slice === "done") places.delete(batchId);
      return slice;
    }),
  );
  return slices.some((slice) => slice !== "done") ? "closing" : "kept";
}
