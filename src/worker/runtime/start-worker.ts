import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { CommandContext } from "../../shared/command-context.ts";
import { connectDatabase, connectQueueDatabase } from "../../shared/db/connect.ts";
import type { Database } from "../../shared/db/database.ts";
import { CANCEL_CHANNEL, JOBS_CHANNEL, completeBatches } from "../../shared/db/jobs/batches.ts";
import type { CompletedBatch } from "../../shared/db/jobs/batches.ts";
import { claimJob } from "../../shared/db/jobs/claim-job.ts";
import { settleRun } from "../../shared/db/jobs/settle-run.ts";
import type { Settled } from "../../shared/db/jobs/settle-run.ts";
import { removeWorker } from "../../shared/db/jobs/workers.ts";
import { openQueue } from "../../shared/queue.ts";
import type { JobQueue } from "../../shared/queue.ts";
import { checkpointEmbedded } from "./checkpoint.ts";
import { startDispatcher } from "./dispatcher.ts";
import { keepLeases } from "./lease-keeper.ts";
import { processDelivery } from "./process-delivery.ts";
import type { FinishedRun } from "./process-delivery.ts";
import { runsInHand } from "./runs-in-hand.ts";
import type { RunsInHand } from "./runs-in-hand.ts";
import type { RunJob } from "./run-job.ts";

export type RunningWorker = {
  readonly database: Database;
  readonly runs: RunsInHand;
  /** Takes no new job, gives those in hand `graceMs` to end, and hands back the rest. */
  stop(graceMs: number): Promise<void>;
};

/** How many other open jobs may be left when it is still worth asking whether the batch has ended. */
const NEARLY_DONE = 64;

/** Connects a worker and starts it. `run` does the work of one job; all else is delivery. */
export async function startWorker(
  context: CommandContext,
  concurrency: number,
  createRun: (database: Database) => RunJob,
): Promise<RunningWorker> {
  const { config, invocation, logger } = context;
  const onError = (err: unknown) => {
    logger.warn({ err }, "queue or database connection broke; it is opened again");
  };
  const connection = {
    config,
    packageRoot: invocation.packageRoot,
    create: "create",
    onError,
  } as const;
  const database = await connectDatabase({ ...connection, maxConnections: concurrency + 3 });
  const queueDatabase =
    config.queue.backend === "postgres"
      ? connectQueueDatabase({ ...connection, maxConnections: concurrency + 4 })
      : undefined;
  const queue = openQueue(
    queueDatabase === undefined
      ? { backend: "redis", url: config.queue.redis_url, prefix: config.queue.prefix }
      : { backend: "postgres", database: queueDatabase },
    onError,
  );
  const worker = {
    workerId: randomUUID(),
    host: hostname(),
    pid: process.pid,
    version: invocation.version,
    concurrency,
  };
  const runs = runsInHand();
  const run = createRun(database);
  const onCompleted = (batches: readonly CompletedBatch[]) => {
    for (const { batchId } of batches) logger.info({ batch_id: batchId }, "batch completed");
    if (config.database.url === "embedded" && batches.some(({ origin }) => origin === "file")) {
      checkpointEmbedded(database, logger);
    }
  };

  const leases = keepLeases({ database, worker, runs, logger });
  const dispatcher = startDispatcher({ database, queue, logger, onCompleted });
  const deliveries = queue.work(concurrency, (delivery) =>
    processDelivery(delivery, {
      runs,
      logger,
      run,
      claim: (current) => claimJob(database, current, worker.workerId),
      settle: (finished) => settleAndComplete(database, finished, onCompleted),
    }),
  );
  const subscription = await database.listen(
    [JOBS_CHANNEL, CANCEL_CHANNEL],
    (channel) => {
      (channel === CANCEL_CHANNEL ? leases : dispatcher).wake();
    },
    () => {
      dispatcher.wake();
      leases.wake();
    },
  );
  await deliveries.ready();
  logger.info(
    { worker_id: worker.workerId, concurrency, queue: config.queue.backend },
    "worker ready",
  );

  return {
    database,
    runs,
    async stop(graceMs) {
      await dispatcher.stop();
      await closeWithin(deliveries, graceMs, runs);
      await leases.stop();
      await removeWorker(database, worker.workerId).catch(onError);
      await subscription.close();
      await closeQueue(queue, queueDatabase);
      await database.end();
    },
  };
}

async function settleAndComplete(
  database: Database,
  { job, runMs, settlement, record }: FinishedRun,
  onCompleted: (batches: readonly CompletedBatch[]) => void,
): Promise<Settled | undefined> {
  const settled = await settleRun(database, { runId: job.runId, runMs }, settlement, record);
  if (settled !== undefined && settled.remaining < NEARLY_DONE) {
    onCompleted(await completeBatches(database, job.batchId));
  }
  return settled;
}

async function closeWithin(
  deliveries: { close(): Promise<void> },
  graceMs: number,
  runs: RunsInHand,
): Promise<void> {
  const timer = setTimeout(() => {
    runs.abortAll("stopping");
  }, graceMs);
  await deliveries.close();
  clearTimeout(timer);
}

async function closeQueue(queue: JobQueue, queueDatabase: Database | undefined): Promise<void> {
  await queue.close();
  await queueDatabase?.end();
}
