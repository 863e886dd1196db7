import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { SECRETS_FOLLOW, secretsOf, STOP_WITH_PARENT } from "../shared/child-process.ts";
import type { Invocation } from "../shared/commands/command.ts";
import type { Config } from "../shared/config/schema.ts";
import { cleanMessage } from "../shared/terminal/styled-text.ts";
import { formatCount } from "../shared/views/quantity.ts";
import { Refused } from "./failures.ts";
import { takeTurns } from "../shared/take-turns.ts";

export type CommandEnd = {
  /** Null if the command was killed. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** Runs a command of Nightdesk without a shell, and waits for its end. */
export type RunCommand = (words: readonly string[], limits: CommandLimits) => Promise<CommandEnd>;

export type CommandLimits = {
  readonly timeMs: number;
  /** Its stdin. */
  readonly input?: string | Readable;
};

const MOST_OUTPUT = 8_000_000;
const MOST_WAITING = 8;

export type StartCommand = (words: readonly string[]) => ChildProcess;

/** Starts commands of Nightdesk. Each ends with this process, and uses the same configuration. */
export function commandStarter(
  { env, packageRoot }: Pick<Invocation, "env" | "packageRoot">,
  { file, roots }: Config,
): StartCommand {
  const secrets = secretsOf(env);
  const plain = Object.fromEntries(
    Object.entries(env).filter(([name]) => !Object.hasOwn(secrets, name)),
  );
  return (words) => {
    const bin = join(packageRoot, "bin", "nightdesk.js");
    const child = spawn(
      process.execPath,
      [
        bin,
        ...words.slice(0, 1),
        "--config",
        file,
        "--workroot",
        roots.workroot,
        ...words.slice(1),
      ],
      {
        cwd: roots.workroot,
        env: { ...plain, NO_COLOR: "1", [STOP_WITH_PARENT]: "1", [SECRETS_FOLLOW]: "1" },
        stdio: ["pipe", "pipe", "pipe", "ipc"],
      },
    );
    if (child.connected) child.send(secrets, () => undefined);
    return child;
  };
}

/**
 * Runs a limited number of commands at once. Each is killed when its time is up.
 * @param what is busy, for the message of the refusal
 * @throws Refused 503 for a timeout, or if too many wait
 */
export function openCommands(start: StartCommand, atOnce: number, what: string): RunCommand {
  const inTurn = takeTurns(atOnce, MOST_WAITING, what);
  return (words, { timeMs, input = "" }) =>
    inTurn(() => {
      const child = start(words);
      if (child.stdin !== null) feedStdin(child.stdin, input);
      return endOf(child, words, timeMs);
    });
}

/** A child that ends early reports why by itself. If the input breaks off, stdin ends, and the child notices that it is short. */
function feedStdin(stdin: Writable, input: string | Readable): void {
  stdin.on("error", () => undefined);
  if (typeof input === "string") stdin.end(input);
  else {
    stdin.once("close", () => input.destroy());
    input.on("error", () => stdin.end()).pipe(stdin);
  }
}

function endOf(child: ChildProcess, words: readonly string[], timeMs: number): Promise<CommandEnd> {
  const output = { stdout: "", stderr: "" };
  let hasTimedOut = false;
  let isTooLong = false;
  const timer = setTimeout(() => {
    hasTimedOut = true;
    child.kill("SIGKILL");
  }, timeMs);
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
      isTooLong ||= output[name].length > MOST_OUTPUT;
      if (isTooLong) child.kill("SIGKILL");
    });
  }
  return new Promise<CommandEnd>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      if (hasTimedOut) {
        const message = `nightdesk ${words[0] ?? ""} did not end within ${timeMs / 1_000} s and was stopped.`;
        reject(new Refused({ status: 503, code: "BUSY", message }));
      } else resolve(isTooLong ? tooLongEnd(words) : { code, ...output });
    });
  }).finally(() => {
    clearTimeout(timer);
  });
}

/** A part of an output could be taken for the whole: it may have ended before it was killed. */
const tooLongEnd = ([name = ""]: readonly string[]): CommandEnd => ({
  code: null,
  stdout: "",
  stderr: `The output has over ${formatCount(MOST_OUTPUT)} characters, which is too much for a page. Narrow it, or use the command: nightdesk ${name}`,
});

/** Parses the lines of JSON that a command printed. */
export function jsonLinesOf({ stdout }: CommandEnd): readonly unknown[] {
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line): unknown => JSON.parse(line));
}

/** The failure message of a command, for people. */
export const failureTextOf = (end: CommandEnd): string => hintsOf(end) || cleanOutput(end.stdout);

/** The hints of a successful command, such as that no worker is alive; mostly empty. */
export const hintsOf = ({ stderr }: CommandEnd): string => cleanOutput(stderr);

const cleanOutput = (text: string): string => cleanMessage(text.trim()).slice(0, MOST_WORDS);

const MOST_WORDS = 4_000;
