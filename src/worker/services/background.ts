import type { CommandContext } from "../../shared/command-context.ts";
import { Failure } from "../../shared/failure.ts";
import type { HookTarget } from "../../shared/job.ts";
import { checkSchedule, configuredSchedules } from "../../shared/schedules/schedule.ts";
import { JOBS_CHANNEL } from "../../shared/store/jobs/batches.ts";
import { SCHEDULES_CHANNEL } from "../../shared/store/schedules/schedules.ts";
import type { WorkerConnections } from "../connect.ts";
import type { InFlightRuns } from "../delivery/in-flight.ts";
import type { Delivery } from "../delivery/process-delivery.ts";
import type { FaultLog } from "../loop.ts";
import { takeLane } from "./lanes.ts";
import { startSchedules } from "./schedules.ts";

type BesideParts = {
  readonly context: CommandContext;
  readonly connections: Pick<WorkerConnections, "database">;
  readonly process: (delivery: Delivery) => Promise<void>;
  readonly runs: InFlightRuns;
  readonly faults: FaultLog;
  /** Whom this worker can tell of the end of a batch, as of now. */
  readonly targets: () => readonly HookTarget[];
};

/** What a worker does beside the jobs of the queue: schedules, and the jobs of lanes. */
export type BackgroundServices = {
  /** Of a channel that was heard, or of all of them after a gap. */
  wake(channel?: string): void;
  /** Starts nothing further, and gives what is in hand `graceMs` to end. */
  end(graceMs: number): Promise<void>;
};

/** What to listen to. */
export const BACKGROUND_CHANNELS = [SCHEDULES_CHANNEL, JOBS_CHANNEL] as const;

/**
 * A worker that ends when nothing is left to do (`--drain`) keeps no schedules: it was started for the work that is there,
 * at any time of the day.
 */
export function startBackgroundServices(parts: BesideParts): BackgroundServices {
  const { context, faults, connections } = parts;
  const { database } = connections;
  const lanes = (["command", "notify"] as const).map((lane) =>
    takeLane(lane, { ...parts, database }),
  );
  const schedules =
    context.invocation.options["drain"] === true
      ? undefined
      : startSchedules({
          database,
          faults,
          logger: context.logger,
        });
  return {
    wake(channel) {
      if (channel !== JOBS_CHANNEL) schedules?.wake();
      if (channel !== SCHEDULES_CHANNEL) for (const lane of lanes) lane.wake();
    },
    async end(graceMs) {
      await Promise.all([schedules?.stop(), ...lanes.map((lane) => lane.end(graceMs))]);
    },
  };
}

/** All schedules of the configuration, also those that are switched off. @throws Failure CONFIG_ERROR */
export function assertSchedules({ config }: CommandContext): void {
  const problems = configuredSchedules(config).flatMap((entry) =>
    checkSchedule(entry).map(({ key, text }) => `schedules "${entry.name}": ${key} ${text}`),
  );
  if (problems.length > 0) {
    throw new Failure("CONFIG_ERROR", `${config.file}: ${problems.join("\n")}`);
  }
}
