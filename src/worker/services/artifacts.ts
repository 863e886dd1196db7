import type { Logger } from "../../shared/logger.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import {
  deleteUnusedSlice,
  expireOutputsSlice,
  FIRST_CONTENT,
} from "../../shared/store/investigations/artifacts.ts";
import type { Service } from "./supervisor.ts";

const EVERY_MS = 60 * 60 * 1_000;
/** Between two slices the database serves the jobs of the night. */
const PAUSE_MS = 50;
/** Some 100 ms of work for the database. */
const SLICE_OUTPUTS = 500;
/** Statements end within minutes. */
const GRACE_SECONDS = 60 * 60;

/**
 * Lets go what tools gave and nobody keeps any more, every hour and in small slices: archives of state of jobs that have
 * ended, outputs whose time is over, then bytes that no output has. One worker at a time.
 * @param graceSeconds bytes that were written since then are left alone
 */
export function artifactService(
  { database, logger }: { readonly database: Database; readonly logger: Logger },
  graceSeconds: number = GRACE_SECONDS,
): Service {
  /** Where the walk over contents goes on; null while outputs are let go. */
  let walk: string | null = null;
  let freed = { artifacts: 0, bytes: 0 };
  return {
    name: "artifacts",
    trouble: "outputs of tools could not be removed",
    mostRestMs: EVERY_MS,
    async run() {
      if (walk === null) {
        const slice = await expireOutputsSlice(database, SLICE_OUTPUTS);
        if (slice.kind === "busy") return EVERY_MS;
        if (slice.outputs === 0) walk = FIRST_CONTENT;
        return PAUSE_MS;
      }
      const slice = await deleteUnusedSlice(database, walk, { limit: SLICE_OUTPUTS, graceSeconds });
      if (slice.kind === "busy") return EVERY_MS;
      freed = { artifacts: freed.artifacts + slice.artifacts, bytes: freed.bytes + slice.bytes };
      walk = slice.next;
      if (walk !== null) return PAUSE_MS;
      if (freed.artifacts > 0) logger.info(freed, "removed outputs of tools that nobody keeps");
      freed = { artifacts: 0, bytes: 0 };
      return EVERY_MS;
    },
  };
}
