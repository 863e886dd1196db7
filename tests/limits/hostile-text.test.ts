import { expect, test } from "@jest/globals";
import { candidatesOf } from "../../src/worker/models/extractive/candidates.ts";
import { rankForQuestion } from "../../src/worker/models/extractive/rank-for-question.ts";
import { rankForSummary } from "../../src/worker/models/extractive/rank-for-summary.ts";
import { timeTaken } from "../support/time-taken.ts";

/** A text of so many characters out of numbered pieces. */
function grown(chars: number, piece: (index: number) => string): string {
  const pieces: string[] = [];
  for (let length = 0; length < chars; length += pieces.at(-1)?.length ?? chars) {
    pieces.push(piece(pieces.length));
  }
  return pieces.join("");
}

const HALF = 250_000;

test.each([
  ["pronouns", grown(HALF, () => "It is so. ")],
  ["text between aligned lines", grown(HALF, (n) => `text ${n}\n a  b  c${n}\n`)],
  ["a heading of endless length", `# ${"h".repeat(HALF)}\n${grown(HALF, (n) => `a  b ${n}\n`)}`],
  ["a table of endless width", `|${"a|".repeat(HALF / 2)}\n${grown(HALF, (n) => `|x|${n}|\n`)}`],
  ["members of JSON", `{\n${grown(HALF, (n) => `"k${n}": "${"v".repeat(50)}",\n`)}`],
  ["speakers", grown(HALF, (n) => `Marta Lind ${n}: It is here.\n\n`)],
  ["spelled letters", "a.".repeat(HALF / 2)],
  ["open brackets", "[1,".repeat(HALF / 3)],
])("a quarter of a megabyte of %s takes less than 5 s", (_, text) => {
  const evidence = [{ number: 1, path: "a.md", title: "Pay day", headingPath: null, text }];
  const rank = () => {
    const candidates = candidatesOf(evidence);
    rankForSummary(candidates, "Pay day", 10);
    rankForQuestion(candidates, "What did Marta Lind think of the text?", 3);
    rankForQuestion(candidates, text.slice(0, 20_000), 3);
  };
  expect(timeTaken(rank, 5_000)).toBeLessThan(5_000);
});
