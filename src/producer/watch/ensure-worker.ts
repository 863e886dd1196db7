import { spawn } from "node:child_process";
import { closeSync, openSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { withDatabase } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import { EXIT, isConfigurationCode } from "../../shared/commands/report-failure.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { hasCode } from "../../shared/store/connection/errors.ts";
import { evaluateHolds } from "../../shared/store/jobs/holds.ts";
import { hasWork } from "../../shared/store/jobs/waiting.ts";
import { countAliveWorkers, selectAliveWorkers } from "../../shared/store/jobs/workers.ts";
import { Failure } from "../../shared/failure.ts";
import { findObstacles, findQueueFault, checkDisk, startOf } from "./obstacles.ts";

type WorkerKeeper = {
  /** Call it repeatedly while the command waits; most calls do nothing. */
  check(): Promise<void>;
  /** QUEUE_UNREACHABLE if the queue did not respond to the last check. */
  queueFault(): Failure | undefined;
  /** Stops the worker that this command started. */
  stop(): void;
};

const CHECK_EVERY_MS = 1_000;
const PRINT_AFTER_MS = 3_000;
const QUEUE_EVERY_MS = 5_000;
const MOST_FAILURES = 5;

/**
 * Opens the database of a command that waits for jobs. If an embedded database has to be started, a worker is started at the
 * same time, because no worker runs on a stopped database.
 */
export const withWorkedDatabase = <T>(
  context: CommandContext,
  body: (database: Database) => Promise<T>,
): Promise<T> =>
  withDatabase(context, "create", body, () => {
    if (!startedEarly.has(context)) startedEarly.set(context, startDrainWorker(context));
  });

const startedEarly = new WeakMap<CommandContext, DrainWorker>();

/** Ensures a worker while the command waits: starts one (embedded database), or reports that there is none. */
export const ensureWorker = (context: CommandContext, database: Database): WorkerKeeper =>
  context.config.database.url === "embedded"
    ? startWhenNoneIsAlive(context, database)
    : printWhenNoneIsAlive(context, database);

function printWhenNoneIsAlive(context: CommandContext, database: Database): WorkerKeeper {
  let nextCheckAt = performance.now() + PRINT_AFTER_MS;
  let hasChecked = false;
  let fault: Failure | undefined;
  return {
    async check() {
      if (performance.now() < nextCheckAt) return;
      fault = await findQueueFault(context);
      nextCheckAt = performance.now() + QUEUE_EVERY_MS;
      if (hasChecked) return;
      hasChecked = true;
      if ((await countAliveWorkers(database, null)) > 0) return;
      context.terminal.say(`No worker is alive; start one with: ${startOf(context)}`);
    },
    queueFault: () => fault,
    stop: () => undefined,
  };
}

function startWhenNoneIsAlive(context: CommandContext, database: Database): WorkerKeeper {
  let worker: DrainWorker | undefined;
  let failures = 0;
  let nextCheckAt = 0;
  let isMisconfigured = false;
  let isFullPrinted = false;
  const printDiskFull = async (): Promise<void> => {
    const full = isFullPrinted ? undefined : await checkDisk(context);
    if (full === undefined) return;
    isFullPrinted = true;
    context.terminal.say(`${full.message}.`);
  };
  const watch = (started: DrainWorker) => {
    worker = started;
    void started.ended.then((status) => {
      worker = undefined;
      isMisconfigured = status === EXIT.config;
      // A worker that parked jobs because their host is down has done its work.
      const isDone = status === EXIT.ok || status === EXIT.tryLater;
      failures = isDone ? 0 : failures + 1;
      // A failed worker is restarted after 1, 2, 4 and 8 s.
      nextCheckAt = performance.now() + CHECK_EVERY_MS * 2 ** Math.max(0, failures - 1);
    });
  };
  const early = startedEarly.get(context);
  if (early !== undefined) watch(early);
  return {
    async check() {
      // A restart would fail in the same way.
      if (isMisconfigured) throw await failureOfWorker(context);
      // A live worker waits for disk space silently.
      await printDiskFull();
      if (worker !== undefined || performance.now() < nextCheckAt) return;
      if (failures >= MOST_FAILURES) {
        await refuseFullDisk(context, database);
        throw workerKeepsFailing(context);
      }
      nextCheckAt = performance.now() + CHECK_EVERY_MS;
      if (await isAnyWorkerAlive(database)) return;
      // Without a worker, no other process notices that a window has opened.
      await evaluateHolds(database);
      if (await hasWork(database)) watch(startDrainWorker(context));
    },
    queueFault: () => undefined,
    stop: () => worker?.stop(),
  };
}

/** The row of a killed worker looks alive for 15 s; on this machine its process can be checked. */
async function isAnyWorkerAlive(database: Database): Promise<boolean> {
  const workers = await selectAliveWorkers(database);
  return workers.some(({ host, pid }) => host !== hostname() || isRunning(pid));
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process exists, and belongs to another user.
    return !hasCode(error, "ESRCH");
  }
}

