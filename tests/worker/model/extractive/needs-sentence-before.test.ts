import { describe, expect, test } from "@jest/globals";
import { needsSentenceBefore } from "../../../../src/worker/model/extractive/needs-sentence-before.ts";

const NONE: ReadonlySet<string> = new Set();

describe("a sentence needs the one before it", () => {
  test.each([
    "It lies in the shadow of the boulder.",
    "They weigh 38 kg each.",
    "However, the gate stays shut.",
    "Therefore nobody rides in the crate.",
    "**But** the wind had noticed.",
    "This means three minutes of boiling.",
    "That is why the lamp is on.",
    "These were sold in June.",
    "Her name is on the door.",
    "In it were 611 names.",
    "If it is not, let the generator run first.",
    "From there it is a staircase of slabs.",
    "Each has its number burnt into the top edge.",
    "Both are spare.",
    "For example, the pump.",
    "As a result the road was closed.",
    "The latter is cheaper.",
    '"It was too hot," said Jonas.',
    "So the bread was late.",
  ])("%s", (sentence) => {
    expect(needsSentenceBefore(sentence, NONE)).toBe(true);
  });
});

describe("a sentence stands for itself", () => {
  test.each([
    "The pump is red.",
    "It is important that the valve is closed.",
    "It takes an hour and fifty minutes.",
    "It rains.",
    "This year the piano was tuned.",
    "That evening the fog came.",
    "Those who sign pay the fee.",
    "So far nobody has complained.",
    "Instead of a bell there is a horn.",
    "Each shutter has a number.",
    "Some guests sing.",
    "If the lamp is off, boil the water.",
    "From June on the path is open.",
    "Italy is warm.",
    "Marta: It is ready.",
    "",
  ])("%s", (sentence) => {
    expect(needsSentenceBefore(sentence, NONE)).toBe(false);
  });

  test("when its heading holds the noun that it points to", () => {
    expect(needsSentenceBefore("This agreement ends in May.", new Set(["agreement"]))).toBe(false);
    expect(needsSentenceBefore("This agreement ends in May.", NONE)).toBe(true);
  });
});
