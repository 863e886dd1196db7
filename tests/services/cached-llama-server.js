import { join } from "node:path";
import { root } from "../../scripts/root.js";
import { runQuietly } from "./run-quietly.js";

/**
 * The llama-server that .ci/run keeps between runs, when it is there and we may use it (as root). Never builds it.
 * @returns {Promise<import("./find-services.js").Service | null>} `url` is the path of the program: tests start it themselves,
 *   each with options of its own
 */
export async function findCachedLlamaServer() {
  if (process.getuid?.() !== 0) return null;
  const program = join(root, ".ci", "llama-server");
  const { ok } = await runQuietly(program, ["--version"]);
  return ok ? { url: program, from: "the cached root of .ci/run", stop: async () => {} } : null;
}
