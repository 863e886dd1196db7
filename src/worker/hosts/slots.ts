import { randomUUID } from "node:crypto";
import { Failure } from "../../shared/failure.ts";
import { RunAborted } from "../../shared/job/settlement.ts";
import type { Queryable } from "../../shared/store/connection/database.ts";
import { endCall, UNMADE_CALL, takeCall } from "../../shared/store/hosts/calls.ts";
import type { BudgetRefusal, CallCost, CallEnd } from "../../shared/store/hosts/calls.ts";
import { enterHost } from "../../shared/store/hosts/hosts.ts";
import type { CallPlace } from "../../shared/config/hosts.ts";
import { hostDown, hostPaused } from "../models/host-failure.ts";
import { LONG_PAUSE_MS } from "../models/limiter.ts";
import { retryOnDisconnect } from "../loop.ts";

/** A slot of a host that is taken until `end`. */
type TakenSlot = {
  readonly ticket: string;
  readonly waitedMs: number;
  /** Never throws: if the end can't be stored, the call is charged with its estimate. */
  end(end: CallEnd): Promise<void>;
};

export type SlotPlace = {
  readonly db: Queryable;
  readonly host: CallPlace;
  /** The queue of this process; between processes the database knows the order. */
  readonly line: WaitQueue;
  /** Called before the first wait, so that notifications wake the queue from then on. */
  readonly listen: () => Promise<void>;
};

/**
 * Takes a slot of a host for a run, and waits as long as necessary.
 * @param costOf the most that the call may cost; null for a call that no budget counts
 * @throws HostFailure MODEL_UNREACHABLE, Failure BUDGET_EXCEEDED, RunAborted, the signal's reason
 */
export async function acquireSlot(
  runId: string,
  costOf: () => CallCost | null,
  place: SlotPlace,
  signal: AbortSignal,
): Promise<TakenSlot> {
  const { db, line } = place;
  const ticket = randomUUID();
  const startedAt = performance.now();
  let own: QueueEntry | undefined;
  try {
    for (;;) {
      const look = await tryTakeSlot({ ticket, runId, host: place.host.host }, costOf(), place);
      signal.throwIfAborted();
      if (look === "taken") break;
      if ((look.againMs ?? 0) > LONG_PAUSE_MS) throw hostPaused(place.host.host, look.againMs ?? 0);
      if (own === undefined) {
        own = line.join({ sinceUs: look.sinceUs, ticket });
        await place.listen();
      }
      await own.untilDue(signal, look.againMs);
    }
    own?.leave("served");
  } catch (error) {
    await endSafely(db, ticket, UNMADE_CALL);
    own?.leave("gave up");
    throw error;
  }
  return {
    ticket,
    waitedMs: own === undefined ? 0 : performance.now() - startedAt,
    end: (end) => endSafely(db, ticket, end),
  };
}

type Call = { readonly ticket: string; readonly runId: string; readonly host: string };

async function tryTakeSlot(
  call: Call,
  cost: CallCost | null,
  { db, host }: Pick<SlotPlace, "db" | "host">,
): Promise<"taken" | { readonly sinceUs: number; readonly againMs: number | null }> {
  const taken = await takeCall(db, call, cost);
  switch (taken.outcome) {
    case "taken":
      return "taken";
    case "wait":
      return { sinceUs: taken.detail.since_us, againMs: taken.detail.again_ms };
    case "unknown":
      await enterHost(db, host);
      return tryTakeSlot(call, cost, { db, host });
    case "lost":
      throw new RunAborted("lease_lost");
    case "open":
      throw hostDown(call.host, taken.detail);
    case "budget":
      throw overBudget(taken.detail);
  }
}

const UNITS = {
  tokens: "tokens",
  calls: "calls",
  seconds: "seconds of model time",
  money: "of money",
} as const;

const overBudget = ({ by, what, limit, used, reserved, needed }: BudgetRefusal): Failure =>
  new Failure(
    "BUDGET_EXCEEDED",
    `The ${by}'s budget is ${limit} ${UNITS[what]}: ${used} are used, ${reserved} reserved, and the next call may take ` +
      `${needed}. ${by === "batch" ? "Raise it with: nightdesk batch budget" : "Raise budgets.night, or wait for the next night"}`,
  );

const END_RETRIES_MS = [100, 250, 500, 1_000];

const endSafely = (db: Queryable, ticket: string, end: CallEnd): Promise<void> =>
  retryOnDisconnect(
    () => endCall(db, ticket, end),
    END_RETRIES_MS,
    () => undefined,
  ).catch(() => undefined);

/** The callers of this process that wait for the same host, in the order of the database. */
export type WaitQueue = {
  /** @param order places by `sinceUs`, then by `ticket` */
  join(order: Order): QueueEntry;
  /** Lets the callers with one of these tickets try again. */
  tell(tickets: readonly string[]): void;
  /** Lets the first in line try again, and each of the others when it becomes the first. */
  wake(): void;
};

type Order = { readonly sinceUs: number; readonly ticket: string };

export type QueueEntry = {
  /**
   * Resolves when another try makes sense: this ticket was notified, or it is the first and the line was woken, or `pollMs`
   * have passed; in any case after `againMs`, whatever its place.
   * @throws the signal's reason
   */
  untilDue(signal: AbortSignal, againMs?: number | null): Promise<void>;
  /** A caller that gave up may have been notified: the next one tries instead. */
  leave(how: "served" | "gave up"): void;
};

type Waiting = {
  readonly order: Order;
  due: "now" | "when first" | "when told";
  /** Set while it waits. */
  look: (() => void) | undefined;
};

/** @param pollMs the first in line tries again after this, because a notification may be lost */
export function waitQueue(pollMs: number): WaitQueue {
  const line: Waiting[] = [];
  return {
    join(order) {
      const own: Waiting = { order, due: "when told", look: undefined };
      line.push(own);
      line.sort(inOrder);
      return {
        untilDue: (signal, againMs = null) => waitUntilDue(own, { line, pollMs, againMs, signal }),
        leave(how) {
          const place = line.indexOf(own);
          line.splice(place, 1);
          if (how === "gave up") wakeOne(line[place]);
          else if (line[0]?.due === "when first") wakeOne(line[0]);
        },
      };
    },
    tell(tickets) {
      for (const waiting of line) if (tickets.includes(waiting.order.ticket)) wakeOne(waiting);
    },
    wake() {
      for (const waiting of line) if (waiting.due === "when told") waiting.due = "when first";
      wakeOne(line[0]);
    },
  };
}

const inOrder = ({ order: a }: Waiting, { order: b }: Waiting): number =>
  a.sinceUs - b.sinceUs || (a.ticket < b.ticket ? -1 : 1);

/** If the caller is trying at this moment, it tries once more. */
function wakeOne(waiting: Waiting | undefined): void {
  if (waiting === undefined) return;
  waiting.due = "now";
  waiting.look?.();
}

type WaitOptions = {
  readonly line: readonly Waiting[];
  readonly pollMs: number;
  readonly againMs: number | null;
  readonly signal: AbortSignal;
};

function waitUntilDue(own: Waiting, { line, pollMs, againMs, signal }: WaitOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearInterval(timer);
      clearTimeout(paced);
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
    const paced = againMs === null ? undefined : setTimeout(look, againMs);
    own.look = look;
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    else if (own.due === "now" || (own.due === "when first" && isFirst())) look();
  });
}
