import { spawn } from "node:child_process";
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  renameSync,
  statSync,
} from "node:fs";
import { access, chmod, mkdir, readFile, statfs } from "node:fs/promises";
import { createConnection } from "node:net";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Failure } from "../../failure.ts";
import { hasCode, NOT_WRITABLE, SAYS_DISK_FULL } from "../connection/errors.ts";
import { EMBEDDED_PORT, lockDirectory, socketDirectory, socketFile } from "./embedded-directory.ts";

type EmbeddedOptions = {
  /** Absolute; holds the data, the socket, the lock and the log. */
  readonly directory: string;
  /** Whether a directory without a database is an error or the beginning of one. */
  readonly create: "create" | "must-exist";
  /** The script that understands `database --directory DIR`: the nightdesk bin. */
  readonly bin: string;
  /** Called before the process is started: it listens a second or more later. */
  readonly onStart?: (() => void) | undefined;
};

/** `host` is the folder of the socket, as node-postgres and psql take it. */
type EmbeddedAddress = { readonly host: string; readonly port: number };

const START_DEADLINE_MS = 60_000;
const POLL_MS = 25;
// A process that lost the race for the lock is started again this much later: the winner may be on its way out.
const RETRY_MS = 500;
const KILL_DEADLINE_MS = 10_000;

/**
 * Finds the database process of a directory, or starts it and waits until it listens. Any number of callers in
 * any number of processes may do so at once: the lock on the directory lets one server live.
 * @throws Failure NOT_FOUND with `must-exist` where no database is; DATABASE_UNREACHABLE with the server's last
 * words when it can't start, or does not within 60 s.
 */
export async function ensureEmbedded(options: EmbeddedOptions): Promise<EmbeddedAddress> {
  await prepareDirectory(options);
  const host = await socketDirectory(options.directory);
  const deadline = performance.now() + START_DEADLINE_MS;
  while (!(await answers(host))) {
    if (performance.now() > deadline) throw notInTime(options.directory);
    // Another caller has started one, or it hangs and is about to be killed.
    if ((await servingPid(options.directory)) !== undefined) {
      await untilAnswers(host, performance.now() + RETRY_MS);
      continue;
    }
    options.onStart?.();
    const started = startEmbedded(options.directory, options.bin);
    await untilAnswers(host, deadline, started);
    await checkExit(options.directory, started);
  }
  return { host, port: EMBEDDED_PORT };
}

/**
 * After a failure, how long the same failure is given, and twice as long after each that follows: whoever goes on trying starts few
 * processes.
 */
const FAILED_MS = 2_000;
const FAILED_LONG_MS = 30_000;

/** The same, for many callers in one process: those who ask at the same time share one attempt. */
export function sharedEnsure(options: EmbeddedOptions): () => Promise<EmbeddedAddress> {
  let pending: Promise<EmbeddedAddress> | undefined;
  let pauseMs = FAILED_MS;
  const forget = () => {
    pending = undefined;
  };
  const pause = () => {
    setTimeout(forget, pauseMs).unref();
    pauseMs = Math.min(2 * pauseMs, FAILED_LONG_MS);
  };
  const found = () => {
    pauseMs = FAILED_MS;
    forget();
  };
  return () => {
    if (pending === undefined) {
      pending = ensureEmbedded(options);
      pending.then(found, pause);
    }
    return pending;
  };
}

async function prepareDirectory({ directory, create }: EmbeddedOptions): Promise<void> {
  if (create === "create") return makeDirectory(directory).catch(refuseUnusable(directory));
  if (existsSync(directory)) await checkWritable(directory).catch(refuseUnusable(directory));
  if (existsSync(path.join(directory, "pgdata"))) return;
  throw new Failure(
    "NOT_FOUND",
    `There is nothing yet in ${directory}; run nightdesk up, nightdesk index or a command that queues work first.`,
  );
}

