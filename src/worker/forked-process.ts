import { fork } from "node:child_process";
import type { ChildProcess, ForkOptions } from "node:child_process";
import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Starts `child.ts`, or what it was compiled to, beside the module at this URL: a process of ours that is told by messages,
 * writes nothing, and is killed when this one exits.
 * @param execArgv flags of Node; one that listens for a debugger is not passed on
 */
export function forkBeside(
  moduleUrl: string,
  execArgv: readonly string[],
  options: Pick<ForkOptions, "env"> = {},
): ChildProcess {
  const entry = fileURLToPath(new URL(`child${extname(fileURLToPath(moduleUrl))}`, moduleUrl));
  const child = fork(entry, {
    ...options,
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    serialization: "advanced",
    execArgv: execArgv.filter((flag) => !flag.startsWith("--inspect")),
  });
  const endChild = (): void => void child.kill("SIGKILL");
  process.once("exit", endChild);
  child.once("exit", () => process.off("exit", endChild));
  return child;
}

/** In the process that was started: ends it when its parent is gone, and at no signal of the terminal. */
export function endWithParent(): void {
  // Ctrl-C reaches the whole group, and the worker still wants what it has asked for. It ends this process itself.
  process.on("SIGINT", () => undefined);
  process.on("SIGTERM", () => undefined);
  process.on("disconnect", () => {
    process.exit(0);
  });
}

/** Of a process of this machine; 0 where there is no /proc, and where it has ended. */
export function residentBytes(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid ?? 0}/status`, "latin1");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** The first line of what an error says: of a library's, the rest is advice or a stack. */
export const firstLineOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
