import { expect, test } from "@jest/globals";
import { checkAnswer } from "../../../src/worker/verify/check-answer.ts";
import type { AnswerRules } from "../../../src/worker/verify/check-answer.ts";
import { blockOf, rulesFor } from "./support-world.ts";

const evidence = [
  blockOf(1, "shop.md", "Bikes must be back by six in the evening. Helmets hang beside the door."),
  blockOf(2, "prices.md", "The deposit for a cargo bike is forty euros. It is paid in cash."),
  blockOf(3, "pump.md", "| Pump | Weight | Price |\n|---|---|---|\n| AQ-60 | 12.4 kg | 249 EUR |"),
  blockOf(4, "prices.md", "A lost lock costs fifteen euros, payable at the counter.", {
    headingPath: "Locks",
  }),
];
/** How many statements are unsupported because another piece carries them. */
const misplaced = (text: string, more: Partial<AnswerRules> = {}): number => {
  const rules = rulesFor(evidence, more);
  const checked = checkAnswer({ text, toolCalls: [], doneReason: "stop" }, rules);
  if (checked.kind !== "passed") throw new Error(`it is ${checked.kind}`);
  return checked.statements.filter(
    ({ record: { grade, checks } }) =>
      grade === "unsupported" && checks.some(({ rule }) => rule === "misplaced"),
  ).length;
};

test.each([
  "The deposit for a cargo bike is forty euros [1].",
  "Bikes must be back by six in the evening [2].",
  "Bikes must be back by six in the evening [1]. The deposit for a cargo bike is paid in cash [3].",
  "The AQ-60 weighs 12.4 kg and its price is 249 EUR [1].",
])("a sentence that another piece carries than the cited one is unsupported: %s", (text) => {
  expect(misplaced(text)).toBe(1);
});

test.each([
  ["the right piece", "The deposit for a cargo bike is forty euros [2]."],
  ["the right piece among others", "The deposit for a cargo bike is forty euros [1][2]."],
  ["the file, one of whose pieces carries it", "A lost lock costs fifteen euros [prices.md]."],
  ["what no piece carries in these words", "Das Pfand beträgt vierzig Euro [1]."],
  ["in few words", "Forty euros [1]."],
])("citing %s is none", (_, text) => {
  expect(misplaced(text)).toBe(0);
});

test("it is none where citations need not be good", () => {
  const text = "The deposit for a cargo bike is forty euros [1].";
  expect(misplaced(text, { citations: "known" })).toBe(0);
});
