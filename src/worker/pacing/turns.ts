import { randomUUID } from "node:crypto";
import type { Queryable } from "../../shared/store/connection/database.ts";
import { endCall, NOT_MADE, takeCall } from "../../shared/store/hosts/calls.ts";
import type { BudgetRefusal, CallCost, CallEnd } from "../../shared/store/hosts/calls.ts";
import { enterHost } from "../../shared/store/hosts/hosts.ts";
import type { HostPlace } from "../../shared/store/hosts/hosts.ts";
import { Failure, HostFailure } from "../../shared/failure.ts";
import { RunAborted } from "../../shared/settlement.ts";
import { whenReachable } from "../runtime/when-reachable.ts";
import type { Place, WaitingLine } from "./waiting-line.ts";

/** A call that a host has room for until `end`. */
export type TakenTurn = {
  readonly waitedMs: number;
  /** Never throws: what can't be said is charged with what was asked for. */
  end(end: CallEnd): Promise<void>;
};

export type TurnPlace = {
  readonly db: Queryable;
  readonly host: HostPlace;
  /** Of this process; among processes the database knows who came first. */
  readonly line: WaitingLine;
  /** Called before the first wait: from now on somebody has to wake the line. */
  readonly listen: () => Promise<void>;
};

/**
 * Takes a turn at a host for a run, however long that takes.
 * @param costOf what the call may cost; null for one that no budget counts
 * @throws HostFailure MODEL_UNREACHABLE, Failure BUDGET_EXCEEDED, RunAborted, the signal's reason
 */
export async function takeTurn(
  runId: string,
  costOf: () => CallCost | null,
  place: TurnPlace,
  signal: AbortSignal,
): Promise<TakenTurn> {
  const { db, line } = place;
  const ticket = randomUUID();
  const startedAt = performance.now();
  let own: Place | undefined;
  try {
    for (;;) {
      const look = await lookFor({ ticket, runId, host: place.host.host }, costOf(), place);
      signal.throwIfAborted();
      if (look === "taken") break;
      if (own === undefined) {
        own = line.join({ sinceUs: look.sinceUs, ticket });
        await place.listen();
      }
      await own.untilDue(signal);
    }
    own?.leave("served");
  } catch (error) {
    await endSafely(db, ticket, NOT_MADE);
    own?.leave("gave up");
    throw error;
  }
  return {
    waitedMs: own === undefined ? 0 : performance.now() - startedAt,
    end: (end) => endSafely(db, ticket, end),
  };
}

type Call = { readonly ticket: string; readonly runId: string; readonly host: string };

async function lookFor(
  call: Call,
  cost: CallCost | null,
  { db, host }: Pick<TurnPlace, "db" | "host">,
): Promise<"taken" | { readonly sinceUs: number }> {
  const taken = await takeCall(db, call, cost);
  switch (taken.outcome) {
    case "taken":
      return "taken";
    case "wait":
      return { sinceUs: taken.detail.since_us };
    case "unknown":
      await enterHost(db, host);
      return lookFor(call, cost, { db, host });
    case "lost":
      throw new RunAborted("lease_lost");
    case "open":
      throw hostDown(call.host, taken.detail);
    case "budget":
      throw overBudget(taken.detail);
  }
}

const hostDown = (
  host: string,
  { error_message, next_probe_at }: { error_message: string | null; next_probe_at: Date },
): HostFailure =>
  new HostFailure(
    "MODEL_UNREACHABLE",
    `${host} is down, and is asked again at ${next_probe_at.toISOString()}. ${error_message ?? ""}`.trim(),
    { host },
  );

const UNITS = { tokens: "tokens", calls: "calls", seconds: "seconds of model time" } as const;

const overBudget = ({ by, what, limit, used, reserved, needed }: BudgetRefusal): Failure =>
  new Failure(
    "BUDGET_EXCEEDED",
    `The ${by}'s budget is ${limit} ${UNITS[what]}: ${used} are used, ${reserved} reserved, and the next call may take ` +
      `${needed}. ${by === "batch" ? "Raise it with: nightdesk batch budget" : "Raise budgets.night, or wait for the next night"}`,
  );

const END_RETRIES_MS = [100, 250, 500, 1_000];

const endSafely = (db: Queryable, ticket: string, end: CallEnd): Promise<void> =>
  whenReachable(
    () => endCall(db, ticket, end),
    END_RETRIES_MS,
    () => undefined,
  ).catch(() => undefined);
