import { once } from "node:events";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { openContext, withDatabase } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { selectWaitingForHosts } from "../../shared/store/jobs/waiting.ts";
import { countAliveWorkers } from "../../shared/store/jobs/workers.ts";
import type { Config } from "../../shared/config/schema.ts";
import type { Logger } from "../../shared/logger.ts";
import { createModels } from "../models/create-model.ts";
import {
  entailmentSettingsOf,
  policyOf,
  rerankerSettingsOf,
  textExtractionOf,
} from "../settings.ts";
import { createRunJob } from "../jobs/run-job.ts";
import { assertSchedules } from "../services/background.ts";
import { startWorker } from "../start.ts";
import type { RunningWorker } from "../start.ts";
import { waitUntilIdle } from "../connect.ts";
import { openSandbox } from "../sandbox/open-sandbox.ts";

/** Time for current runs to end after SIGTERM; after that they are handed back. */
const GRACE_MS = 10_000;
/** The latest exit after a signal, even if the queue or the database does not answer. */
const LEAVE_MS = GRACE_MS + 2_000;

export const worker: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  if (invocation.options["health"] === true) return checkHealth(context);
  return work(context, invocation.options["drain"] === true ? "until-idle" : "for-ever");
};

/**
 * Works until a signal arrives, or until nothing is left to do.
 * @returns EXIT.tryLater if the remaining jobs wait for a model host
 */
export async function work(
  context: CommandContext,
  until: "for-ever" | "until-idle",
): Promise<number> {
  const { logger } = context;
  const stopping = new AbortController();
  const signals = listenForSignals((name) => {
    logger.info({ signal: name }, "stopping: no new jobs; what runs may finish");
    stopping.abort();
    leaveLater(logger);
  });
  const running = await startUnlessStopped(() => startChecked(context), stopping.signal);
  if (running === "stopped") {
    signals.close();
    logger.info("stopped before it had started");
    leaveSoon(logger);
    return EXIT.ok;
  }
  signals.onSecond(() => {
    running.runs.requeue();
  });
  try {
    const done =
      until === "for-ever"
        ? untilAborted(stopping.signal)
        : waitUntilIdle(
            running,
            stopping.signal,
            Number(context.invocation.options["linger"] ?? 0),
          );
    await Promise.race([done, running.outdated]);
    if (until === "until-idle" && !stopping.signal.aborted)
      return await reportLeftJobs(running, logger);
  } catch (error) {
    // A statement may fail on a changed schema before the watch notices the change.
    const outdated = await running.checkSchema().catch(() => undefined);
    if (outdated === undefined) throw error;
    logger.error({ err: outdated }, "stopping: no new jobs; what runs may finish");
    leaveLater(logger, EXIT.config);
    throw outdated;
  } finally {
    stopping.abort();
    const end = await running.stop(GRACE_MS);
    signals.close();
    logger.info("worker stopped");
    if (end === "left_open") leaveSoon(logger);
  }
  return EXIT.ok;
}

/** Reports jobs that are left for a later worker: otherwise whoever started this one would assume that all is done. */
async function reportLeftJobs({ database }: RunningWorker, logger: Logger): Promise<number> {
  const { jobs, hosts } = await selectWaitingForHosts(database);
  if (jobs === 0) return EXIT.ok;
  logger.warn(
    { jobs, hosts },
    "jobs wait for a model host that is down or busy: run this again when it is back, or start a worker that stays",
  );
  return EXIT.tryLater;
}

/** A worker that becomes ready this soon after the signal is stopped in order. */
const START_GRACE_MS = 2_000;

/**
 * Reacts to a signal also while the worker starts, whatever it waits for.
 * @returns `stopped` if it has not started, or failed to, before the signal ended the wait
 */
async function startUnlessStopped(
  begin: () => Promise<RunningWorker>,
  stopping: AbortSignal,
): Promise<RunningWorker | "stopped"> {
  const starting = begin();
  const isWanted = untilAborted(stopping).then(() => sleep(START_GRACE_MS, "stopped" as const));
  try {
    return await Promise.race([starting, isWanted]);
  } catch (error) {
    if (stopping.aborted) return "stopped";
    throw error;
  } finally {
    // Nobody waits for this promise any more, so its rejection is ignored.
    starting.catch(() => undefined);
  }
}

async function startChecked(context: CommandContext): Promise<RunningWorker> {
  const { config, invocation } = context;
  assertSchedules(context);
  await assertUsable(config);
  const requested = invocation.options["concurrency"];
  const concurrency = typeof requested === "number" ? requested : config.queue.concurrency;
  return startWorker(context, concurrency, (database) => createRunJob(context, database));
}

/** Checks at the start what every job needs, instead of letting each job of the night fail. */
async function assertUsable(config: Config): Promise<void> {
  createModels(config);
  const entailment = entailmentSettingsOf(config);
  if (entailment !== null) {
    const { checkEntailmentModel } = await import("../embedders/transformers/entailment.ts");
    await checkEntailmentModel(entailment, config.roots.workroot);
  }
  const reranker = rerankerSettingsOf(config);
  if (reranker !== null) {
    const { checkReranker } = await import("../embedders/transformers/reranker.ts");
    await checkReranker(reranker, config.roots.workroot);
  }
  if (config.documents.from === "store") return;
  const sandbox = await openSandbox(policyOf(config), textExtractionOf(config));
  sandbox.close();
}

const leaveLater = (logger: Logger, code: number = EXIT.ok): void => {
  leaveAfter(LEAVE_MS, logger, code);
};

/** Exits even if open connections would keep the process alive. */
const leaveSoon = (logger: Logger): void => {
  leaveAfter(0, logger, EXIT.ok);
};

/** Exits without closing: leases of held jobs expire a moment later, and another worker continues them. */
function leaveAfter(delayMs: number, logger: Logger, code: number): void {
  setTimeout(() => {
    logger.warn(
      "left without closing: the queue or the database does not answer, or a long statement such as the making of an index still " +
        "runs; another worker goes on with what it held",
    );
    // process.exitCode is the status of a command that has ended meanwhile, as after an error.
    process.exit(process.exitCode ?? code);
  }, delayMs).unref();
}

async function checkHealth(context: CommandContext): Promise<number> {
  const alive = await withDatabase(context, "must-exist", (database) =>
    countAliveWorkers(database, hostname()),
  );
  context.terminal.say(
    alive > 0 ? `workers of this host alive: ${alive}` : "no worker of this host is alive",
  );
  return alive > 0 ? EXIT.ok : EXIT.error;
}

const untilAborted = async (signal: AbortSignal): Promise<void> => {
  if (!signal.aborted) await once(signal, "abort");
};

type Signals = { onSecond(action: () => void): void; close(): void };

const STOPPING = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** The first signal requests a stop, the second hands back current runs at once. */
function listenForSignals(onFirst: (name: string) => void): Signals {
  let seen = 0;
  let second = (): void => undefined;
  const handle = (name: NodeJS.Signals) => {
    seen += 1;
    if (seen === 1) onFirst(name);
    else second();
  };
  for (const name of STOPPING) process.on(name, handle);
  return {
    onSecond(action) {
      second = action;
    },
    close() {
      for (const name of STOPPING) process.off(name, handle);
    },
  };
}
