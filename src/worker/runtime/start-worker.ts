import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { CommandContext } from "../../shared/command-context.ts";
import type { Database, Subscription } from "../../shared/db/database.ts";
import { CANCEL_CHANNEL, JOBS_CHANNEL, completeBatches } from "../../shared/db/jobs/batches.ts";
import type { CompletedBatch } from "../../shared/db/jobs/batches.ts";
import { claimJob } from "../../shared/db/jobs/claim-job.ts";
import { settleRun } from "../../shared/db/jobs/settle-run.ts";
import type { Settled } from "../../shared/db/jobs/settle-run.ts";
import { removeWorker } from "../../shared/db/jobs/workers.ts";
import type { WorkerFacts } from "../../shared/db/jobs/workers.ts";
import { checkpointEmbedded } from "./checkpoint.ts";
import { connectWorker } from "./connect-worker.ts";
import { startDispatcher } from "./dispatcher.ts";
import { keepLeases } from "./lease-keeper.ts";
import { processDelivery } from "./process-delivery.ts";
import type { FinishedRun } from "./process-delivery.ts";
import type { Repeating } from "./repeat.ts";
import { runsInHand } from "./runs-in-hand.ts";
import type { RunsInHand } from "./runs-in-hand.ts";
import type { RunJob } from "./run-job.ts";

export type RunningWorker = {
  readonly database: Database;
  readonly runs: RunsInHand;
  /** Takes no new job, gives those in hand `graceMs` to end, and hands back the rest. */
  stop(graceMs: number): Promise<void>;
};

/** Does the work of one job; all else is delivery. */
export type CreateRun = (database: Database) => RunJob;

/** Connects a worker and starts it. */
export async function startWorker(
  context: CommandContext,
  concurrency: number,
  createRun: CreateRun,
): Promise<RunningWorker> {
  const { invocation, logger } = context;
  const connections = await connectWorker(context, concurrency);
  const { database, queue } = connections;
  const worker = describeWorker(invocation.version, concurrency);
  const runs = runsInHand();
  const onCompleted = whenCompleted(context, database);

  const leases = keepLeases({ database, worker, runs, logger });
  const dispatcher = startDispatcher({ database, queue, logger, onCompleted });
  const run = createRun(database);
  const deliveries = queue.work(concurrency, (delivery) =>
    processDelivery(delivery, {
      runs,
      logger,
      run,
      claim: (current) => claimJob(database, current, worker.workerId),
      settle: (finished) => settleAndComplete(database, finished, onCompleted),
    }),
  );
  const subscription = await wakeOnNotification(database, { leases, dispatcher });
  await deliveries.ready();
  logger.info({ worker_id: worker.workerId, concurrency }, "worker ready");

  return {
    database,
    runs,
    async stop(graceMs) {
      await dispatcher.stop();
      await closeWithin(deliveries, graceMs, runs);
      await leases.stop();
      await removeWorker(database, worker.workerId).catch(connections.onError);
      await subscription.close();
      await connections.close();
    },
  };
}

const describeWorker = (version: string, concurrency: number): WorkerFacts => ({
  workerId: randomUUID(),
  host: hostname(),
  pid: process.pid,
  version,
  concurrency,
});

/** A batch that was loaded from a file and has ended is worth a dump of the embedded database. */
const whenCompleted =
  ({ config, logger }: CommandContext, database: Database) =>
  (batches: readonly CompletedBatch[]): void => {
    for (const { batchId } of batches) logger.info({ batch_id: batchId }, "batch completed");
    if (config.database.url === "embedded" && batches.some(({ origin }) => origin === "file")) {
      checkpointEmbedded(database, logger);
    }
  };

/** What a notification, or a gap in which one may have been missed, sets going. */
const wakeOnNotification = (
  database: Database,
  { leases, dispatcher }: { readonly leases: Repeating; readonly dispatcher: Repeating },
): Promise<Subscription> =>
  database.listen(
    [JOBS_CHANNEL, CANCEL_CHANNEL],
    (channel) => {
      (channel === CANCEL_CHANNEL ? leases : dispatcher).wake();
    },
    () => {
      dispatcher.wake();
      leases.wake();
    },
  );

/** How many other open jobs may be left when it is still worth asking whether the batch has ended. */
const NEARLY_DONE = 64;

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
