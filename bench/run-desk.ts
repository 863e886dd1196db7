import { setTimeout as sleep } from "node:timers/promises";
import { stopEmbedded } from "../src/shared/store/embedded/embedded-process.ts";
import { runBin } from "../tests/support/run-bin.ts";
import { findPids } from "./process-usage.ts";

/**
 * Runs a command of the build in dist/, with nothing of the machine that it runs on: no database, no configuration.
 * @returns what it writes to stdout. Some jobs of a batch may be refused (exit 3)
 */
export async function runDesk(
  words: readonly string[],
  { home, config }: { readonly home: string; readonly config: string },
): Promise<string> {
  const env = { HOME: process.env["HOME"] ?? home };
  const ended = await runBin([...words, "--config", config], { cwd: home, env });
  const { code, stdout, stderr } = ended;
  if (code === 0 || code === 3) return stdout;
  throw new Error(`nightdesk ${words.join(" ")} ended with ${String(code)}: ${stderr}`);
}

/**
 * Stops the workers of a folder, and the databases in these folders: a worker that goes on for a moment would start one again.
 */
export async function stopDesk(home: string, databases: readonly string[]): Promise<void> {
  for (const pid of findPids("worker", [home])) process.kill(pid, "SIGTERM");
  while (findPids("worker", [home]).length > 0) await sleep(50);
  for (const directory of databases) await stopEmbedded(directory);
}
