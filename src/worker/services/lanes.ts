import type { HookTarget } from "../../shared/job/job.ts";
import type { Lane } from "../../shared/job/kinds.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { JOBS_CHANNEL } from "../../shared/store/jobs/batches.ts";
import { selectDueInLane } from "../../shared/store/jobs/dispatch.ts";
import type { Delivery } from "../delivery/process-delivery.ts";
import type { Service } from "./supervisor.ts";

export type LaneParts = {
  readonly database: Database;
  /** The hook targets that this worker serves at the moment. */
  readonly targets: () => readonly HookTarget[];
  /** Claims the job of a delivery, runs it and settles it. */
  readonly take: (delivery: Delivery) => Promise<void>;
};

/** The most jobs of a lane that a worker runs at once, beside those of the queue. */
const AT_ONCE: Readonly<Record<Lane, number>> = { command: 4, notify: 2 };
/** New jobs wake the lane; this interval serves jobs that become due for another try. */
const IDLE_MS = 5_000;

/** Takes the jobs of a lane directly from their rows, so that they and the queue never delay each other. */
export function laneService(lane: Lane, { database, targets, take }: LaneParts): Service {
  const inHand = new Set<string>();
  const ended: Promise<void>[] = [];
  return {
    name: `lane of ${lane} jobs`,
    trouble: `jobs of kind ${lane} could not be taken`,
    channels: [JOBS_CHANNEL],
    async run({ wake }) {
      // A job that could not be claimed or settled counts as a fault of the lane.
      await Promise.all(ended.splice(0));
      if (lane === "notify" && targets().length === 0) return IDLE_MS;
      const due = await selectDueInLane(database, lane, targets(), AT_ONCE[lane] + inHand.size);
      const free = due.filter(({ jobId }) => !inHand.has(jobId));
      for (const delivery of free.slice(0, AT_ONCE[lane] - inHand.size)) {
        inHand.add(delivery.jobId);
        const taken = take(delivery);
        const leave = () => {
          inHand.delete(delivery.jobId);
          ended.push(taken);
          wake();
        };
        void taken.then(leave, leave);
      }
      return IDLE_MS;
    },
  };
}
