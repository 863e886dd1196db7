import type { FaultLog } from "../loop.ts";

/** Recurring work of a worker beside its jobs: runs at start, then after each interval, and when it is woken. */
export type Service = {
  readonly name: string;
  /** The log message while it fails, such as `jobs could not be dispatched`. */
  readonly trouble: string;
  /** Channels of the database whose notifications wake it. */
  readonly channels?: readonly string[];
  /** The longest pause in milliseconds after repeated errors; default 1 s. */
  readonly mostRestMs?: number;
  /**
   * Never called while it still runs. An error that it throws is logged, and it runs again after a pause, or when it is woken.
   * @returns milliseconds until the next run, unless it is woken earlier
   */
  readonly run: (controls: ServiceControls) => Promise<number>;
};

export type ServiceControls = {
  /** Aborts when the service has to stop; the supervisor waits for its end. */
  readonly stopping: AbortSignal;
  /** Makes it run once more right after it has ended. */
  readonly wake: () => void;
};

export type Supervisor = {
  /** The channels of all services. */
  readonly channels: readonly string[];
  /** Runs the services of a channel at once; without a channel all services, because any may have missed a notification. */
  wake(channel?: string): void;
  /** Starts no further run, and resolves when the current ones have ended. */
  stop(): Promise<void>;
};

const FIRST_REST_MS = 250;
const MOST_REST_MS = 1_000;

/** Runs services in parallel, each in a loop of its own. */
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
  const run = createGuardedRun(service, { stopping: stopping.signal, wake }, faults);

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

/** Runs the service once. An error is logged, and each further error doubles the pause after it. */
function createGuardedRun(
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
      // An error after the stop is no fault.
      if (!controls.stopping.aborted) faults.broke(trouble, error);
      const rested = Math.min(restMs, mostRestMs);
      restMs = rested * 2;
      return rested;
    }
  };
}
