import { expect, test } from "@jest/globals";
import { checkAnswer } from "../../../src/worker/verify/check-answer.ts";
import { blockOf, rulesFor } from "./support-world.ts";

const evidence = [
  blockOf(1, "shop.md", "Bikes must be back by six in the evening. Helmets hang beside the door."),
  blockOf(2, "prices.md", "The deposit for a cargo bike is forty euros. It is paid in cash."),
  blockOf(3, "pump.md", "| Pump | Weight | Price |\n|---|---|---|\n| AQ-60 | 12.4 kg | 249 EUR |"),
];

const gradesOf = (text: string): readonly string[] => {
  const checked = checkAnswer({ text, toolCalls: [], doneReason: "stop" }, rulesFor(evidence));
  if (checked.kind !== "passed") throw new Error(`it is ${checked.kind}`);
  return checked.statements.map(({ record }) => record.grade);
};

test.each([
  ["The deposit for a cargo bike is forty euros [1].", ["unsupported"]],
  ["Bikes must be back by six in the evening [2].", ["unsupported"]],
  ["It is paid in cash [3].", ["unconfirmed"]],
  ["The AQ-60 weighs 12.4 kg and its price is 249 EUR [1].", ["unsupported"]],
])(
  "a sentence that another piece carries than the cited one is not supported: %s",
  (text, grades) => {
    expect(gradesOf(text)).toEqual(grades);
  },
);

test.each([
  "The deposit for a cargo bike is forty euros [2].",
  "The deposit for a cargo bike is forty euros [1][2].",
])("a sentence that the cited piece holds is supported: %s", (text) => {
  expect(gradesOf(text)).toEqual(["supported"]);
});
