import { expect, test } from "@jest/globals";
import { formatBudget, NO_BUDGET } from "../../../src/producer/commands/batch-budget.ts";

const UNLIMITED = { tokens: null, calls: null, seconds: null, money: null };
const REFUSED = {
  ...NO_BUDGET,
  used: { tokens: 420, calls: 20, seconds: 0.2, money: 0 },
  refusedBy: "batch" as const,
  tokensNeeded: 876,
};
const heldOf = (limits: Partial<Record<keyof typeof UNLIMITED, number>>) =>
  formatBudget({ ...REFUSED, limits: { ...UNLIMITED, ...limits } }, "tonight").slice(3);

test("calls that are used up are named, and not the tokens of the next one", () => {
  expect(heldOf({ calls: 20, tokens: 1_000_000 })).toEqual([
    "held      the budget of the batch has no room for the next call",
    '          to raise it: nightdesk batch budget "tonight" --calls N',
  ]);
});

test("time that is used up is named with tokens that would not do either", () => {
  expect(heldOf({ seconds: 0.2, tokens: 1_000 })).toEqual([
    "held      the budget of the batch has no room for the next call, which may take 876 tokens",
    '          to raise it: nightdesk batch budget "tonight" --tokens N --wall-time N',
  ]);
});

test("the budget of a night is raised in the configuration", () => {
  expect(formatBudget({ ...REFUSED, refusedBy: "night" }, "tonight").slice(3)).toEqual([
    "held      the budget of the night has no room for the next call, which may take 876 tokens",
    "          to raise it: budgets.night in the configuration, then start the workers again",
  ]);
});
