import type { BatchBudget } from "../../shared/db/pacing/budgets.ts";
import { formatCount, formatDuration } from "./quantity.ts";

/** Of a batch that has made no call, and has no limits of its own. */
export const NO_BUDGET: BatchBudget = {
  limits: { tokens: null, calls: null, seconds: null },
  used: { tokens: 0, calls: 0, seconds: 0 },
  reserved: { tokens: 0, calls: 0 },
  refusedBy: null,
  tokensNeeded: null,
};

/** A budget as `--json` gives it. */
export const budgetJson = ({
  limits,
  used,
  reserved,
  refusedBy,
  tokensNeeded,
}: BatchBudget): object => ({
  limits,
  used,
  reserved,
  refused_by: refusedBy,
  tokens_needed: tokensNeeded,
});

/** One line each for tokens, calls and time, and one for what was refused. */
export function describeBudget(budget: BatchBudget): readonly string[] {
  const { limits, used, reserved, refusedBy, tokensNeeded } = budget;
  const seconds = (value: number): string => formatDuration(value * 1000);
  return [
    `tokens    ${describe(used.tokens, limits.tokens, formatCount)}${inFlight(reserved.tokens)}`,
    `calls     ${describe(used.calls, limits.calls, formatCount)}${inFlight(reserved.calls)}`,
    `time      ${describe(used.seconds, limits.seconds, seconds)}`,
    ...(refusedBy === null
      ? []
      : [
          `held      the budget of the ${refusedBy} has no room for the next call, which may take ${formatCount(tokensNeeded ?? 0)} tokens`,
        ]),
  ];
}

const describe = (used: number, limit: number | null, format: (value: number) => string): string =>
  `${format(used)} used, ${limit === null ? "no limit" : `of ${format(limit)}`}`;

const inFlight = (reserved: number): string =>
  reserved === 0 ? "" : `; ${formatCount(reserved)} reserved by calls in flight`;
