import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { runBin } from "./run-bin.ts";

const hook = resolve(import.meta.dirname, "..", "fixtures", "telemetry", "modules-to-file.js");

/** The modules that a command loads beside those of Node itself, as URLs and paths. */
export async function loadedBy(words: readonly string[], cwd: string): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), "nightdesk-"));
  try {
    const file = join(folder, "modules");
    await runBin(words, { cwd, env: { NODE_OPTIONS: `--import=${hook}`, MODULES_FILE: file } });
    return (await readFile(file, "utf8")).split("\n");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
