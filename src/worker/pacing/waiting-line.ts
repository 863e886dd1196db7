/** Those of this process who wait for the same thing, in an order that others have given them. */
export type WaitingLine = {
  /** @param order places by `sinceUs`, then by `ticket` */
  join(order: Order): Place;
  /** Lets those look again that have one of the tickets. */
  tell(tickets: readonly string[]): void;
  /** Lets the first in line look again, and each of the others when it comes to be the first. */
  wake(): void;
};

export type Order = { readonly sinceUs: number; readonly ticket: string };

export type Place = {
  /**
   * Resolves when it is worth looking again: this place was told, or it is the first and the line was woken, or `pollMs`
   * have passed.
   * @throws the signal's reason
   */
  untilDue(signal: AbortSignal): Promise<void>;
  /** Whoever gave up may have been told: the next one looks in its stead. */
  leave(how: "served" | "gave up"): void;
};

type Waiting = {
  readonly order: Order;
  due: "now" | "when first" | "when told";
  /** There while it waits. */
  look: (() => void) | undefined;
};

/** @param pollMs after which the first in line looks again, because nobody may have said anything */
export function waitingLine(pollMs: number): WaitingLine {
  const line: Waiting[] = [];
  return {
    join(order) {
      const own: Waiting = { order, due: "when told", look: undefined };
      line.push(own);
      line.sort(inOrder);
      return {
        untilDue: (signal) => waitUntilDue(own, { line, pollMs, signal }),
        leave(how) {
          const place = line.indexOf(own);
          line.splice(place, 1);
          if (how === "gave up") callUp(line[place]);
          else if (line[0]?.due === "when first") callUp(line[0]);
        },
      };
    },
    tell(tickets) {
      for (const waiting of line) if (tickets.includes(waiting.order.ticket)) callUp(waiting);
    },
    wake() {
      for (const waiting of line) if (waiting.due === "when told") waiting.due = "when first";
      callUp(line[0]);
    },
  };
}

const inOrder = ({ order: a }: Waiting, { order: b }: Waiting): number =>
  a.sinceUs - b.sinceUs || (a.ticket < b.ticket ? -1 : 1);

/** One that is looking at this moment looks once more. */
function callUp(waiting: Waiting | undefined): void {
  if (waiting === undefined) return;
  waiting.due = "now";
  waiting.look?.();
}

type Waits = {
  readonly line: readonly Waiting[];
  readonly pollMs: number;
  readonly signal: AbortSignal;
};

function waitUntilDue(own: Waiting, { line, pollMs, signal }: Waits): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearInterval(timer);
      signal.removeEventListener("abort", abort);
      own.look = undefined;
    };
    const look = (): void => {
      end();
      own.due = "when told";
      resolve();
    };
    const abort = (): void => {
      end();
      reject(signal.reason as Error);
    };
    const isFirst = (): boolean => line[0] === own;
    const timer = setInterval(() => {
      if (isFirst()) look();
    }, pollMs);
    own.look = look;
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    else if (own.due === "now" || (own.due === "when first" && isFirst())) look();
  });
}
