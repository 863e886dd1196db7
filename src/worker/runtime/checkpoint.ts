import { isDatabaseGone } from "../../shared/store/connection/database.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import type { Logger } from "../../shared/logger.ts";

/**
 * Asks the embedded database for a dump in its folder, in the background: PGlite never calls fsync, so that a
 * power cut may cost what was written since the last dump. The statement is the database process's own.
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
