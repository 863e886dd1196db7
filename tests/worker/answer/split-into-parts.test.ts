import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { splitIntoParts } from "../../../src/worker/answer/parts.ts";
import type { TextPart } from "../../../src/worker/answer/parts.ts";
import { countLines } from "../../../src/worker/evidence/piece.ts";
import { countCodePoints, firstCodePoints } from "../../../src/worker/text/clean-text.ts";

const pieces = fc.array(
  fc.constantFrom(
    ..."\n,\n\n,\r\n,\r\n\r\n,\r,\n# Head\n,. , ,。,word,🚲,👩‍🚀,e\u0301,火车,a long run of letters".split(
      ",",
    ),
  ),
  { maxLength: 200 },
);
const texts = fc.oneof(
  pieces.map((found) => found.join("")),
  fc.string({ unit: "binary", maxLength: 400 }),
);

/** The line, from 1, on which the code point at an offset stands; a CRLF belongs to the line that it ends. */
function lineAt(text: string, offset: number): number {
  const before = firstCodePoints(text, offset);
  const isInCrLf = before.endsWith("\r") && text.charAt(before.length) === "\n";
  return countLines(`${isInCrLf ? before.slice(0, -1) : before}x`);
}

function expectExact(text: string, parts: readonly TextPart[]): void {
  expect(parts.map((part) => part.text).join("")).toBe(text);
  let position = 0;
  for (const part of parts) {
    expect(part.startChar).toBe(position);
    position += countCodePoints(part.text);
    expect(part.endChar).toBe(position);
    expect(part.lineStart).toBe(lineAt(text, part.startChar));
    expect(part.lineEnd).toBe(lineAt(text, part.endChar - 1));
  }
  expect(position).toBe(countCodePoints(text));
}

test("the parts are the text: contiguous from 0 to the end, none over the limit, with the lines they cover", () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 2, max: 60 }), (text, limit) => {
      const parts = splitIntoParts(text, limit);
      expectExact(text, parts);
      for (const part of parts) expect(part.text.length).toBeLessThanOrEqual(limit);
    }),
    { numRuns: 500 },
  );
});

test("no cut goes through a surrogate pair or a CRLF", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("🚲", "\r\n", "x")),
      fc.integer({ min: 2, max: 7 }),
      (found, limit) => {
        for (const { text } of splitIntoParts(found.join(""), limit)) {
          expect(text.isWellFormed()).toBe(true);
          expect(text).not.toMatch(/^\n|\r$/);
        }
      },
    ),
  );
});

test("a part is cut again where it stands in its file", () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 20, max: 60 }), (text, limit) => {
      const again = splitIntoParts(text, limit).flatMap((part) =>
        splitIntoParts(part.text, Math.max(2, Math.ceil(part.text.length / 2)), part),
      );
      expectExact(text, again);
    }),
  );
});

describe("it cuts", () => {
  const cut = (text: string, limit: number): string[] =>
    splitIntoParts(text, limit).map((part) => part.text);

  test.each([
    [
      "before a heading rather than in a paragraph",
      "# A\n\nOne two. Three.\n\n# B\n\nFour five six.\n",
      30,
      "# A\n\nOne two. Three.\n\n",
    ],
    [
      "after a blank line rather than after a line",
      "One two.\n\nThree\nfour five\nsix.",
      16,
      "One two.\n\n",
    ],
    [
      "after a blank line of CRLF",
      "One two.\r\n\r\nThree\r\nfour five\r\nsix.",
      18,
      "One two.\r\n\r\n",
    ],
    ["after a sentence rather than at a blank", "One two. Three four five six", 14, "One two. "],
    ["after a sentence without blanks", "火车每小时运行。车票四欧元和更多", 14, "火车每小时运行。"],
    ["anywhere where there is no better place", "x".repeat(30), 20, "x".repeat(20)],
  ])("%s", (_, text, limit, first) => {
    expect(cut(text, limit)[0]).toBe(first);
  });
});
