import { Failure } from "./failure.ts";

/** A command of a queue that is there takes milliseconds. */
export const QUEUE_LIMIT_MS = 10_000;
/** Between two questions whether a queue that was away is back. */
const PROBE_MS = 30_000;

export type LimitedQueue = {
  /**
   * Runs a command within the limit. While one is overdue, no other is sent: BullMQ keeps what it could not send, and a
   * night without Redis would fill the memory.
   * @throws Failure QUEUE_UNREACHABLE; what the command throws
   */
  run<T>(command: () => Promise<T>): Promise<T>;
  /** @throws Failure QUEUE_UNREACHABLE while a command is overdue */
  check(): void;
  close(): void;
};

/**
 * @param place of the queue, as people know it
 * @param probe a command that changes nothing: whether the queue answers again
 */
export function limitQueue(
  place: string,
  probe: () => Promise<unknown>,
  limitMs = QUEUE_LIMIT_MS,
): LimitedQueue {
  const overdue = new Set<Promise<unknown>>();
  let probing: NodeJS.Timeout | undefined;
  const settle = (answer: Promise<unknown>) => {
    overdue.delete(answer);
    if (overdue.size > 0) return;
    clearInterval(probing);
    probing = undefined;
  };
  const wait = (answer: Promise<unknown>) => {
    overdue.add(answer);
    const settled = () => {
      settle(answer);
    };
    answer.then(settled, settled);
    // An answer may be lost with its connection; what is asked later is not.
    probing ??= setInterval(() => {
      probe().then(
        () => {
          for (const lost of overdue) settle(lost);
        },
        () => undefined,
      );
    }, PROBE_MS).unref();
  };
  const check = () => {
    if (overdue.size > 0) throw unreachable(place, limitMs);
  };
  return {
    async run(command) {
      check();
      const answer = command();
      if (await endsWithin(answer, limitMs)) return answer;
      wait(answer);
      throw unreachable(place, limitMs);
    },
    check,
    close() {
      clearInterval(probing);
    },
  };
}

/** Waits for something, but no longer than the limit. @returns whether it has ended, in an error or not */
export async function endsWithin(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, limitMs, false);
  });
  const ended = work.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([ended, late]);
  } finally {
    clearTimeout(timer);
  }
}

export const unreachable = (place: string, limitMs: number): Failure =>
  new Failure(
    "QUEUE_UNREACHABLE",
    `${place} does not answer within ${limitMs / 1_000} s. Start it, or set queue.redis_url or REDIS_URL.`,
  );

export const isQueueAway = (error: unknown): boolean =>
  error instanceof Failure && error.code === "QUEUE_UNREACHABLE";