async function makeDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // It may be there already, made by hand: whoever enters it is the database's superuser.
  await chmod(directory, 0o700);
  await checkWritable(directory);
}

const checkWritable = (directory: string): Promise<void> =>
  access(directory, constants.R_OK | constants.W_OK | constants.X_OK);

const refuseUnusable =
  (directory: string) =>
  (cause: unknown): never => {
    if (!NOT_WRITABLE.some((code) => hasCode(cause, code))) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Failure(
      "CONFIG_ERROR",
      `The embedded database can't be kept in ${directory} (${reason}). Set database.directory to a folder that you can ` +
        "write, or run as the user whom this one belongs to.",
      { cause },
    );
  };

/** Waits for an answer; gives up soon after the started process has ended. */
async function untilAnswers(host: string, deadline: number, started?: StartedProcess) {
  let end = deadline;
  while (performance.now() < end) {
    if (await answers(host)) return;
    if (started?.exit() !== undefined) end = Math.min(end, performance.now() + RETRY_MS);
    if (started !== undefined && failedBy(started)) return;
    await delay(POLL_MS);
  }
}

const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
const BUSY_MS = 10_000;

// Connecting is not enough: for a moment the system still accepts for a process that was killed. Nothing is read while a
// long statement runs; who connects then has to wait for it, too.
const answers = async (host: string): Promise<boolean> => (await ask(host, BUSY_MS)) !== "gone";

const AT_ONCE_MS = 1_000;

/** Whether the database process that serves a folder's socket is there, and reads nothing at this moment. */
export const isBusy = async (host: string): Promise<boolean> =>
  (await ask(host, AT_ONCE_MS)) === "busy";

const ask = (host: string, withinMs: number): Promise<"answers" | "busy" | "gone"> =>
  new Promise((resolve) => {
    const socket = createConnection(socketFile(host), () => socket.write(SSL_REQUEST));
    const settle = (answer: "answers" | "busy" | "gone") => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("data", () => {
      settle("answers");
    });
    socket.setTimeout(withinMs, () => {
      settle("busy");
    });
    socket.once("error", () => {
      settle("gone");
    });
    socket.once("close", () => {
      settle("gone");
    });
  });

// Status 0 is a server that somebody stopped while it started.
const failedBy = (started: StartedProcess): boolean => {
  const exit = started.exit();
  return exit !== undefined && exit.status !== 0 && exit.status !== ALREADY_SERVED;
};

async function checkExit(directory: string, started: StartedProcess): Promise<void> {
  if (!failedBy(started)) return;
  const exit = started.exit();
  // On a full disk the log stays empty, too.
  const nothing = (await isDiskFull(directory)) ? "No space left on device" : "it wrote nothing";
  const words = (await started.lastWords()) || nothing;
  const how = exit?.signal ?? `status ${exit?.status ?? "unknown"}`;
  const isFull = SAYS_DISK_FULL.test(words);
  throw new Failure(
    isFull ? "DISK_FULL" : "DATABASE_UNREACHABLE",
    `The embedded database in ${directory} did not start (${how}): ${asSentence(words)} ` +
      `${isFull && !words.includes("Free some") ? "Free some space there. " : ""}Its log is ${path.join(directory, "database.log")}.`,
  );
}

/** With less the embedded database can't write a page of each of its files. */
const LEAST_BYTES = 1024 * 1024;

/** Whether the disk of a folder has no room for the embedded database to write. */
export async function isDiskFull(folder: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize < LEAST_BYTES;
}

const asSentence = (words: string): string => (/[.!?]$/.test(words) ? words : `${words}.`);

const notInTime = (directory: string): Failure =>
  new Failure(
    "DATABASE_UNREACHABLE",
    `The embedded database in ${directory} did not answer within ${START_DEADLINE_MS / 1000} s. ` +
      `Look into ${path.join(directory, "database.log")}, and try again.`,
  );

