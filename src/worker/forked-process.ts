import { fork } from "node:child_process";
import type { ChildProcess, ForkOptions } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { runChild } from "./child-process.ts";

/**
 * Starts `child.ts`, or its compiled form, beside the module at this URL, as a process of ours: it works by messages, prints
 * nothing, and is killed when this process exits.
 * @param execArgv flags of Node; those for a debugger are not passed on
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

/** For the child: ends it when its parent has ended, but not at a signal of the terminal. */
export function endWithParent(): void {
  // Ctrl-C reaches the whole group, but the worker still needs the results of this process, and ends it itself.
  process.on("SIGINT", () => undefined);
  process.on("SIGTERM", () => undefined);
  process.on("disconnect", () => {
    process.exit(0);
  });
}

/** The folder of the kernel's process information; macOS has none. */
const PROC_FOLDER = "/proc";

/** Resident bytes of a process on this machine; 0 without /proc, and if it has ended. */
export function residentBytes(pid: number | undefined): number {
  try {
    const status = readFileSync(`${PROC_FOLDER}/${pid ?? 0}/status`, "latin1");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** Interval for `ps`, longer because each call starts a process. */
const PS_MS = 200;

export type MemoryLooks = {
  readonly pid: number | undefined;
  /** Interval for reading the folder; without a folder, `ps` runs every fifth of a second. */
  readonly everyMs: number;
  readonly procFolder?: string | undefined;
};

/**
 * Measures the resident bytes of a process on this machine again and again. A failed measurement counts as 0.
 * @returns a function that ends it
 */
export function watchResidentBytes(
  { pid, everyMs, procFolder = PROC_FOLDER }: MemoryLooks,
  onLook: (bytes: number) => void,
): () => void {
  if (existsSync(`${procFolder}/self/status`)) {
    const timer = setInterval(() => {
      onLook(residentBytes(pid));
    }, everyMs);
    return () => {
      clearInterval(timer);
    };
  }
  const ended = new AbortController();
  void lookByPs(pid, onLook, ended.signal);
  return () => {
    ended.abort();
  };
}

async function lookByPs(
  pid: number | undefined,
  onLook: (bytes: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const file = "/bin/ps";
  const args = ["-o", "rss=", "-p", String(pid)];
  const isOn = () => !signal.aborted;
  while (isOn()) {
    await setTimeout(PS_MS, undefined, { signal }).catch(() => undefined);
    if (!isOn()) return;
    // The cause of a failed start, such as the user's limit of processes, may pass.
    const looked = await runChild({ file, args, cwd: "/", env: {} }, signal).catch(() => undefined);
    if (isOn()) onLook(Number(looked?.output[0] ?? 0) * 1024);
  }
}

/** The first line of an error's message: in errors of libraries the rest is advice or a stack. */
export const firstLineOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
