import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { CommandContext } from "../shared/command-context.ts";
import { translate } from "../shared/store/connection/database.ts";
import type { Database } from "../shared/store/connection/database.ts";
import { CANCEL_CHANNEL, JOBS_CHANNEL } from "../shared/store/jobs/batches.ts";
import type { CompletedBatch } from "../shared/store/jobs/batches.ts";
import { requeueMissing } from "../shared/store/jobs/dispatch.ts";
import { removeWorker } from "../shared/store/jobs/workers.ts";
import type { WorkerFacts } from "../shared/store/jobs/workers.ts";
import { connectWorker, whileStarting } from "./connect.ts";
import type { WorkerConnections } from "./connect.ts";
import { keepLeases, runsInHand } from "./delivery/in-flight.ts";
import type { RunsInHand } from "./delivery/in-flight.ts";
import { claimDelivery, processDelivery, settleFinished } from "./delivery/process-delivery.ts";
import { takeDeliveries } from "./delivery/take-deliveries.ts";
import type { DeliveryHandlers, TakenDeliveries } from "./delivery/take-deliveries.ts";
import { pacingSettingsOf } from "./hosts/pacing.ts";
import type { NightClock, PacingSettings } from "./hosts/pacing.ts";
import type { RunJob } from "./jobs/run-job.ts";
import { createFaultLog, inTime } from "./loop.ts";
import type { FaultLog, Repeating } from "./loop.ts";
import { BESIDE_CHANNELS, startBeside } from "./services/background.ts";
import type { Beside } from "./services/background.ts";
import { startDispatcher } from "./services/dispatcher.ts";
import { keepPace } from "./services/hosts.ts";
import { checkpointEmbedded, keepRetention, retentionOf } from "./services/retention.ts";
import { madeWithOf } from "./settings.ts";

export type RunningWorker = {
  readonly database: Database;
  readonly runs: RunsInHand;
  /**
   * Takes no new job, gives those in hand `graceMs` to end, and hands back the rest. A queue or a database that is
   * away does not keep it long: all that it could not tell them, leases and rows do.
   * @returns `left_open` when connections could not be closed, which would keep the process alive
   */
  stop(graceMs: number): Promise<"closed" | "left_open">;
};

/** What waits for the queue or the database when all results are stored already. */
const CLOSE_MS = 2_000;

/** Does the work of one job; all else is delivery. */
type CreateRun = (database: Database) => RunJob;

/** Connects a worker and starts it. @param clock that windows and deadlines go by */
export async function startWorker(
  context: CommandContext,
  concurrency: number,
  createRun: CreateRun,
  clock: NightClock = () => "database",
): Promise<RunningWorker> {
  const { invocation, logger, config } = context;
  const { version } = invocation;
  const faults = createFaultLog(logger);
  const connections = await connectWorker(context, concurrency, faults);
  const { database, queue } = connections;
  const upkeep = database.within("upkeep");
  const pacing = pacingSettingsOf(config);
  const worker = describeWorker(version, concurrency, pacing);
  const madeWith = madeWithOf(version, config);
  const runs = runsInHand();
  const onCompleted = whenCompleted(context, database);

  const leases = keepLeases({ database, worker, runs, faults });
  const dispatcher = startDispatcher({
    database: upkeep,
    queue,
    logger,
    faults,
    clock,
    windows: config.windows,
    onCompleted,
  });
  const retention = keepRetention({ database: upkeep, logger, faults }, retentionOf(config));
  const pace = keepPace({
    database: upkeep,
    settings: pacing,
    workerId: worker.workerId,
    logger,
    faults,
    clock,
  });
  const run = createRun(database);
  const process: DeliveryHandlers["process"] = (delivery) =>
    processDelivery(delivery, {
      runs,
      logger,
      faults,
      run,
      claim: (current, runId) =>
        claimDelivery(database.within("claim"), current, worker.workerId, runId),
      settle: (finished) =>
        settleFinished({ database: database.within("settle"), madeWith }, finished, onCompleted),
    });
  const beside = startBeside({
    context,
    connections: { ...connections, database: upkeep },
    process,
    runs,
    faults,
  });
  const giveBack: DeliveryHandlers["giveBack"] = async (delivery) => {
    await requeueMissing(database, [delivery]);
  };
  const deliveries = takeDeliveries(queue, concurrency, { process, giveBack }, runs);
  const stop = (graceMs: number) =>
    stopWorker(
      { worker, connections, dispatcher, retention, pace, beside, deliveries, leases, faults },
      graceMs,
    );
  try {
    await whileStarting(context, faults, () =>
      wakeOnNotification(database, { leases, dispatcher, beside }),
    );
    await whileStarting(context, faults, async () => {
      // Every further try of the queue's leaves a listener behind: none is made in vain.
      await database.query("select 1");
      await deliveries.ready().catch(translate);
    });
  } catch (error) {
    await stop(0);
    throw error;
  }
  logger.info({ worker_id: worker.workerId, concurrency }, "worker ready");
  return { database, runs, stop };
}

type WorkerParts = {
  readonly worker: WorkerFacts;
  readonly connections: WorkerConnections;
  readonly dispatcher: Repeating;
  readonly retention: Repeating;
  readonly pace: Repeating;
  readonly beside: Beside;
  readonly deliveries: TakenDeliveries;
  readonly leases: Repeating;
  readonly faults: FaultLog;
};

/** Results first, then the worker's row, then the connections. */
async function stopWorker(
  { connections, dispatcher, retention, pace, beside, deliveries, ...parts }: WorkerParts,
  graceMs: number,
): Promise<"closed" | "left_open"> {
  const dispatchEnded = Promise.all([dispatcher.stop(), retention.stop(), pace.stop()]);
  const { worker, leases, faults } = parts;
  await Promise.all([deliveries.end(graceMs), beside.end(graceMs)]);
  await leases.stop();
  await removeWorker(connections.database, worker.workerId).catch((error: unknown) => {
    faults.broke("the worker could not sign off", error);
  });
  const queueClosed = Promise.all([dispatchEnded, deliveries.close(), beside.close()]).then(() =>
    connections.closeQueue(),
  );
  const isQueueClosed = await inTime(queueClosed, CLOSE_MS);
  const isDatabaseClosed = await inTime(connections.database.end(), CLOSE_MS);
  return isQueueClosed && isDatabaseClosed ? "closed" : "left_open";
}

const describeWorker = (
  version: string,
  concurrency: number,
  { model, embedder }: PacingSettings,
): WorkerFacts => ({
  workerId: randomUUID(),
  host: hostname(),
  pid: process.pid,
  version,
  concurrency,
  modelHost: model?.host ?? null,
  embedderHost: embedder?.host ?? null,
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
  { leases, dispatcher, beside }: Pick<WorkerParts, "leases" | "dispatcher" | "beside">,
): Promise<void> =>
  database.listen(
    [JOBS_CHANNEL, CANCEL_CHANNEL, ...BESIDE_CHANNELS],
    (channel) => {
      if (channel === CANCEL_CHANNEL) leases.wake();
      else if (channel === JOBS_CHANNEL) dispatcher.wake();
      else beside.wake(channel);
    },
    () => {
      beside.wake();
      dispatcher.wake();
      leases.wake();
    },
  );
