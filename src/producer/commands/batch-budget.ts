import type { CommandContext } from "../../shared/commands/command-context.ts";
import { checkedCommand } from "../../shared/commands/command-context.ts";
import { notifyJobs } from "../../shared/store/jobs/batches.ts";
import { evaluateHolds } from "../../shared/store/jobs/holds.ts";
import { selectBatchBudget, setBatchBudget } from "../../shared/store/hosts/budgets.ts";
import type { BatchBudget, BudgetChange } from "../../shared/store/hosts/budgets.ts";
import { Failure } from "../../shared/failure.ts";
import { findNamedBatch } from "../../shared/views/find-named-batch.ts";
import { formatState } from "../../shared/views/batch-words.ts";
import { formatCount, formatDuration, formatMoney } from "../../shared/views/quantity.ts";
import { argumentOf, given, textOf } from "./options.ts";
import { quoteForShell } from "../../shared/terminal/styled-text.ts";

/** Shows the cost of a batch's model calls, and changes its limits; a batch that was held goes on. */
export const batchBudget = checkedCommand(
  changeOf,
  async ({ terminal, invocation }, database, change) => {
    const { batchId } = await findNamedBatch(database, argumentOf(invocation));
    if (Object.keys(change).length > 0) {
      await setBatchBudget(database, batchId, change);
      await evaluateHolds(database);
      await notifyJobs(database);
    }
    const batch = await findNamedBatch(database, batchId);
    const budget = (await selectBatchBudget(database, batchId)) ?? NO_BUDGET;
    if (terminal.isJson)
      return terminal.printJson({ batch_id: batchId, batch: batch.name, ...budgetJson(budget) });
    await terminal.print(`batch     ${batch.name}`);
    await terminal.print(`state     ${formatState(batch)}`);
    for (const line of formatBudget(budget, batch.name)) await terminal.print(line);
  },
);

function changeOf({ invocation: { options } }: CommandContext): BudgetChange {
  return given({
    tokens: limitOf(textOf(options, "tokens"), "--tokens", "whole"),
    calls: limitOf(textOf(options, "calls"), "--calls", "whole"),
    seconds: limitOf(textOf(options, "wallTime"), "--wall-time", "any"),
    money: limitOf(textOf(options, "money"), "--money", "any"),
  });
}

/** @returns null for `none`, which lifts a limit */
function limitOf(
  text: string | undefined,
  flag: string,
  numbers: "whole" | "any",
): number | null | undefined {
  if (text === undefined) return undefined;
  if (text === "none") return null;
  const limit = Number(text);
  const isValid = Number.isSafeInteger(limit) || (numbers === "any" && Number.isFinite(limit));
  if (isValid && limit > 0 && text.trim() !== "") return limit;
  const expected = numbers === "whole" ? "a whole number from 1" : "a number above 0";
  throw new Failure(
    "USAGE_ERROR",
    `${flag} is ${JSON.stringify(text)}; expected ${expected}, or none for no limit.`,
  );
}

/** The budget of a batch without calls and without limits of its own. */
export const NO_BUDGET: BatchBudget = {
  limits: { tokens: null, calls: null, seconds: null, money: null },
  used: { tokens: 0, calls: 0, seconds: 0, money: 0 },
  reserved: { tokens: 0, calls: 0, money: 0 },
  refusedBy: null,
  tokensNeeded: null,
  moneyNeeded: null,
};

/** A budget in the form of `--json`. */
const budgetJson = ({
  limits,
  used,
  reserved,
  refusedBy,
  tokensNeeded,
  moneyNeeded,
}: BatchBudget): object => ({
  limits,
  used,
  reserved,
  refused_by: refusedBy,
  tokens_needed: tokensNeeded,
  money_needed: moneyNeeded,
});

/** One line each for tokens, calls, time and used money, and two for a refused call and its remedy. */
export function formatBudget(budget: BatchBudget, batch: string): readonly string[] {
  const { limits, used, reserved } = budget;
  const seconds = (value: number): string => formatDuration(value * 1000);
  return [
    `tokens    ${describe(used.tokens, limits.tokens, formatCount)}${inFlight(reserved.tokens, formatCount)}`,
    `calls     ${describe(used.calls, limits.calls, formatCount)}${inFlight(reserved.calls, formatCount)}`,
    `time      ${describe(used.seconds, limits.seconds, seconds)}`,
    ...(limits.money === null && used.money + reserved.money === 0
      ? []
      : [
          `money     ${describe(used.money, limits.money, formatMoney)}${inFlight(reserved.money, formatMoney)}`,
        ]),
    ...formatRefused(budget, batch),
  ];
}

function formatRefused(budget: BatchBudget, batch: string): readonly string[] {
  const { refusedBy, tokensNeeded } = budget;
  if (refusedBy === null) return [];
  const short = refusedBy === "night" ? [] : exceededFlags(budget);
  const isOfTokens = short.length === 0 || short.includes("--tokens");
  const size = isOfTokens ? `, which may take ${formatCount(tokensNeeded ?? 0)} tokens` : "";
  const flags = (short.length === 0 ? ["--tokens"] : short).map((flag) => `${flag} N`).join(" ");
  return [
    `held      the budget of the ${refusedBy} has no room for the next call${size}`,
    refusedBy === "night"
      ? "          to raise it: budgets.night in the configuration, then start the workers again"
      : `          to raise it: nightdesk batch budget ${quoteForShell(batch)} ${flags}`,
  ];
}

/** The time that the database reserves for a call before it is made. */
const LEAST_CALL_S = 0.001;

/** The flags of the batch limits that the next call would exceed. */
function exceededFlags({
  limits,
  used,
  reserved,
  tokensNeeded,
  moneyNeeded,
}: BatchBudget): readonly string[] {
  const isOver = (needed: number, limit: number | null) => limit !== null && needed > limit;
  return [
    ...(isOver(used.tokens + reserved.tokens + (tokensNeeded ?? 0), limits.tokens)
      ? ["--tokens"]
      : []),
    ...(isOver(used.calls + reserved.calls + 1, limits.calls) ? ["--calls"] : []),
    ...(isOver(used.seconds + LEAST_CALL_S, limits.seconds) ? ["--wall-time"] : []),
    ...(isOver(used.money + reserved.money + (moneyNeeded ?? 0), limits.money) ? ["--money"] : []),
  ];
}

const describe = (used: number, limit: number | null, format: (value: number) => string): string =>
  `${format(used)} used, ${limit === null ? "no limit" : `of ${format(limit)}`}`;

const inFlight = (reserved: number, format: (value: number) => string): string =>
  reserved === 0 ? "" : `; ${format(reserved)} reserved by calls in flight`;
