import { join } from "node:path";
import { root } from "../../scripts/root.js";
import { runQuietly } from "./run-quietly.js";

/**
 * The Postgres that .ci/run keeps between runs, when it is there and we may use it (as root). Starts it when it does not
 * run; never builds it, and never stops it, because another run may use it at the same time.
 * @returns {Promise<import("./find-services.js").Service | null>}
 */
export async function startCachedPostgres() {
  if (process.getuid?.() !== 0) return null;
  const script = join(root, ".ci", "postgres");
  const { ok, stdout } = await runQuietly(script, ["start"], { timeout: 60_000 });
  return ok
    ? { url: stdout.trim(), from: "the cached root of .ci/run", stop: async () => {} }
    : null;
}
