import { fork } from "node:child_process";
import type { ChildProcess, ForkOptions } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { runChild } from "./child-process.ts";

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

/** Where the kernel tells of processes; macOS has none. */
const PROC_FOLDER = "/proc";

/** Of a process of this machine; 0 where there is no /proc, and where it has ended. */
export function residentBytes(pid: number | undefined): number {
  try {
    const status = readFileSync(`${PROC_FOLDER}/${pid ?? 0}/status`, "latin1");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** A look by `ps` starts a process. */
const PS_MS = 200;

export type MemoryLooks = {
  readonly pid: number | undefined;
  /** Between two looks in the folder; without it they are made by `ps`, a fifth of a second apart. */
  readonly everyMs: number;
  readonly procFolder?: string | undefined;
};

/**
 * Looks again and again at the resident bytes of a process of this machine. A look that fails counts 0.
 * @returns ends it
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
    // What keeps it from being started, such as a user with as many processes as he may have, may pass.
    const looked = await runChild({ file, args, cwd: "/", env: {} }, signal).catch(() => undefined);
    if (isOn()) onLook(Number(looked?.output[0] ?? 0) * 1024);
  }
}

/** The first line of what an error says: of a library's, the rest is advice or a stack. */
export const firstLineOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
