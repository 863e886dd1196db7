import type { FaultLog } from "../loop.ts";

/** What a worker does again and again beside its jobs: at once, after a while, and when it is woken. */
export type Service = {
  readonly name: string;
  /** What is said while it fails, like `jobs could not be dispatched`. */
  readonly trouble: string;
  /** Notifications of the database that wake it. */
  readonly channels?: readonly string[];
  /** The longest that it rests after errors in a row, milliseconds; a second unless it says so. */
  readonly mostRestMs?: number;
  /**
   * Never called while it still runs. What it throws is logged, and it is run again after a while.
   * @returns milliseconds until it is to run again, unless it is woken before
   */
  readonly run: (controls: ServiceControls) => Promise<number>;
};

export type ServiceControls = {
  /** Aborts when the service is to stop: it is waited for. */
  readonly stopping: AbortSignal;
  /** Has it run once more as soon as it has ended. */
  readonly wake: () => void;
};

export type Supervisor = {
  /** All that its services listen to. */
  readonly channels: readonly string[];
  /** Runs the services that listen to the channel at once; all of them after a gap, in which any may have missed something. */
  wake(channel?: string): void;
  /** Runs nothing any more, and resolves when what runs has ended. */
  stop(): Promise<void>;
};

const FIRST_REST_MS = 250;
const MOST_REST_MS = 1_000;

/** Runs services side by side, each in a loop of its own. */
export function supervise(services: readonly Service[], faults: FaultLog): Supervisor {
  const running = services.map((service) => ({ service, loop: startLoop(service, faults) }));
  return {
    channels: [...new Set(services.flatMap(({ channels = [] }) => channels))],
    wake(channel) {
      for (const { service, loop } of running) {
        if (channel === undefined || service.channels?.includes(channel) === true) loop.wake();
      }
    },
    async stop() {
      await Promise.all(running.map(({ loop }) => loop.stop()));
    },
  };
}

type Loop = { wake(): void; stop(): Promise<void> };

function startLoop(service: Service, faults: FaultLog): Loop {
  const stopping = new AbortController();
  let isWoken = false;
  let wakeUp = (): void => undefined;
  const wake = (): void => {
    isWoken = true;
    wakeUp();
  };
  const run = guarded(service, { stopping: stopping.signal, wake }, faults);

  const pause = (milliseconds: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
      // It may have been woken or stopped while it ran.
      if (isWoken || stopping.signal.aborted) wakeUp();
    });
  const loop = async () => {
    while (!stopping.signal.aborted) {
      isWoken = false;
      await pause(await run());
    }
  };
  const ended = loop();
  return {
    wake,
    async stop() {
      stopping.abort();
      wakeUp();
      await ended;
    },
  };
}

/** Runs the service once. An error is logged, and the rest after it is doubled with each further one. */
function guarded(
  { trouble, mostRestMs = MOST_REST_MS, run }: Service,
  controls: ServiceControls,
  faults: FaultLog,
): () => Promise<number> {
  let restMs = FIRST_REST_MS;
  return async () => {
    try {
      const waitMs = await run(controls);
      faults.works(trouble);
      restMs = FIRST_REST_MS;
      return waitMs;
    } catch (error) {
      // What breaks off because it is to stop is no fault.
      if (!controls.stopping.aborted) faults.broke(trouble, error);
      const rested = Math.min(restMs, mostRestMs);
      restMs = rested * 2;
      return rested;
    }
  };
}
