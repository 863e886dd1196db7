import type { Logger } from "../../shared/logger.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import {
  deleteUnusedSlice,
  expireOutputsSlice,
  FIRST_CONTENT,
} from "../../shared/store/investigations/artifacts.ts";
import type { Service } from "./supervisor.ts";

const EVERY_MS = 60 * 60 * 1_000;
/** Pause between two slices, in which the database serves the jobs of the night. */
const PAUSE_MS = 50;
/** A slice keeps the database busy for about 100 ms. */
const SLICE_OUTPUTS = 500;
/** Far longer than any statement that may still refer to new bytes. */
const GRACE_SECONDS = 60 * 60;

/**
 * Deletes outputs of tools that nobody needs any more, every hour and in small slices: shell states of ended jobs, expired
 * outputs, then contents without an output. One worker at a time.
 * @param graceSeconds newer contents are not deleted
 */
export function artifactService(
  { database, logger }: { readonly database: Database; readonly logger: Logger },
  graceSeconds: number = GRACE_SECONDS,
): Service {
  /** Where the walk over contents continues; null while outputs are being expired. */
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
