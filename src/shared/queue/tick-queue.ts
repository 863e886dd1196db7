import { ErrorCode, withBackend } from "bullmq";
import type { BackendFactory, IQueueBackend } from "bullmq";
import { readCron } from "../cron-times.ts";
import { deliveryWorker, limitQueue, openOn, placeOf, WORKER_TIMES } from "./storage.ts";
import type { DeliveryWorker, QueueStorage } from "./storage.ts";

const TICKS_NAME = "nightdesk-ticks";

/** When a scheduler ticks next: a tick tells that the planned time has come, and the rows decide what that means. */
type Scheduler = {
  readonly name: string;
  readonly cron: string;
  /** IANA name. */
  readonly timezone: string;
};

export type Tick = { readonly schedule: string; readonly plannedAt: Date };

/**
 * The clockwork of schedules. What it holds may be lost: it is put there again from the rows. A queue that does not answer
 * within 10 s is Failure QUEUE_UNREACHABLE.
 */
export type TickQueue = {
  /** What is scheduled, each with its next tick. */
  schedulers(): Promise<readonly (Scheduler & { readonly next: Date | null })[]>;
  /** Puts a scheduler there, or replaces it. Its next tick is counted from now. */
  upsertScheduler(scheduler: Scheduler): Promise<void>;
  removeScheduler(name: string): Promise<void>;
  /** Of any number of listeners one hears each tick; one that throws hears it again, a few times. */
  listen(onTick: (tick: Tick) => Promise<void>): DeliveryWorker;
  close(): Promise<void>;
};

/** Opens the queue of ticks, on the storage of the jobs and apart from them: those are counted. */
export const openTicks = (storage: QueueStorage, onError: (error: unknown) => void): TickQueue =>
  openOn(storage, (factory, base) => bind(factory, base, { place: placeOf(storage), onError }));

type TickData = { readonly schedule: string };

/** A tick that met a database that was away is heard again. */
const TICK_TRIES = { attempts: 5, backoff: { type: "fixed", delay: 5_000 } } as const;

function bind<Backend extends IQueueBackend, Connection>(
  factory: BackendFactory<Backend, Connection>,
  base: { connection: Connection; prefix?: string },
  { place, onError }: { readonly place: string; readonly onError: (error: unknown) => void },
): TickQueue {
  const { Queue, Worker } = withBackend(factory);
  const opened = { ...base, settings: { repeatStrategy: nextTick } };
  const queue = new Queue<TickData>(TICKS_NAME, opened);
  queue.on("error", onError);
  const limited = limitQueue(place, () => queue.getJobSchedulersCount());
  return {
    async schedulers() {
      const known = await limited.run(() => queue.getJobSchedulers(0, -1, true));
      return known.map(({ key, pattern = "", tz = "", next }) => ({
        name: key,
        cron: pattern,
        timezone: tz,
        next: next === undefined ? null : new Date(next),
      }));
    },
    async upsertScheduler({ name, cron, timezone }) {
      const template = {
        name: "tick",
        data: { schedule: name },
        opts: { ...TICK_TRIES, removeOnComplete: true, removeOnFail: true },
      };
      await limited
        .run(() => queue.upsertJobScheduler(name, { pattern: cron, tz: timezone }, template))
        .catch((error: unknown) => {
          // Somebody else is at it, or the tick outlived its scheduler: it comes, and the next look puts the scheduler.
          if (!isTickThere(error)) throw error;
        });
    },
    async removeScheduler(name) {
      await limited.run(() => queue.removeJobScheduler(name));
    },
    listen(onTick) {
      const worker = new Worker<TickData>(
        TICKS_NAME,
        async ({ data, opts, timestamp, delay }) =>
          onTick({
            schedule: data.schedule,
            plannedAt: new Date(opts.prevMillis ?? timestamp + delay),
          }),
        {
          ...opened,
          ...WORKER_TIMES,
        },
      );
      return deliveryWorker(worker, place, onError);
    },
    close() {
      limited.close();
      return queue.close();
    },
  };
}

const isTickThere = (error: unknown): boolean =>
  typeof error === "object" &&
  error !== null &&
  "code" in error &&
  error.code === ErrorCode.SchedulerJobIdCollision;

/** BullMQ's own leaves out what a change of the clock leaves out. */
function nextTick(
  after: number,
  { pattern = "", tz = "UTC" }: { readonly pattern?: string; readonly tz?: string },
): number | undefined {
  const read = readCron(pattern, tz);
  return read.ok ? read.times.next(new Date(after)).getTime() : undefined;
}