/**
 * Ends the database process of a directory, if there is one: SIGTERM, and SIGKILL when it still runs after the
 * grace time (a long statement blocks it). SIGKILL loses no row that was acknowledged. It is started again by
 * the next `ensureEmbedded`.
 * @param graceMs how long SIGTERM may take, in milliseconds
 * @throws Failure DATABASE_UNREACHABLE when it survives both
 */
export async function stopEmbedded(directory: string, graceMs = 5_000): Promise<void> {
  const pid = await servingPid(directory);
  if (pid === undefined) return;
  if (await endsAfter(pid, "SIGTERM", graceMs)) return;
  if (await endsAfter(pid, "SIGKILL", KILL_DEADLINE_MS)) return;
  if (await isFree(directory)) return;
  throw new Failure(
    "DATABASE_UNREACHABLE",
    `The embedded database in ${directory} (process ${pid}) can't be stopped. Stop it by hand.`,
  );
}

// The number in the file may be that of an unrelated process by now, unless somebody holds the lock.
async function servingPid(directory: string): Promise<number | undefined> {
  const text = await readFile(path.join(directory, "pid"), "utf8").catch(() => "");
  if (!/^\d+\n?$/.test(text) || (await isFree(directory))) return undefined;
  return Number(text);
}

async function isFree(directory: string): Promise<boolean> {
  const lock = await lockDirectory(directory);
  if (lock === "held") return false;
  lock.release();
  return true;
}

async function endsAfter(pid: number, signal: NodeJS.Signals, withinMs: number): Promise<boolean> {
  const end = performance.now() + withinMs;
  for (let next: NodeJS.Signals | 0 = signal; send(pid, next); next = 0) {
    if (performance.now() > end) return false;
    await delay(POLL_MS);
  }
  return true;
}

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (hasCode(error, "ESRCH")) return false;
    throw error;
  }
}

/** The status of a database process that found another one serving its directory. */
export const ALREADY_SERVED = 75;

type Exit = { readonly status: number | null; readonly signal: string | null };

type StartedProcess = {
  /** How it ended; undefined while it runs. */
  exit(): Exit | undefined;
  /** The last lines that it wrote to the log, as one line of text. */
  lastWords(): Promise<string>;
};

const MAX_LOG_BYTES = 1024 * 1024;
const LAST_LINES = 5;
const MAX_WORDS = 4_000;

/**
 * Starts `bin database --directory DIR` apart from this process: it goes on when this one ends, and writes
 * to `<directory>/database.log`.
 */
function startEmbedded(directory: string, bin: string): StartedProcess {
  const file = path.join(directory, "database.log");
  rotate(file);
  const log = openSync(file, "a", 0o600);
  const start = fstatSync(log).size;
  const child = spawn(
    process.execPath,
    [path.resolve(bin), "database", "--directory", path.resolve(directory)],
    { detached: true, stdio: ["ignore", log, log], cwd: directory },
  );
  closeSync(log);
  let exit: Exit | undefined;
  child.once("exit", (status, signal) => (exit = { status, signal }));
  child.once("error", () => (exit = { status: null, signal: null }));
  child.unref();
  return { exit: () => exit, lastWords: () => lastWords(file, start) };
}

function rotate(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found !== undefined && found.size > MAX_LOG_BYTES) renameSync(file, `${file}.old`);
}

async function lastWords(file: string, start: number): Promise<string> {
  const written = (await readFile(file)).subarray(start).toString();
  const lines = written.split("\n").filter((line) => line.trim() !== "");
  return lines.slice(-LAST_LINES).map(messageOf).join(" ").slice(0, MAX_WORDS);
}

function messageOf(line: string): string {
  try {
    const entry: unknown = JSON.parse(line);
    if (typeof entry === "object" && entry !== null && "msg" in entry) return String(entry.msg);
  } catch {
    // Not every line is the logger's: Node's own messages are plain text.
  }
  return line;
}
