import type { ManualClock } from "./manual-clock.ts";

export type Runner = {
  readonly name: string;
  readonly numCtx: number;
  readonly shift: boolean;
  active: number;
  readonly waiting: (() => void)[];
  /** Clock time at which an idle runner goes away. */
  expiresAt: number;
};

export type RunnerOptions = {
  readonly name: string;
  readonly numCtx: number;
  readonly shift: boolean;
  readonly keepAliveMs: number;
  /** Called when the clock runs for a load of this request. */
  readonly onLoading: () => void;
};

export type Slot = { readonly loadMs: number; release(): void };

type SchedulerOptions = {
  readonly numParallel: number;
  readonly maxQueue: number;
  readonly loadMs: number;
  readonly clock: ManualClock;
};

const MAX_LOADED = 3;

/**
 * Loads models one at a time, in order, and hands out slots. `maxQueue` bounds only the requests that wait for a
 * load or reload; those for a loaded model wait for a slot without any bound.
 */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #runners = new Map<string, Runner>();
  /** Every load so far, oldest first. */
  readonly loads: { readonly name: string; readonly numCtx: number }[] = [];
  #pending = 0;
  #lastLoad: Promise<void> = Promise.resolve();

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  /** The loaded models, after dropping those whose time is up. */
  loaded(): Runner[] {
    const now = this.#options.clock.now();
    for (const [name, runner] of this.#runners) {
      if (runner.active === 0 && runner.waiting.length === 0 && runner.expiresAt <= now) {
        this.#runners.delete(name);
      }
    }
    return [...this.#runners.values()];
  }

  unload(name: string): void {
    this.#runners.delete(name);
  }

  /** A slot of the model, or "busy" when too many wait for a load. Rejects when `signal` aborts. */
  async acquire(wanted: RunnerOptions, signal: AbortSignal): Promise<Slot | "busy"> {
    const before = this.#options.clock.now();
    let runner = this.#compatible(wanted);
    if (runner === null) {
      if (this.#pending >= this.#options.maxQueue) return "busy";
      runner = await this.#load(wanted, signal);
    }
    await this.#takeSlot(runner, signal);
    const loadMs = this.#options.clock.now() - before;
    const taken = runner;
    return {
      loadMs,
      release: () => {
        this.#release(taken, wanted.keepAliveMs);
      },
    };
  }

  #compatible({ name, numCtx, shift }: RunnerOptions): Runner | null {
    const runner = this.loaded().find((candidate) => candidate.name === name);
    return runner?.numCtx === numCtx && runner.shift === shift ? runner : null;
  }

  async #load(wanted: RunnerOptions, signal: AbortSignal): Promise<Runner> {
    this.#pending += 1;
    const turn = this.#lastLoad;
    const { promise: done, resolve: finish } = withResolvers();
    this.#lastLoad = done;
    try {
      await turn;
      signal.throwIfAborted();
      const ready = this.#compatible(wanted);
      if (ready !== null) return ready;
      const loaded = this.#options.clock.sleep(this.#options.loadMs, signal);
      wanted.onLoading();
      await loaded;
      return this.#place(wanted);
    } finally {
      this.#pending -= 1;
      finish();
    }
  }

  #place({ name, numCtx, shift }: RunnerOptions): Runner {
    const idle = this.loaded().filter(({ active }) => active === 0);
    if (this.#runners.size >= MAX_LOADED && idle[0] !== undefined) this.unload(idle[0].name);
    const expiresAt = Number.POSITIVE_INFINITY;
    const runner: Runner = { name, numCtx, shift, active: 0, waiting: [], expiresAt };
    this.#runners.set(name, runner);
    this.loads.push({ name, numCtx });
    return runner;
  }

  async #takeSlot(runner: Runner, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (runner.active < this.#options.numParallel) {
      runner.active += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      runner.waiting.push(resolve);
      signal.addEventListener("abort", () => {
        const index = runner.waiting.indexOf(resolve);
        if (index === -1) return;
        runner.waiting.splice(index, 1);
        reject(signal.reason as Error);
      });
    });
  }

  /** The last request's keep-alive wins; 0 unloads at once, a negative one never. */
  #release(runner: Runner, keepAliveMs: number): void {
    const next = runner.waiting.shift();
    if (next !== undefined) {
      next();
      return;
    }
    runner.active -= 1;
    const now = this.#options.clock.now();
    runner.expiresAt = keepAliveMs < 0 ? Number.POSITIVE_INFINITY : now + keepAliveMs;
    this.loaded();
  }
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
