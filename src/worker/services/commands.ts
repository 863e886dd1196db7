import type { Database } from "../../shared/store/connection/database.ts";
import { selectDueCommands } from "../../shared/store/schedules/schedule-runs.ts";
import type { InFlightRuns } from "../delivery/in-flight.ts";
import type { Delivery } from "../delivery/process-delivery.ts";
import { repeat } from "../loop.ts";
import type { FaultLog } from "../loop.ts";

type CommandParts = {
  readonly database: Database;
  readonly process: (delivery: Delivery) => Promise<void>;
  readonly runs: InFlightRuns;
  readonly faults: FaultLog;
};

type TakenCommands = {
  wake(): void;
  /** Takes no further command, gives those in hand `graceMs` to end, and hands back the rest. */
  end(graceMs: number): Promise<void>;
};

/** Commands that a worker runs at once, beside its jobs. */
const AT_ONCE = 4;
/** A new one wakes the loop; this is for those whose time to be tried again has come. */
const IDLE_MS = 5_000;
const AFTER_ERROR_MS = 1_000;
const UNTAKEN = "commands of schedules could not be taken";

/**
 * Takes the commands of schedules straight from the rows. They have places of their own: a command that waits for the
 * jobs that it queued would keep them from the only place of a small worker for ever.
 */
export function takeCommands({ database, process, runs, faults }: CommandParts): TakenCommands {
  const inHand = new Map<string, Promise<void>>();
  const take = (delivery: Delivery) => {
    const taken = process(delivery)
      .catch((error: unknown) => {
        faults.broke(UNTAKEN, error);
      })
      .finally(() => {
        inHand.delete(delivery.jobId);
        loop.wake();
      });
    inHand.set(delivery.jobId, taken);
  };
  const loop = repeat(
    async () => {
      const due = await selectDueCommands(database, AT_ONCE + inHand.size);
      faults.works(UNTAKEN);
      const free = due.filter(({ jobId }) => !inHand.has(jobId)).slice(0, AT_ONCE - inHand.size);
      for (const delivery of free) take(delivery);
      return IDLE_MS;
    },
    (error) => {
      faults.broke(UNTAKEN, error);
      return AFTER_ERROR_MS;
    },
  );
  return {
    wake() {
      loop.wake();
    },
    async end(graceMs) {
      await loop.stop();
      const timer = setTimeout(() => {
        runs.requeue();
      }, graceMs);
      await Promise.allSettled(inHand.values());
      clearTimeout(timer);
    },
  };
}
