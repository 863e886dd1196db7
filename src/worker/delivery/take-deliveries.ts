import type { JobQueue } from "../../shared/queue/job-queue.ts";
import type { InFlightRuns } from "./in-flight.ts";
import type { Delivery } from "./process-delivery.ts";

export type DeliveryHandlers = {
  readonly process: (delivery: Delivery) => Promise<void>;
  /** For a delivery that arrives while the worker stops. */
  readonly giveBack: (delivery: Delivery) => Promise<void>;
};

export type TakenDeliveries = {
  /** Resolves when deliveries are taken; rejects if the queue can't be used, and may then be called again. */
  ready(): Promise<void>;
  /** Processes a delivery that did not come from the queue; ignores it once the end has begun. */
  take(delivery: Delivery): Promise<void>;
  /**
   * Processes no further delivery, gives current ones `graceMs` to end, and hands back the rest.
   * @returns when all current ones have ended and their results are stored, whatever the queue does
   */
  end(graceMs: number): Promise<void>;
  /** After `end`: resolves when the queue is informed too, which never happens while it is unreachable. */
  close(): Promise<void>;
};

/** Takes deliveries off the queue, at most `concurrency` at once. */
export function takeDeliveries(
  queue: JobQueue,
  concurrency: number,
  { process, giveBack }: DeliveryHandlers,
  runs: InFlightRuns,
): TakenDeliveries {
  const inHand = new Set<Promise<void>>();
  let isEnding = false;
  const handle = async (handled: Promise<void>) => {
    inHand.add(handled);
    await handled.finally(() => inHand.delete(handled));
  };
  const open = () =>
    queue.work(concurrency, (delivery) => handle((isEnding ? giveBack : process)(delivery)));
  let worker = open();
  let isBroken = false;
  const left: Promise<void>[] = [];
  let closed: Promise<void> = Promise.resolve();
  return {
    async ready() {
      if (isBroken) {
        // On Postgres, a queue worker that could not connect at first never tries again.
        left.push(worker.close().catch(() => undefined));
        worker = open();
        isBroken = false;
      }
      try {
        await worker.ready();
      } catch (error) {
        isBroken = true;
        throw error;
      }
    },
    async take(delivery) {
      if (!isEnding) await handle(process(delivery));
    },
    async end(graceMs) {
      isEnding = true;
      closed = Promise.all([worker.close(), ...left]).then(() => undefined);
      const timer = setTimeout(() => {
        runs.requeue();
      }, graceMs);
      while (inHand.size > 0) await Promise.allSettled(inHand);
      clearTimeout(timer);
    },
    close: () => closed,
  };
}
