import type { Config } from "../../shared/config/schema.ts";
import type { Logger } from "../../shared/logger.ts";
import { isDatabaseGone } from "../../shared/store/connection/database.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import {
  deleteExpiredReasoning,
  deleteOldActions,
  deleteOldSlice,
} from "../../shared/store/jobs/retention.ts";
import type { Retention } from "../../shared/store/jobs/retention.ts";
import type { Service } from "./supervisor.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const EVERY_MS = 60 * 60 * 1_000;
const UNTIL_AGREED_MS = 60_000;
/** Pause between two slices, in which the database serves the jobs of the night. */
const PAUSE_MS = 50;
/** A slice keeps the database busy for about 100 ms. */
const SLICE_JOBS = 500;

type RetentionParts = {
  readonly database: Database;
  readonly logger: Logger;
  /** Whether this worker's setting is the one in force. */
  readonly agrees: () => boolean;
};

/** The settings of `runs` for old batches; null if all are kept. */
export const retentionOf = ({ runs }: Pick<Config, "runs">): Retention | null =>
  runs.keep_days === null
    ? null
    : { olderThanMs: runs.keep_days * DAY_MS, only: runs.pin_until_exported ? "exported" : "any" };

/** Deletes old batches and old actions on pages hourly, in small slices; one worker at a time, by the setting in force. */
export function retentionService(
  { database, logger, agrees }: RetentionParts,
  retention: Retention | null,
): Service {
  let batches = 0;
  return {
    name: "retention",
    trouble: "old batches could not be deleted",
    mostRestMs: EVERY_MS,
    async run() {
      if (retention === null) return EVERY_MS;
      if (!agrees()) return UNTIL_AGREED_MS;
      const slice = await deleteOldSlice(database, retention, SLICE_JOBS);
      if (slice.kind === "deleted" && slice.of !== null) {
        batches += slice.batches;
        return PAUSE_MS;
      }
      if (batches > 0) logger.info({ batches }, "deleted batches older than runs.keep_days");
      batches = 0;
      const actions = await deleteOldActions(database, retention, SLICE_JOBS);
      return actions === null || actions === 0 ? EVERY_MS : PAUSE_MS;
    },
  };
}

/** Deletes expired reasoning of models, in small slices, every hour; one worker at a time. */
export const reasoningService = ({ database }: Pick<RetentionParts, "database">): Service => ({
  name: "reasoning",
  trouble: "old reasoning could not be deleted",
  mostRestMs: EVERY_MS,
  async run() {
    const deleted = await deleteExpiredReasoning(database, SLICE_JOBS);
    return deleted === null || deleted === 0 ? EVERY_MS : PAUSE_MS;
  },
});

/**
 * Asks the embedded database for a dump in its folder, in the background: PGlite never calls fsync, so a power cut may cost
 * everything since the last dump. The database process implements this statement itself.
 */
export function checkpointEmbedded(database: Database, logger: Logger): void {
  database
    .within("backup")
    .query("nightdesk checkpoint")
    .then(
      () => {
        logger.debug("database dumped");
      },
      (err: unknown) => {
        if (!isDatabaseGone(err)) logger.warn({ err }, "the database could not be dumped");
      },
    );
}