/** On a full disk every worker fails soon, and its log is lost. */
async function refuseFullDisk(context: CommandContext, database: Database): Promise<void> {
  const obstacles = await findObstacles(context, database);
  const full = obstacles.find(({ what }) => what === "disk_full");
  if (full !== undefined) throw new Failure("DISK_FULL", `${full.message}.`);
}

const LOGGED_ERROR = /^nightdesk: ([A-Z_]+): (.*)$/;

/** The last error in the log of a worker that ended with exit status 78. */
async function failureOfWorker(context: CommandContext): Promise<Failure> {
  const log = await readFile(workerLogOf(context), "utf8");
  const [, code = "", message = ""] =
    log
      .split("\n")
      .map((line) => LOGGED_ERROR.exec(line))
      .findLast((found) => found !== null) ?? [];
  return isConfigurationCode(code) ? new Failure(code, message) : workerKeepsFailing(context);
}

const workerKeepsFailing = (context: CommandContext): Failure =>
  new Failure(
    "INTERNAL_ERROR",
    `The worker ended ${MOST_FAILURES} times before the work was done; its log is ${workerLogOf(context)}. ` +
      "The queued work is kept: start `nightdesk worker` once the cause is gone.",
  );

const LARGE_LOG_BYTES = 5_000_000;

type DrainWorker = {
  /** Resolves with the exit status, or null for a death by signal. */
  readonly ended: Promise<number | null>;
  stop(): void;
};

/** The log file of the worker that `startDrainWorker` starts. */
const workerLogOf = ({ config }: CommandContext): string =>
  join(config.roots.databaseDirectory, "worker.log");

/**
 * Starts `nightdesk worker --drain` with this command's configuration. It does not keep the command running, and
 * goes on with other waiting jobs after the command has its answer.
 */
function startDrainWorker(context: CommandContext): DrainWorker {
  const log = openLog(workerLogOf(context));
  const child = spawn(process.execPath, workerArguments(context), {
    cwd: context.invocation.cwd,
    stdio: ["ignore", "ignore", log],
    // Detached from the terminal, because a hang-up would kill it silently; `stop` forwards Ctrl-C.
    detached: true,
  });
  closeSync(log);
  child.unref();
  return {
    ended: new Promise((resolve) => {
      child.once("exit", resolve);
      child.once("error", () => {
        resolve(null);
      });
    }),
    stop: () => void child.kill("SIGTERM"),
  };
}

const LINGER_SECONDS = "30";

function workerArguments({ config, invocation }: CommandContext): string[] {
  const { packageRoot, options } = invocation;
  const flags = [
    ["--config", config.file],
    ["--workroot", config.roots.workroot],
    // A person who asks about a folder soon asks again: the worker still runs then.
    ["--linger", config.ask.index_first_s === null ? undefined : LINGER_SECONDS],
    ["--ollama-base-url", options["ollamaBaseUrl"]],
    ["--log-level", options["logLevel"]],
  ].flatMap(([flag, value]) => (typeof value === "string" ? [String(flag), value] : []));
  return [join(packageRoot, "bin", "nightdesk.js"), "worker", "--drain", ...flags];
}

function openLog(file: string): number {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return openSync(file, size > LARGE_LOG_BYTES ? "w" : "a", 0o600);
}
