import { spawn } from "node:child_process";
import type { ChildProcess, ChildProcessWithoutNullStreams } from "node:child_process";
import { StringDecoder } from "node:string_decoder";
import { SECRETS_FOLLOW, STOP_WITH_PARENT } from "../shared/child-process.ts";
import { hasCode } from "../shared/store/connection/errors.ts";
import { cleanForTerminal } from "../shared/terminal/styled-text.ts";

type ChildCommand = {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The text for its stdin; empty by default. */
  readonly input?: string;
  /** `told`: a Nightdesk command, which ends when this process ends. Another program does not notice that. */
  readonly ourEnd?: "told" | "untold";
  /** Variables that a Nightdesk command receives by its channel, because other users could read its environment. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Called with each line of stderr as it arrives. */
  readonly onMessage?: (line: string) => void;
};

export type ChildEnd = {
  /** Null if a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last lines of stdout and of stderr, without control characters. */
  readonly output: readonly string[];
  readonly messages: readonly string[];
};

const LINES_KEPT = 20;
const CHARS_KEPT = 500;
const KILL_MS = 5_000;

/**
 * Runs a program without a shell and waits for its end. When the signal aborts, the program and everything that it started get
 * SIGTERM, and later SIGKILL; the end is awaited all the same.
 * @param killMs milliseconds between SIGTERM and SIGKILL
 * @throws the system's error if it can't be started
 */
export function runChild(
  command: ChildCommand,
  signal: AbortSignal,
  killMs = KILL_MS,
): Promise<ChildEnd> {
  const { input, onMessage = () => undefined } = command;
  const child = spawnChild(command);
  const output = collectLines(child.stdout, () => undefined);
  const messages = collectLines(child.stderr, onMessage);
  // A program that does not read its whole input causes an error here, which does not matter.
  child.stdin.on("error", () => undefined);
  child.stdin.end(input ?? "");
  const stop = () => {
    signalGroup(child.pid, "SIGTERM");
    killer = setTimeout(() => {
      signalGroup(child.pid, "SIGKILL");
    }, killMs);
  };
  let killer: NodeJS.Timeout | undefined;
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  return new Promise<ChildEnd>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, endedBy) => {
      resolve({ code, signal: endedBy, output: output(), messages: messages() });
    });
  }).finally(() => {
    clearTimeout(killer);
    signal.removeEventListener("abort", stop);
  });
}

function spawnChild({ file, args, cwd, env, ourEnd = "untold", secrets }: ChildCommand): Child {
  const told = ourEnd === "told" || secrets !== undefined;
  const child = spawn(file, [...args], {
    cwd,
    env: {
      ...env,
      ...(told ? { [STOP_WITH_PARENT]: "1" } : {}),
      ...(secrets === undefined ? {} : { [SECRETS_FOLLOW]: "1" }),
    },
    stdio: ["pipe", "pipe", "pipe", ...(told ? ["ipc" as const] : [])],
    // In a process group of its own: Ctrl-C must reach only the worker, which passes it on.
    detached: true,
  });
  if (!hasPipes(child)) throw new Error(`${file} was started without pipes`);
  // If it could not be started or has ended already, its own events report that.
  if (secrets !== undefined && child.connected) child.send(secrets, () => undefined);
  return child;
}

type Child = ChildProcess & Pick<ChildProcessWithoutNullStreams, "stdin" | "stdout" | "stderr">;

/** The type of `stdio` with a fourth entry does not tell TypeScript that the pipes exist. */
const hasPipes = (child: ChildProcess): child is Child =>
  child.stdin !== null && child.stdout !== null && child.stderr !== null;

/** Signals the whole process group: a grandchild keeps the pipes open, and the end would not be noticed. */
export function signalGroup(pid: number | undefined, signal: "SIGTERM" | "SIGKILL"): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // It has ended meanwhile.
    if (!hasCode(error, "ESRCH")) throw error;
  }
}

/** @returns a function for the last lines, each cut to 500 characters */
function collectLines(
  stream: NodeJS.ReadableStream,
  onLine: (line: string) => void,
): () => readonly string[] {
  const decoder = new StringDecoder("utf8");
  const lines: string[] = [];
  let open = "";
  const add = (text: string) => {
    const line = cleanForTerminal(text.slice(0, CHARS_KEPT)).toWellFormed().trimEnd();
    if (line === "") return;
    lines.push(line);
    if (lines.length > LINES_KEPT) lines.shift();
    onLine(line);
  };
  stream.on("data", (chunk: Buffer) => {
    const parts = (open + decoder.write(chunk)).split(/\r?\n/);
    // Only the part of an unfinished line that can be shown is stored.
    open = (parts.pop() ?? "").slice(0, CHARS_KEPT);
    for (const part of parts) add(part);
  });
  stream.on("end", () => {
    add(open);
    open = "";
  });
  return () => lines;
}

type Environment = Readonly<Record<string, string | undefined>>;

const PLAIN = new Set([
  ...["PATH", "HOME", "LANG", "TZ", "USER", "TMPDIR", "XDG_STATE_HOME"],
  ...["NIGHTDESK_CONFIG", "NIGHTDESK_WORKROOT", "NIGHTDESK_LOG_LEVEL", "NIGHTDESK_OLLAMA_BASE_URL"],
]);
const LOCALE = /^LC_[A-Z]+$/;
/** Further variables that Node and the configuration read. */
const OUR_OWN = new Set([
  ...["OLLAMA_BASE_URL", "NODE_OPTIONS", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"],
]);

/** The environment of a foreign program: where and as which user it runs, but no variable that may hold a password or a key. */
export const foreignEnvironment = (env: Environment): Environment =>
  pickVariables(env, (name) => PLAIN.has(name) || LOCALE.test(name));

/** The environment of a Nightdesk command. Credentials of the database come by its channel: shared/child-process.ts. */
export const ownEnvironment = (env: Environment): Environment =>
  pickVariables(env, (name) => PLAIN.has(name) || LOCALE.test(name) || OUR_OWN.has(name));

const pickVariables = (env: Environment, isPassed: (name: string) => boolean): Environment =>
  Object.fromEntries(Object.entries(env).filter(([name]) => isPassed(name)));
