import { accessByHost } from "../models/host-access.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import { Failure } from "../../shared/failure.ts";
import type { JobQueue } from "../../shared/queue/job-queue.ts";
import { checkSchedule, configuredSchedules } from "../../shared/schedules/schedule.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import type { CompletedBatch } from "../../shared/store/jobs/batches.ts";
import type { NightClock } from "../hosts/pacing.ts";
import type { PacingSettings } from "../hosts/pacing-settings.ts";
import type { FaultLog } from "../loop.ts";
import { approvalService } from "./approvals.ts";
import { dispatcherService } from "./dispatcher.ts";
import { hostService } from "./hosts.ts";
import { laneService } from "./lanes.ts";
import type { LaneParts } from "./lanes.ts";
import { artifactService } from "./artifacts.ts";
import { reasoningService, retentionOf, retentionService } from "./retention.ts";
import { scheduleService } from "./schedules.ts";
import { sharedConfigService } from "./shared-config.ts";
import type { SharedConfigKeeper } from "./shared-config.ts";
import type { Service } from "./supervisor.ts";
import { watchesFolders, watchService } from "./watch.ts";

type BackgroundParts = Pick<LaneParts, "take" | "targets"> & {
  readonly context: CommandContext;
  readonly database: Database;
  readonly queue: JobQueue;
  /** Identifies this worker among all workers. */
  readonly workerId: string;
  readonly pacing: PacingSettings;
  readonly clock: NightClock;
  readonly faults: FaultLog;
  readonly sharedConfig: SharedConfigKeeper;
  readonly onCompleted: (batches: readonly CompletedBatch[]) => void;
};

/**
 * The services of a worker beside its jobs, except its leases, which end last. A worker with `--drain` ends when no work is
 * left, and plans no schedules and watches no folder: it was started only for the existing work, at any time of the day.
 */
export function backgroundServices(parts: BackgroundParts): readonly Service[] {
  const { context, database, queue, clock, faults, sharedConfig, onCompleted } = parts;
  const { config, invocation, logger } = context;
  const agrees = () => sharedConfig.agrees("runs.keep_days");
  return [
    sharedConfigService(sharedConfig),
    dispatcherService({ database, queue, logger, faults, clock, onCompleted }),
    laneService("command", parts),
    laneService("notify", parts),
    ...(invocation.options["drain"] === true ? [] : [scheduleService({ database, logger })]),
    ...(invocation.options["drain"] === true || !watchesFolders(config)
      ? []
      : [watchService({ config, database, logger })]),
    hostService({
      database,
      settings: parts.pacing,
      accessOf: accessByHost(config, invocation.env),
      workerId: parts.workerId,
      logger,
    }),
    approvalService({ database, logger, examWaitS: config.verify.judge.exam_wait_s }),
    retentionService({ database, logger, agrees }, retentionOf(config)),
    reasoningService({ database }),
    artifactService({ database, logger }),
  ];
}

/** Checks all schedules of the configuration, also disabled ones. @throws Failure CONFIG_ERROR */
export function assertSchedules({ config }: CommandContext): void {
  const problems = configuredSchedules(config).flatMap((entry) =>
    checkSchedule(entry).map(({ key, text }) => `schedules "${entry.name}": ${key} ${text}`),
  );
  if (problems.length > 0) {
    throw new Failure("CONFIG_ERROR", `${config.file}: ${problems.join("\n")}`);
  }
}
