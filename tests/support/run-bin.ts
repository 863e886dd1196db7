import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";

const bin = resolve(import.meta.dirname, "..", "..", "bin", "nightdesk.js");

export type Ended = {
  /** Status, or 128 + the signal's number, as a shell gives it. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
};

export type Running = {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  /** Resolves to what the pattern found on stderr, once it has appeared there; rejects at the end of the process or after 30 s, or so many. */
  said(pattern: RegExp, withinMs?: number): Promise<RegExpExecArray>;
  kill(signal: NodeJS.Signals): void;
};

export type Place = {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** `leaves`: who reads stdout goes away after its first bytes, as `head` does. */
  readonly reader?: "stays" | "leaves";
  /** The account that runs it; this one's unless told. */
  readonly uid?: number;
  readonly gid?: number;
};

const SIGNAL_STATUS: Readonly<Record<string, number>> = { SIGINT: 130, SIGKILL: 137, SIGTERM: 143 };
const SAID_WITHIN_MS = 30_000;

/** Starts the bin as a user would: its words, no terminal, and nothing of the test's environment but PATH. */
export const startBin = (words: readonly string[], place: Place): Running =>
  startNode([bin, ...words], place);

/** The same for any program of Node. */
export function startNode(words: readonly string[], place: Place): Running {
  const { cwd, env, stdin, reader, ...user } = place;
  const child = spawn(process.execPath, words, {
    ...user,
    cwd,
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  const listeners = new Set<() => void>();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    if (reader === "leaves") child.stdout.destroy();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    for (const listener of listeners) listener();
  });
  child.stdin.end(stdin ?? "");
  const ended = once(child, "close").then(() => ({
    code: child.exitCode ?? SIGNAL_STATUS[child.signalCode ?? ""] ?? -1,
    stdout,
    stderr,
  }));
  return {
    pid: child.pid ?? 0,
    ended,
    kill: (signal) => void child.kill(signal),
    async said(pattern, withinMs = SAID_WITHIN_MS) {
      let timer: NodeJS.Timeout | undefined;
      const heard = new Promise<RegExpExecArray>((settle, reject) => {
        const look = () => {
          const found = pattern.exec(stderr);
          if (found !== null) settle(found);
        };
        listeners.add(look);
        const fail = () => {
          reject(new Error(`node ${words.join(" ")} did not say ${String(pattern)}: ${stderr}`));
        };
        timer = setTimeout(fail, withinMs);
        void ended.then(fail);
        look();
      });
      return heard.finally(() => {
        clearTimeout(timer);
      });
    },
  };
}

export const runBin = (words: readonly string[], place: Place): Promise<Ended> =>
  startBin(words, place).ended;

/** The one line of JSON that stdout holds; anything else there fails the test. */
export function jsonLine({ stdout, stderr }: Ended): Record<string, unknown> {
  const lines = stdout.split("\n");
  if (lines.length !== 2 || lines[1] !== "") {
    throw new Error(
      `expected one line on stdout, got ${JSON.stringify(stdout)}; stderr: ${stderr}`,
    );
  }
  return JSON.parse(lines[0] ?? "") as Record<string, unknown>;
}

/** All lines of JSON on stdout. */
export const jsonLines = ({ stdout }: Ended): Record<string, unknown>[] =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
