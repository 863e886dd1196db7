import { spawn } from "node:child_process";
import { closeSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import type { CommandContext } from "../../shared/command-context.ts";

const LARGE_LOG_BYTES = 5_000_000;

export type DrainWorker = {
  /** Resolves with the exit status, or null for a death by signal. */
  readonly ended: Promise<number | null>;
  stop(): void;
};

/** The file that `startDrainWorker` writes the worker's log to. */
export const workerLogOf = ({ config }: CommandContext): string =>
  join(config.roots.databaseDirectory, "worker.log");

/**
 * Starts `nightdesk worker --drain` with this command's configuration. It does not keep the command from ending,
 * and works on what else waits when the command has its answer.
 */
export function startDrainWorker(context: CommandContext): DrainWorker {
  const log = openLog(workerLogOf(context));
  const child = spawn(process.execPath, workerArguments(context), {
    cwd: context.invocation.cwd,
    stdio: ["ignore", "ignore", log],
    // Apart from the terminal: a hang-up would kill it without a word, and Ctrl-C is passed on by `stop`.
    detached: true,
  });
  closeSync(log);
  child.unref();
  return {
    ended: new Promise((resolve) => {
      child.once("exit", resolve);
      child.once("error", () => {
        resolve(null);
      });
    }),
    stop: () => void child.kill("SIGTERM"),
  };
}

function workerArguments({ config, invocation }: CommandContext): string[] {
  const { packageRoot, options } = invocation;
  const flags = [
    ["--config", config.file],
    ["--workroot", config.roots.workroot],
    ["--ollama-base-url", options["ollamaBaseUrl"]],
    ["--log-level", options["logLevel"]],
  ].flatMap(([flag, value]) => (typeof value === "string" ? [String(flag), value] : []));
  return [join(packageRoot, "bin", "nightdesk.js"), "worker", "--drain", ...flags];
}

function openLog(file: string): number {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return openSync(file, size > LARGE_LOG_BYTES ? "w" : "a", 0o600);
}
