import type { CommandContext } from "../../shared/command-context.ts";
import { Failure } from "../../shared/failure.ts";
import { checkSchedule, configuredSchedules } from "../../shared/schedules/schedule.ts";
import { HOOKS_CHANNEL } from "../../shared/store/schedules/hook-calls.ts";
import { SCHEDULES_CHANNEL } from "../../shared/store/schedules/schedules.ts";
import type { WorkerConnections } from "../connect.ts";
import type { InFlightRuns } from "../delivery/in-flight.ts";
import type { Delivery } from "../delivery/process-delivery.ts";
import type { FaultLog } from "../loop.ts";
import { takeCommands } from "./commands.ts";
import { startHooks } from "./notifications.ts";
import { startSchedules } from "./schedules.ts";
import type { SharedConfigKeeper } from "./shared-config.ts";

type BesideParts = {
  readonly context: CommandContext;
  readonly connections: Pick<WorkerConnections, "database">;
  readonly process: (delivery: Delivery) => Promise<void>;
  readonly runs: InFlightRuns;
  readonly faults: FaultLog;
  readonly sharedConfig: SharedConfigKeeper;
};

/** What a worker does beside the jobs of the queue: schedules, their commands, and what is told when a batch ends. */
export type BackgroundServices = {
  /** Of a channel that was heard, or of all of them after a gap. */
  wake(channel?: string): void;
  /** Starts nothing further, and gives what is in hand `graceMs` to end. */
  end(graceMs: number): Promise<void>;
  /** After `end`: resolves when the queue of ticks is closed, which it never is while it is away. */
  close(): Promise<void>;
};

/** What to listen to. */
export const BACKGROUND_CHANNELS = [SCHEDULES_CHANNEL, HOOKS_CHANNEL] as const;

/**
 * A worker that ends when nothing is left to do (`--drain`) keeps no schedules: it was started for the work that is there,
 * at any time of the day.
 */
export function startBackgroundServices(parts: BesideParts): BackgroundServices {
  const { context, faults, connections, sharedConfig } = parts;
  const { database } = connections;
  const commands = takeCommands({ ...parts, database });
  const hooks = startHooks({
    context,
    database,
    faults,
    agrees: () => sharedConfig.agrees("on_batch_end"),
  });
  const schedules =
    context.invocation.options["drain"] === true
      ? undefined
      : startSchedules({
          database,
          faults,
          logger: context.logger,
        });
  let closed: Promise<void> = Promise.resolve();
  return {
    wake(channel) {
      if (channel !== HOOKS_CHANNEL) {
        commands.wake();
        schedules?.wake();
      }
      if (channel !== SCHEDULES_CHANNEL) hooks.wake();
    },
    async end(graceMs) {
      closed = schedules?.stop() ?? closed;
      // Heard by `close`, too.
      closed.catch(() => undefined);
      await Promise.all([commands.end(graceMs), hooks.stop(graceMs)]);
    },
    close: () => closed,
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
