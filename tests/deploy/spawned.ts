import { spawn } from "node:child_process";
import { once } from "node:events";

export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Spawned {
  readonly ended: Promise<Ended>;
  readonly pid: number;
  /** What it has written so far, to both. */
  readonly output: () => string;
  readonly kill: (signal: NodeJS.Signals) => void;
}

/** Starts a program without input, in exactly this environment; its output is collected until its end. */
export function start(
  words: readonly string[],
  options: { readonly cwd: string; readonly env: Record<string, string> },
): Spawned {
  const [command = "", ...args] = words;
  const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (data: Buffer) => (stdout += data.toString()));
  child.stderr.on("data", (data: Buffer) => (stderr += data.toString()));
  const ended = once(child, "close").then(() => ({ exitCode: child.exitCode, stdout, stderr }));
  const { pid = 0 } = child;
  return { pid, ended, output: () => stdout + stderr, kill: (signal) => child.kill(signal) };
}
