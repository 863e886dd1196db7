import { test } from "@jest/globals";
import { candidatesOf } from "../../src/worker/models/extractive/candidates.ts";
import { rankForQuestion } from "../../src/worker/models/extractive/rank-for-question.ts";
import { rankForSummary } from "../../src/worker/models/extractive/rank-for-summary.ts";
import { expectLinear } from "../support/time-taken.ts";

/** A text of so many characters out of numbered pieces. */
function grown(chars: number, piece: (index: number) => string): string {
  const pieces: string[] = [];
  for (let length = 0; length < chars; length += pieces.at(-1)?.length ?? chars) {
    pieces.push(piece(pieces.length));
  }
  return pieces.join("");
}

/** A quarter of the longest, of which those that have two parts hold as much of each. */
const QUARTER = 16_000;

test.each<readonly [string, (half: number) => string]>([
  ["pronouns", (half) => grown(half, () => "It is so. ")],
  ["text between aligned lines", (half) => grown(half, (n) => `text ${n}\n a  b  c${n}\n`)],
  [
    "a heading of endless length",
    (half) => `# ${"h".repeat(half)}\n${grown(half, (n) => `a  b ${n}\n`)}`,
  ],
  [
    "a table of endless width",
    (half) => `|${"a|".repeat(half / 2)}\n${grown(half, (n) => `|x|${n}|\n`)}`,
  ],
  ["members of JSON", (half) => `{\n${grown(half, (n) => `"k${n}": "${"v".repeat(50)}",\n`)}`],
  ["speakers", (half) => grown(half, (n) => `Marta Lind ${n}: It is here.\n\n`)],
  ["spelled letters", (half) => "a.".repeat(half / 2)],
  ["open brackets", (half) => "[1,".repeat(half / 3)],
])("64,000 characters of %s take time in proportion to them", async (_, textOf) => {
  await expectLinear(QUARTER, (half) => {
    const text = textOf(half);
    const evidence = [{ number: 1, path: "a.md", title: "Pay day", headingPath: null, text }];
    return () => {
      const candidates = candidatesOf(evidence);
      rankForSummary(candidates, "Pay day", 10);
      rankForQuestion(candidates, "What did Marta Lind think of the text?", 3);
      rankForQuestion(candidates, text.slice(0, 5_000), 3);
    };
  });
});
