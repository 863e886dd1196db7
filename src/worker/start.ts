import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { CommandContext } from "../shared/commands/command-context.ts";
import { sharedConfigOf } from "../shared/config/config-fingerprint.ts";
import type { SharedConfig } from "../shared/config/config-fingerprint.ts";
import type { Failure } from "../shared/failure.ts";
import { endsInTime } from "../shared/ends-in-time.ts";
import type { HookTarget } from "../shared/job/job.ts";
import { translate } from "../shared/store/connection/database.ts";
import type { Database } from "../shared/store/connection/database.ts";
import type { CompletedBatch } from "../shared/store/jobs/batches.ts";
import { requeueMissing } from "../shared/store/jobs/dispatch.ts";
import { removeWorker } from "../shared/store/jobs/workers.ts";
import type { WorkerFacts } from "../shared/store/jobs/workers.ts";
import { connectWorker, whileStarting } from "./connect.ts";
import type { WorkerConnections } from "./connect.ts";
import { inFlightRuns } from "./delivery/in-flight.ts";
import type { InFlightRuns } from "./delivery/in-flight.ts";
import { claimDelivery, processDelivery, settleFinished } from "./delivery/process-delivery.ts";
import type { FinishedRun } from "./delivery/process-delivery.ts";
import { takeDeliveries } from "./delivery/take-deliveries.ts";
import type { DeliveryHandlers, TakenDeliveries } from "./delivery/take-deliveries.ts";
import type { NightClock } from "./hosts/pacing.ts";
import { hostsOf, pacingSettingsOf } from "./hosts/pacing-settings.ts";
import type { PacingSettings } from "./hosts/pacing-settings.ts";
import type { RunJob } from "./jobs/run-job.ts";
import { createFaultLog } from "./loop.ts";
import type { FaultLog } from "./loop.ts";
import { openAnnouncer } from "./services/announcer.ts";
import type { Announcer } from "./services/announcer.ts";
import { backgroundServices } from "./services/background.ts";
import { leaseService } from "./services/leases.ts";
import { checkpointEmbedded } from "./services/retention.ts";
import { reportSteps } from "./services/report-steps.ts";
import { startWorkerMetrics } from "./services/worker-metrics.ts";
import type { WorkerMetrics } from "./services/worker-metrics.ts";
import {
  createSchemaCheck,
  handBackMisfits,
  settleUnlessOutdated,
  watchSchema,
} from "./services/schema-watch.ts";
import { hookTargetsOf, reconcileAtStart, sharedConfigKeeper } from "./services/shared-config.ts";
import { supervise } from "./services/supervisor.ts";
import type { Supervisor } from "./services/supervisor.ts";
import { madeWithOf } from "./settings.ts";

export type RunningWorker = {
  readonly database: Database;
  readonly runs: InFlightRuns;
  /** The hook targets that it serves at the moment. */
  readonly hookTargets: () => readonly HookTarget[];
  /** Rejects with Failure SCHEMA_OUTDATED when another version has changed the schema; never resolves. */
  readonly outdated: Promise<never>;
  /** Checks the same at once; undefined while the schema is this version's. */
  checkSchema(): Promise<Failure | undefined>;
  /**
   * Takes no new job, gives current ones `graceMs` to end, and hands back the rest. An unreachable queue or database does not
   * delay it for long: leases and rows make up for whatever it could not report.
   * @returns `left_open` if connections could not be closed, which would keep the process alive
   */
  stop(graceMs: number): Promise<"closed" | "left_open">;
};

/** Time for each part to close after all results are stored. */
const CLOSE_MS = 2_000;

/** Creates the function that does the work of one job; everything else is delivery. */
type CreateRun = (database: Database) => RunJob;

