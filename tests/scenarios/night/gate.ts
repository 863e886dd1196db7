import { patiently } from "./patience.ts";

/** Where replies wait in their middle until the test lets them go on: a model as slow as the script wants it. */
export type Gate = {
  /** Resolves when this one may go on. `isGone` says whether anybody still waits for it. */
  pass(isGone: () => boolean): Promise<void>;
  /** How many wait. */
  waiting(): number;
  /** Lets so many go on, waiting ones first, and is shut again when they have gone. */
  letThrough(count: number): Promise<void>;
  open(): void;
  shut(): void;
};

type Waiting = { readonly isGone: () => boolean; readonly go: () => void };

export function createGate(): Gate {
  let left = 0;
  let line: Waiting[] = [];
  const alive = () => (line = line.filter(({ isGone }) => !isGone()));
  const release = (): void => {
    alive();
    while (left > 0) {
      const first = line.shift();
      if (first === undefined) return;
      left -= 1;
      first.go();
    }
  };
  return {
    pass: (isGone) =>
      new Promise((go) => {
        line.push({ isGone, go });
        release();
      }),
    waiting: () => alive().length,
    async letThrough(count) {
      left = count;
      release();
      await patiently(`${count} more replies went on`, async () => left === 0);
    },
    open() {
      left = Number.POSITIVE_INFINITY;
      release();
    },
    shut() {
      left = 0;
    },
  };
}
