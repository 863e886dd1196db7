import { expect, test } from "@jest/globals";
import { leaveOut } from "../../../src/worker/verify/claims/leave-out.ts";
import { splitCitedText } from "../../../src/worker/verify/claims/split.ts";
import { splitClaims } from "../../support/split-claims.ts";

/** The answer without the claims that hold the word. */
const without = (word: string, answer: string): string =>
  leaveOut(answer, splitClaims(answer, 3), ({ text }) => text.includes(word));

test.each([
  [
    "a sentence",
    "Trains run [1]. PENGUINS swim [1]. It costs 12 [2].",
    "Trains run [1]. It costs 12 [2].",
  ],
  ["the first one", "PENGUINS swim [1]. Trains run [1].", "Trains run [1]."],
  [
    "an item",
    "- Trains run [1].\n- PENGUINS swim [1].\n- It costs 12 [2].",
    "- Trains run [1].\n- It costs 12 [2].",
  ],
  ["an item of a numbered list", "1. PENGUINS [1].\n2. Trains run [1].", "2. Trains run [1]."],
  ["a clause behind a semicolon", "Trains run [1]; PENGUINS swim [2].", "Trains run [1]."],
  ["a clause before one", "PENGUINS swim [2]; trains run [1].", "Trains run [1]."],
  [
    "a clause behind and",
    "The train runs [1], and the PENGUINS are swimming [2].",
    "The train runs [1].",
  ],
  ["all below a lead-in", "Trains run [1].\n\nAlso:\n- PENGUINS swim [1].", "Trains run [1]."],
  [
    "all that a lead-in introduces, before a paragraph",
    "Not included:\n\n- PENGUINS swim [1].\n- PENGUINS fly [1].\n\nMeals are free [1].",
    "Meals are free [1].",
  ],
  [
    "the first item of a list",
    "Included:\n\n- PENGUINS swim [1].\n\n- Meals are free [1].",
    "Included:\n\n\n- Meals are free [1].",
  ],
  ["all below a heading", "Trains run [1].\n\n## Birds\n\nPENGUINS swim [1].", "Trains run [1]."],
  ["what others cite with", "Trains run. PENGUINS swim [1].", "Trains run. [1]"],
  [
    "the clause that the citation of others stands behind",
    "Trains run all day; PENGUINS swim [1].",
    "Trains run all day [1].",
  ],
  [
    "one whose citation has other brackets",
    "Trains run all day; PENGUINS swim 【1】.",
    "Trains run all day [1].",
  ],
  ["one that is cited in parentheses", "Trains run; PENGUINS swim (1).", "Trains run [1]."],
  [
    "what a document cut off behind a citation",
    "Trains run every day. [1] the PENGUINS swim [2].",
    "Trains run every day. [1]",
  ],
  ["nothing", "Trains run [1].", "Trains run [1]."],
])("an answer without %s reads on", (_, answer, expected) => {
  expect(without("PENGUINS", answer)).toBe(expected);
});

test("a citation that names no piece is not written as [0]", () => {
  const answer = "Trains run. PENGUINS swim [gone.md].";
  const claims = splitCitedText(answer, [{ start: 26, end: 35, numbers: [0] }]);
  expect(leaveOut(answer, claims, ({ text }) => text.includes("PENGUINS"))).toBe("Trains run.");
});