/** Connects a worker and starts it. @param clock for windows and deadlines */
export async function startWorker(
  context: CommandContext,
  concurrency: number,
  createRun: CreateRun,
  clock: NightClock = () => "database",
): Promise<RunningWorker> {
  const { invocation, logger, config } = context;
  const { version } = invocation;
  const faults = createFaultLog(logger);
  const check = await createSchemaCheck(context);
  const connections = await connectWorker(context, concurrency, faults);
  const { database, queue } = connections;
  const upkeep = database.within("upkeep");
  const pacing = pacingSettingsOf(config);
  const worker = formatWorker(context, concurrency, pacing);
  const madeWith = madeWithOf(version, config);
  const runs = inFlightRuns();
  const announcer = openAnnouncer(database.within("upkeep"), faults);
  const dumpCompleted = whenCompleted(context, database);
  const onCompleted = (batches: readonly CompletedBatch[]): void => {
    announcer.happened();
    dumpCompleted(batches);
  };

  const sharedConfig = sharedConfigKeeper({
    database: upkeep,
    worker,
    config,
    pacing,
    clock,
    logger,
  });
  try {
    // Before the first job, so that windows and slots of hosts follow the configuration.
    await whileStarting(context, faults, () => reconcileAtStart(sharedConfig, faults));
  } catch (error) {
    await connections.closeQueue();
    await connections.closeDatabase();
    throw error;
  }

  const hookTargets = () => (sharedConfig.agrees("on_batch_end") ? hookTargetsOf(config) : []);
  const schema = watchSchema(upkeep, check);
  const told = reportSteps(createRun(database), upkeep, announcer.happened);
  const run = handBackMisfits(told, database, check);
  const metrics = await startWorkerMetrics(context, upkeep);
  const settle = async (finished: FinishedRun) => {
    const settling = { database: database.within("settle"), madeWith };
    const end = await settleFinished(settling, finished, onCompleted).finally(announcer.happened);
    metrics.ended(finished, end);
    return end;
  };
  const process: DeliveryHandlers["process"] = (delivery) =>
    processDelivery(delivery, {
      runs,
      logger,
      faults,
      run,
      claim: (current, runId) =>
        claimDelivery(database.within("claim"), current, worker.workerId, runId),
      settle: (finished) => settleUnlessOutdated(() => settle(finished), database, check),
    });
  const giveBack: DeliveryHandlers["giveBack"] = async (delivery) => {
    await requeueMissing(database, [delivery]);
  };
  const leases = supervise(
    [leaseService({ database: connections.leaseDatabase, worker, runs })],
    faults,
  );
  const deliveries = takeDeliveries(queue, concurrency, { process, giveBack }, runs);
  const background = backgroundServices({
    context,
    database: upkeep,
    queue,
    workerId: worker.workerId,
    pacing,
    clock,
    faults,
    sharedConfig,
    onCompleted,
    targets: hookTargets,
    take: (delivery) => deliveries.take(delivery),
  });
  const listed = [...background, schema.service];
  const services = supervise(listed, faults);
  logger.debug({ services: listed.map(({ name }) => name) }, "services started");
  const stop = (graceMs: number) =>
    stopWorker(
      { worker, connections, services, deliveries, leases, announcer, faults, metrics },
      graceMs,
    );
  try {
    await whileStarting(context, faults, () => wakeOnNotification(database, [leases, services]));
    await whileStarting(context, faults, async () => {
      // Checks first, because each further try of the queue on Postgres leaves a listener behind.
      await database.query("select 1");
      await deliveries.ready().catch(translate);
    });
  } catch (error) {
    await stop(0);
    throw error;
  }
  logger.info({ worker_id: worker.workerId, concurrency }, "worker ready");
  const { outdated } = schema;
  return { database, runs, hookTargets, outdated, checkSchema: () => check(database), stop };
}

type WorkerParts = {
  readonly worker: WorkerFacts;
  readonly connections: WorkerConnections;
  readonly services: Supervisor;
  readonly deliveries: TakenDeliveries;
  /** Runs until the last result is stored. */
  readonly leases: Supervisor;
  readonly announcer: Announcer;
  readonly faults: FaultLog;
  readonly metrics: WorkerMetrics;
};

/** Stops in this order: results, the worker's row, the connections. */
async function stopWorker(
  { worker, connections, services, deliveries, leases, announcer, faults, metrics }: WorkerParts,
  graceMs: number,
): Promise<"closed" | "left_open"> {
  const servicesEnded = services.stop();
  await deliveries.end(graceMs);
  await leases.stop();
  await endsInTime(announcer.close(), CLOSE_MS);
  await metrics.stop();
  await removeWorker(connections.database, worker.workerId).catch((error: unknown) => {
    faults.broke("the worker could not sign off", error);
  });
  const queueClosed = Promise.all([servicesEnded, deliveries.close()]).then(() =>
    connections.closeQueue(),
  );
  const isQueueClosed = await endsInTime(queueClosed, CLOSE_MS);
  const isDatabaseClosed = await endsInTime(connections.closeDatabase(), CLOSE_MS);
  return isQueueClosed && isDatabaseClosed ? "closed" : "left_open";
}

const formatWorker = (
  { invocation, config }: CommandContext,
  concurrency: number,
  pacing: PacingSettings,
): WorkerFacts => ({
  workerId: randomUUID(),
  host: hostname(),
  pid: process.pid,
  version: invocation.version,
  concurrency,
  modelHosts: pacing.models.map(({ host }) => host),
  embedderHosts: pacing.embedders.map(({ host }) => host),
  documentsFrom: config.documents.from,
  configFile: config.file,
  sharedConfig: sharedConfigFor(
    invocation.options["drain"] === true ? "drain" : "stay",
    sharedConfigOf(config, hostsOf(pacing)),
  ),
});

/** A worker with `--drain` plans no schedules, so its schedules do not count. */
const sharedConfigFor = (until: "drain" | "stay", shared: SharedConfig): SharedConfig =>
  until === "stay" ? shared : new Map([...shared].filter(([key]) => key !== "schedules"));

/** Logs completed batches, and dumps the embedded database after a batch that was loaded from a file. */
const whenCompleted =
  ({ config, logger }: CommandContext, database: Database) =>
  (batches: readonly CompletedBatch[]): void => {
    for (const { batchId, origin } of batches) {
      if (origin !== "system" && origin !== "verify")
        logger.info({ batch_id: batchId }, "batch completed");
    }
    if (config.database.url === "embedded" && batches.some(({ origin }) => origin === "file")) {
      checkpointEmbedded(database, logger);
    }
  };

/** A notification wakes the services of its channel; after a gap, which may have hidden one, all are woken. */
const wakeOnNotification = (
  database: Database,
  supervisors: readonly Supervisor[],
): Promise<void> => {
  const wake = (channel?: string) => {
    for (const supervisor of supervisors) supervisor.wake(channel);
  };
  return database.listen(
    supervisors.flatMap(({ channels }) => channels),
    wake,
    wake,
  );
};
