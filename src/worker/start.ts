import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { CommandContext } from "../shared/command-context.ts";
import { sharedConfigOf } from "../shared/config/config-fingerprint.ts";
import type { SharedConfig } from "../shared/config/config-fingerprint.ts";
import type { HookTarget } from "../shared/job.ts";
import { translate } from "../shared/store/connection/database.ts";
import type { Database } from "../shared/store/connection/database.ts";
import { CANCEL_CHANNEL, JOBS_CHANNEL } from "../shared/store/jobs/batches.ts";
import type { CompletedBatch } from "../shared/store/jobs/batches.ts";
import { requeueMissing } from "../shared/store/jobs/dispatch.ts";
import { removeWorker } from "../shared/store/jobs/workers.ts";
import type { WorkerFacts } from "../shared/store/jobs/workers.ts";
import { connectWorker, whileStarting } from "./connect.ts";
import type { WorkerConnections } from "./connect.ts";
import { keepAlive, inFlightRuns } from "./delivery/in-flight.ts";
import type { InFlightRuns } from "./delivery/in-flight.ts";
import { claimDelivery, processDelivery, settleFinished } from "./delivery/process-delivery.ts";
import { takeDeliveries } from "./delivery/take-deliveries.ts";
import type { DeliveryHandlers, TakenDeliveries } from "./delivery/take-deliveries.ts";
import { pacingSettingsOf } from "./hosts/pacing.ts";
import type { NightClock, PacingSettings } from "./hosts/pacing.ts";
import { hookTargetsOf } from "./jobs/notify.ts";
import type { RunJob } from "./jobs/run-job.ts";
import { endsInTime } from "../shared/ends-in-time.ts";
import { createFaultLog } from "./loop.ts";
import type { FaultLog, Repeating } from "./loop.ts";
import { BACKGROUND_CHANNELS, startBackgroundServices } from "./services/background.ts";
import type { BackgroundServices } from "./services/background.ts";
import { startDispatcher } from "./services/dispatcher.ts";
import { superviseHosts } from "./services/hosts.ts";
import { checkpointEmbedded, pruneRegularly, retentionOf } from "./services/retention.ts";
import {
  keepSharedConfig,
  reconcileAtStart,
  sharedConfigKeeper,
} from "./services/shared-config.ts";
import { madeWithOf } from "./settings.ts";

