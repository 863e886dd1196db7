/** Those of this process who wait for the same thing, in an order that others have given them. */
export type WaitingLine = {
  /** @param order places by `sinceUs`, then by `ticket` */
  join(order: Order): Place;
  /** Lets the first in line look again. */
  wake(): void;
};

export type Order = { readonly sinceUs: number; readonly ticket: string };

export type Place = {
  /**
   * Resolves when it is worth looking again: the line was woken, or `pollMs` have passed, while this was the first place.
   * @throws the signal's reason
   */
  untilFirst(signal: AbortSignal): Promise<void>;
  /** Lets the next one look. */
  leave(): void;
};

type Waiting = { readonly order: Order; wake: (() => void) | undefined; isWoken: boolean };

/** @param pollMs after which the first in line looks again, because nobody may have said anything */
export function waitingLine(pollMs: number): WaitingLine {
  const line: Waiting[] = [];
  const wake = (): void => {
    const [first] = line;
    if (first === undefined) return;
    first.isWoken = true;
    first.wake?.();
  };
  return {
    wake,
    join(order) {
      const own: Waiting = { order, wake: undefined, isWoken: false };
      line.push(own);
      line.sort(inOrder);
      return {
        untilFirst: (signal) => waitFirst(own, { line, pollMs, signal }),
        leave() {
          const wasFirst = line[0] === own;
          line.splice(line.indexOf(own), 1);
          if (wasFirst) wake();
        },
      };
    },
  };
}

const inOrder = ({ order: a }: Waiting, { order: b }: Waiting): number =>
  a.sinceUs - b.sinceUs || (a.ticket < b.ticket ? -1 : 1);

type Waits = {
  readonly line: readonly Waiting[];
  readonly pollMs: number;
  readonly signal: AbortSignal;
};

function waitFirst(own: Waiting, { line, pollMs, signal }: Waits): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearInterval(timer);
      signal.removeEventListener("abort", abort);
      own.wake = undefined;
      own.isWoken = false;
    };
    const look = (): void => {
      end();
      resolve();
    };
    const abort = (): void => {
      end();
      reject(signal.reason as Error);
    };
    const timer = setInterval(() => {
      if (line[0] === own) look();
    }, pollMs);
    own.wake = look;
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    // It may have been woken while it looked.
    else if (own.isWoken) look();
  });
}
