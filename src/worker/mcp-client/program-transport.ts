import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { Socket } from "node:net";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { ReadBuffer, serializeMessage } from "@modelcontextprotocol/client";
import type { Transport } from "@modelcontextprotocol/client";
import { cleanForTerminal } from "../../shared/terminal/styled-text.ts";
import { signalGroup } from "../child-process.ts";

export type Program = {
  readonly file: string;
  readonly args: readonly string[];
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
};

export type ProgramTransport = Transport & {
  /** Kills the program and its children. */
  kill(): void;
  /** How it ended, as a clause; null while it runs. */
  ended(): string | null;
};

const MOST_MESSAGE_BYTES = 4_000_000;
const MOST_STDERR_CHARS = 300;
const END_MS = 2_000;
const LAST_REPLY_MS = 500;

/**
 * Starts a server that talks on stdin and stdout. It leads its own process group, which ends with it. Its environment is
 * exactly `env`; the transport of the client package would add variables, and is not used for that reason.
 * The program alone does not keep this process alive; a pending request does.
 */
export function programTransport({ file, args, env, cwd }: Program): ProgramTransport {
  const buffer = new ReadBuffer({ maxBufferSize: MOST_MESSAGE_BYTES });
  let child: ReturnType<typeof start> | undefined;
  let stderrEnd = "";
  let ended: string | null = null;
  const kill = (signal: "SIGTERM" | "SIGKILL" = "SIGKILL") => {
    if (child !== undefined) signalGroup(child.pid, signal);
  };
  const markEnded = (why: string) => {
    if (ended !== null) return;
    const last = cleanForTerminal(stderrEnd.trim().split("\n").at(-1) ?? "");
    ended = last === "" ? why : `${why}: ${last}`;
    transport.onclose?.();
  };
  const read = (chunk: Buffer) => {
    try {
      buffer.append(chunk);
      for (;;) {
        const message = buffer.readMessage();
        if (message === null) return;
        transport.onmessage?.(message);
      }
    } catch (error) {
      transport.onerror?.(error instanceof Error ? error : new Error(String(error)));
      // After a broken line the stream can't be parsed any more.
      kill();
    }
  };
  const transport: ProgramTransport = {
    async start() {
      const started = start({ file, args, env, cwd });
      child = started;
      started.stdout.on("data", read);
      started.stderr.on("data", (chunk: Buffer) => {
        stderrEnd = (stderrEnd + chunk.toString("utf8")).slice(-MOST_STDERR_CHARS);
      });
      started.stdin.on("error", () => undefined);
      started.once("exit", (code, signal) => {
        // Its children may still run.
        kill();
        const end = () => {
          markEnded(`it ended ${signal === null ? `with ${code ?? "?"}` : `by ${signal}`}`);
        };
        // Its last reply may still be in the pipe, which a process outside of its group may hold open.
        started.once("close", end);
        setTimeout(end, LAST_REPLY_MS).unref();
      });
      await new Promise<void>((done, failed) => {
        started.once("spawn", done);
        started.once("error", (error) => {
          markEnded("it could not be started");
          failed(error);
        });
      });
    },
    async send(message) {
      if (child === undefined || ended !== null) throw new Error(ended ?? "it was not started");
      child.stdin.write(serializeMessage(message));
    },
    async close() {
      if (child === undefined || ended !== null) return;
      const gone = new Promise((done) => child?.once("exit", done));
      child.stdin.end();
      kill("SIGTERM");
      const killer = setTimeout(kill, END_MS);
      await gone;
      clearTimeout(killer);
    },
    kill,
    ended: () => ended,
  };
  return transport;
}

function start({ file, args, env, cwd }: Program) {
  const child = spawn(file, [...args], {
    cwd,
    env,
    stdio: ["pipe", "pipe", "pipe"],
    // Its own process group: its children end with it, and it does not receive Ctrl-C.
    detached: true,
  });
  child.unref();
  // Pipes are sockets, whatever their types say.
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    if (stream instanceof Socket) stream.unref();
  }
  return child;
}

/** Finds a program: by its path, relative to `folder`, or in the PATH; undefined if there is none. */
export function findProgram(command: string, folder: string, path: string): string | undefined {
  const candidates = command.includes("/")
    ? [isAbsolute(command) ? command : resolve(folder, command)]
    : path
        .split(delimiter)
        .filter((part) => isAbsolute(part))
        .map((part) => join(part, command));
  return candidates.find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
