import type { JobQueue } from "../../shared/queue.ts";
import type { Delivery } from "./process-delivery.ts";
import type { RunsInHand } from "./runs-in-hand.ts";

export type DeliveryHandlers = {
  readonly process: (delivery: Delivery) => Promise<void>;
  /** For a delivery that comes when the worker is stopping already. */
  readonly giveBack: (delivery: Delivery) => Promise<void>;
};

export type TakenDeliveries = {
  /** Resolves when deliveries are taken; rejects when the queue can't be used. */
  ready(): Promise<void>;
  /**
   * Processes no further delivery, gives those in hand `graceMs` to end, and hands back the rest.
   * @returns when all that was in hand has ended, and its results are stored, whatever the queue does
   */
  end(graceMs: number): Promise<void>;
  /** After `end`: resolves when the queue knows it, too, which it never does while it is away. */
  close(): Promise<void>;
};

/** Takes deliveries off the queue, at most `concurrency` at once. */
export function takeDeliveries(
  queue: JobQueue,
  concurrency: number,
  { process, giveBack }: DeliveryHandlers,
  runs: RunsInHand,
): TakenDeliveries {
  const inHand = new Set<Promise<void>>();
  let isEnding = false;
  const worker = queue.work(concurrency, async (delivery) => {
    const handled = (isEnding ? giveBack : process)(delivery);
    inHand.add(handled);
    await handled.finally(() => inHand.delete(handled));
  });
  let closed: Promise<void> = Promise.resolve();
  return {
    ready: () => worker.ready(),
    async end(graceMs) {
      isEnding = true;
      closed = worker.close();
      const timer = setTimeout(() => {
        runs.handBack();
      }, graceMs);
      while (inHand.size > 0) await Promise.allSettled(inHand);
      clearTimeout(timer);
    },
    close: () => closed,
  };
}
