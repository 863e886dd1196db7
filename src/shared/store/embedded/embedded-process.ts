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
  /** Whether to create a database in a directory without one; otherwise that is an error. */
  readonly create: "create" | "must-exist";
  /** The script that understands `database --directory DIR`: the nightdesk bin. */
  readonly bin: string;
  /** Called before the process starts, which takes a second or more until it listens. */
  readonly onStart?: (() => void) | undefined;
};

/** `host` is the folder of the socket, as node-postgres and psql expect it. */
type EmbeddedAddress = { readonly host: string; readonly port: number };

const START_DEADLINE_MS = 60_000;
const POLL_MS = 25;
// Delay before another start when a process lost the race for the lock: the winner may be about to exit.
const RETRY_MS = 500;
const KILL_DEADLINE_MS = 10_000;

/**
 * Finds the database process of a directory, or starts it and waits until it listens. Many callers in many processes may call it
 * at the same time: the lock on the directory admits one server.
 * @throws Failure NOT_FOUND with `must-exist` when there is no database; DATABASE_UNREACHABLE when the server does not start
 * within 60 s, with the end of its log
 */
export async function ensureEmbedded(options: EmbeddedOptions): Promise<EmbeddedAddress> {
  await prepareDirectory(options);
  const host = await socketDirectory(options.directory);
  const deadline = performance.now() + START_DEADLINE_MS;
  while (!(await isAnswering(host))) {
    if (performance.now() > deadline) throw startTimeout(options.directory);
    // Another caller has started a server, or a server hangs and is about to be killed.
    if ((await servingPid(options.directory)) !== undefined) {
      await waitForAnswer(host, performance.now() + RETRY_MS);
      continue;
    }
    options.onStart?.();
    const started = startEmbedded(options.directory, options.bin);
    await waitForAnswer(host, deadline, started);
    await checkExit(options.directory, started);
  }
  return { host, port: EMBEDDED_PORT };
}

/**
 * After a failure, callers get the same failure for this long, doubled after each further one: steady retries start few
 * processes.
 */
const FAILED_MS = 2_000;
const FAILED_LONG_MS = 30_000;

/** `ensureEmbedded` for many callers in one process: concurrent calls share one attempt. */
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
  // Also for an existing directory: anybody who can enter it is the database's superuser.
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

/** Waits until the server answers; stops soon after the started process has ended. */
async function waitForAnswer(host: string, deadline: number, started?: StartedProcess) {
  let end = deadline;
  while (performance.now() < end) {
    if (await isAnswering(host)) return;
    if (started?.exit() !== undefined) end = Math.min(end, performance.now() + RETRY_MS);
    if (started !== undefined && hasFailed(started)) return;
    await delay(POLL_MS);
  }
}

const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
const BUSY_MS = 10_000;

// A connect alone proves nothing: for a moment the system still accepts connections for a killed process. While a long statement
// runs the server reads nothing, so a busy server counts as answering; its new clients must wait as well.
const isAnswering = async (host: string): Promise<boolean> =>
  (await probeSocket(host, BUSY_MS)) !== "gone";

const AT_ONCE_MS = 1_000;

/** Whether the database process behind a folder's socket is alive but reads nothing at this moment. */
export const isBusy = async (host: string): Promise<boolean> =>
  (await probeSocket(host, AT_ONCE_MS)) === "busy";

const probeSocket = (host: string, withinMs: number): Promise<"answers" | "busy" | "gone"> =>
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

// Status 0: a user stopped the server while it started.
const hasFailed = (started: StartedProcess): boolean => {
  const exit = started.exit();
  return exit !== undefined && exit.status !== 0 && exit.status !== ALREADY_SERVED;
};

async function checkExit(directory: string, started: StartedProcess): Promise<void> {
  if (!hasFailed(started)) return;
  const exit = started.exit();
  // On a full disk the log is empty as well.
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

/** With less free space the embedded database can't write a page of each of its files. */
const LEAST_BYTES = 1024 * 1024;

/** Whether the disk of a folder is too full for the embedded database. */
export async function isDiskFull(folder: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize < LEAST_BYTES;
}

const asSentence = (words: string): string => (/[.!?]$/.test(words) ? words : `${words}.`);

const startTimeout = (directory: string): Failure =>
  new Failure(
    "DATABASE_UNREACHABLE",
    `The embedded database in ${directory} did not answer within ${START_DEADLINE_MS / 1000} s. ` +
      `Look into ${path.join(directory, "database.log")}, and try again.`,
  );

/**
 * Ends the database process of a directory, if there is one: by SIGTERM, or by SIGKILL when it still runs after the grace time
 * because a long statement blocks it. SIGKILL loses no acknowledged row. The next `ensureEmbedded` starts the process again.
 * @param graceMs time for SIGTERM, in milliseconds
 * @throws Failure DATABASE_UNREACHABLE when it survives both
 */
export async function stopEmbedded(directory: string, graceMs = 5_000): Promise<void> {
  const pid = await servingPid(directory);
  if (pid === undefined) return;
  if (await endBySignal(pid, "SIGTERM", graceMs)) return;
  if (await endBySignal(pid, "SIGKILL", KILL_DEADLINE_MS)) return;
  if (await isFree(directory)) return;
  throw new Failure(
    "DATABASE_UNREACHABLE",
    `The embedded database in ${directory} (process ${pid}) can't be stopped. Stop it by hand.`,
  );
}

// When nobody holds the lock, the process id in the file may belong to an unrelated process by now.
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

async function endBySignal(
  pid: number,
  signal: NodeJS.Signals,
  withinMs: number,
): Promise<boolean> {
  const end = performance.now() + withinMs;
  for (let next: NodeJS.Signals | 0 = signal; sendSignal(pid, next); next = 0) {
    if (performance.now() > end) return false;
    await delay(POLL_MS);
  }
  return true;
}

function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (hasCode(error, "ESRCH")) return false;
    throw error;
  }
}

/** Exit status of a database process when another one serves its directory already. */
export const ALREADY_SERVED = 75;

type Exit = { readonly status: number | null; readonly signal: string | null };

type StartedProcess = {
  /** Status or signal of its end; undefined while it runs. */
  exit(): Exit | undefined;
  /** The last log lines of the process, joined to one line. */
  lastWords(): Promise<string>;
};

const MAX_LOG_BYTES = 1024 * 1024;
const LAST_LINES = 5;
const MAX_WORDS = 4_000;

/** Starts `bin database --directory DIR` as a detached process that outlives this one and logs to `<directory>/database.log`. */
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
    // Not every line is JSON of the logger: Node's own messages are plain text.
  }
  return line;
}
