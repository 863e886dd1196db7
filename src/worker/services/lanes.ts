import type { HookTarget } from "../../shared/job.ts";
import type { Lane } from "../../shared/kinds.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { selectDueInLane } from "../../shared/store/jobs/dispatch.ts";
import type { InFlightRuns } from "../delivery/in-flight.ts";
import type { Delivery } from "../delivery/process-delivery.ts";
import { repeat } from "../loop.ts";
import type { FaultLog } from "../loop.ts";

type LaneParts = {
  readonly database: Database;
  /** Of `on_batch_end`: whom this worker can tell. */
  readonly targets: () => readonly HookTarget[];
  readonly process: (delivery: Delivery) => Promise<void>;
  readonly runs: InFlightRuns;
  readonly faults: FaultLog;
};

export type TakenLane = {
  wake(): void;
  /** Takes nothing further, gives what is in hand `graceMs` to end, and hands back the rest. */
  end(graceMs: number): Promise<void>;
};

/** Jobs of a lane that a worker runs at once, beside those of the queue. */
const AT_ONCE: Readonly<Record<Lane, number>> = { command: 4, notify: 2 };
/** A new one wakes the lane; this is for those whose time to be tried again has come. */
const IDLE_MS = 5_000;
const AFTER_ERROR_MS = 1_000;

/** Takes the jobs of a lane straight from their rows: what the queue holds never keeps them waiting, nor they it. */
export function takeLane(
  lane: Lane,
  { database, targets, process, runs, faults }: LaneParts,
): TakenLane {
  const untaken = `jobs of kind ${lane} could not be taken`;
  const inHand = new Map<string, Promise<void>>();
  const take = (delivery: Delivery) => {
    const taken = process(delivery)
      .catch((error: unknown) => {
        faults.broke(untaken, error);
      })
      .finally(() => {
        inHand.delete(delivery.jobId);
        loop.wake();
      });
    inHand.set(delivery.jobId, taken);
  };
  const loop = repeat(
    async () => {
      const due = await selectDueInLane(database, lane, targets(), AT_ONCE[lane] + inHand.size);
      faults.works(untaken);
      const free = due.filter(({ jobId }) => !inHand.has(jobId));
      for (const delivery of free.slice(0, AT_ONCE[lane] - inHand.size)) take(delivery);
      return IDLE_MS;
    },
    (error) => {
      faults.broke(untaken, error);
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