export type RunningWorker = {
  readonly database: Database;
  readonly runs: InFlightRuns;
  /** Whom it can tell of the end of a batch, as of now. */
  hookTargets(): readonly HookTarget[];
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
  const worker = describeWorker(context, concurrency, pacing);
  const madeWith = madeWithOf(version, config);
  const runs = inFlightRuns();
  const onCompleted = whenCompleted(context, database);

  const sharedConfig = sharedConfigKeeper({ database: upkeep, worker, config, clock, logger });
  try {
    // Before the first job: windows and the slots of hosts are those of the configuration.
    await whileStarting(context, faults, () => reconcileAtStart(sharedConfig, faults));
  } catch (error) {
    await connections.closeQueue();
    await database.end();
    throw error;
  }

  const hookTargets = () => (sharedConfig.agrees("on_batch_end") ? hookTargetsOf(config) : []);
  const configs = keepSharedConfig(sharedConfig, faults);
  const leases = keepAlive({ database, worker, runs, faults });
  const dispatcher = startDispatcher({
    database: upkeep,
    queue,
    logger,
    faults,
    clock,
    onCompleted,
  });
  const retention = pruneRegularly(
    { database: upkeep, logger, faults, agrees: () => sharedConfig.agrees("runs.keep_days") },
    retentionOf(config),
  );
  const hosts = superviseHosts({
    database: upkeep,
    settings: pacing,
    workerId: worker.workerId,
    logger,
    faults,
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
  const background = startBackgroundServices({
    context,
    connections: { ...connections, database: upkeep },
    process,
    runs,
    faults,
    targets: hookTargets,
  });
  const giveBack: DeliveryHandlers["giveBack"] = async (delivery) => {
    await requeueMissing(database, [delivery]);
  };
  const deliveries = takeDeliveries(queue, concurrency, { process, giveBack }, runs);
  const stop = (graceMs: number) =>
    stopWorker(
      {
        ...{
          worker,
          connections,
          dispatcher,
          retention,
          hosts,
          configs,
          background,
          deliveries,
          leases,
        },
        faults,
      },
      graceMs,
    );
  try {
    await whileStarting(context, faults, () =>
      wakeOnNotification(database, { leases, dispatcher, background }),
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
  return { database, runs, hookTargets, stop };
}

type WorkerParts = {
  readonly worker: WorkerFacts;
  readonly connections: WorkerConnections;
  readonly dispatcher: Repeating;
  readonly retention: Repeating;
  readonly hosts: Repeating;
  readonly configs: Repeating;
  readonly background: BackgroundServices;
  readonly deliveries: TakenDeliveries;
  readonly leases: Repeating;
  readonly faults: FaultLog;
};

/** Results first, then the worker's row, then the connections. */
async function stopWorker(
  {
    connections,
    dispatcher,
    retention,
    hosts,
    configs,
    background,
    deliveries,
    ...parts
  }: WorkerParts,
  graceMs: number,
): Promise<"closed" | "left_open"> {
  const upkeepEnds = [dispatcher, retention, hosts, configs].map((service) => service.stop());
  const dispatchEnded = Promise.all(upkeepEnds);
  const { worker, leases, faults } = parts;
  await Promise.all([deliveries.end(graceMs), background.end(graceMs)]);
  await leases.stop();
  await removeWorker(connections.database, worker.workerId).catch((error: unknown) => {
    faults.broke("the worker could not sign off", error);
  });
  const queueClosed = Promise.all([dispatchEnded, deliveries.close()]).then(() =>
    connections.closeQueue(),
  );
  const isQueueClosed = await endsInTime(queueClosed, CLOSE_MS);
  const isDatabaseClosed = await endsInTime(connections.database.end(), CLOSE_MS);
  return isQueueClosed && isDatabaseClosed ? "closed" : "left_open";
}

const describeWorker = (
  { invocation, config }: CommandContext,
  concurrency: number,
  { model, embedder }: PacingSettings,
): WorkerFacts => ({
  workerId: randomUUID(),
  host: hostname(),
  pid: process.pid,
  version: invocation.version,
  concurrency,
  modelHost: model?.host ?? null,
  embedderHost: embedder?.host ?? null,
  configFile: config.file,
  sharedConfig: sharedConfigFor(
    invocation.options["drain"] === true ? "drain" : "stay",
    sharedConfigOf(
      config,
      [model, embedder].flatMap((place) => (place === null ? [] : [place.host])),
    ),
  ),
});

/** A worker that ends when nothing is left to do keeps no schedules, and has no say in them. */
const sharedConfigFor = (until: "drain" | "stay", shared: SharedConfig): SharedConfig =>
  until === "stay" ? shared : new Map([...shared].filter(([key]) => key !== "schedules"));

/** A batch that was loaded from a file and has ended is worth a dump of the embedded database. */
const whenCompleted =
  ({ config, logger }: CommandContext, database: Database) =>
  (batches: readonly CompletedBatch[]): void => {
    for (const { batchId, origin } of batches) {
      if (origin !== "system") logger.info({ batch_id: batchId }, "batch completed");
    }
    if (config.database.url === "embedded" && batches.some(({ origin }) => origin === "file")) {
      checkpointEmbedded(database, logger);
    }
  };

/** What a notification, or a gap in which one may have been missed, sets going. */
const wakeOnNotification = (
  database: Database,
  { leases, dispatcher, background }: Pick<WorkerParts, "leases" | "dispatcher" | "background">,
): Promise<void> =>
  database.listen(
    [CANCEL_CHANNEL, ...BACKGROUND_CHANNELS],
    (channel) => {
      if (channel === CANCEL_CHANNEL) leases.wake();
      else {
        if (channel === JOBS_CHANNEL) dispatcher.wake();
        background.wake(channel);
      }
    },
    () => {
      background.wake();
      dispatcher.wake();
      leases.wake();
    },
  );
