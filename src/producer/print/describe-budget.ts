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

/** One line each for tokens, calls and time, and two for what was refused and what to do about it. */
export function describeBudget(budget: BatchBudget, batch: string): readonly string[] {
  const { limits, used, reserved } = budget;
  const seconds = (value: number): string => formatDuration(value * 1000);
  return [
    `tokens    ${describe(used.tokens, limits.tokens, formatCount)}${inFlight(reserved.tokens)}`,
    `calls     ${describe(used.calls, limits.calls, formatCount)}${inFlight(reserved.calls)}`,
    `time      ${describe(used.seconds, limits.seconds, seconds)}`,
    ...describeRefused(budget, batch),
  ];
}

function describeRefused(budget: BatchBudget, batch: string): readonly string[] {
  const { refusedBy, tokensNeeded } = budget;
  if (refusedBy === null) return [];
  const short = refusedBy === "night" ? [] : shortOf(budget);
  const isOfTokens = short.length === 0 || short.includes("--tokens");
  const size = isOfTokens ? `, which may take ${formatCount(tokensNeeded ?? 0)} tokens` : "";
  const flags = (short.length === 0 ? ["--tokens"] : short).map((flag) => `${flag} N`).join(" ");
  return [
    `held      the budget of the ${refusedBy} has no room for the next call${size}`,
    refusedBy === "night"
      ? "          to raise it: budgets.night in the configuration, then start the workers again"
      : `          to raise it: nightdesk batch budget ${JSON.stringify(batch)} ${flags}`,
  ];
}

/** What the database takes a call to cost in time before it is made. */
const LEAST_CALL_S = 0.001;

/** The flags of those limits of a batch that the next call would go over. */
function shortOf({ limits, used, reserved, tokensNeeded }: BatchBudget): readonly string[] {
  const isOver = (needed: number, limit: number | null) => limit !== null && needed > limit;
  return [
    ...(isOver(used.tokens + reserved.tokens + (tokensNeeded ?? 0), limits.tokens)
      ? ["--tokens"]
      : []),
    ...(isOver(used.calls + reserved.calls + 1, limits.calls) ? ["--calls"] : []),
    ...(isOver(used.seconds + LEAST_CALL_S, limits.seconds) ? ["--wall-time"] : []),
  ];
}

const describe = (used: number, limit: number | null, format: (value: number) => string): string =>
  `${format(used)} used, ${limit === null ? "no limit" : `of ${format(limit)}`}`;

const inFlight = (reserved: number): string =>
  reserved === 0 ? "" : `; ${formatCount(reserved)} reserved by calls in flight`;
