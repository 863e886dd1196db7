import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { splitIntoParts } from "../../../src/worker/pipeline/split-into-parts.ts";

test("the parts are the text, none over the limit, with the lines that they cover", () => {
  const piece = fc.constantFrom(
    "\n",
    "\n\n",
    "\n# Head\n",
    ". ",
    " ",
    "word",
    "🚲",
    "a long run of letters",
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 200 }),
      fc.integer({ min: 2, max: 60 }),
      (pieces, limit) => {
        const text = pieces.join("");
        const parts = splitIntoParts(text, limit);
        expect(parts.map((part) => part.text).join("")).toBe(text);
        for (const part of parts) {
          expect(part.text.length).toBeLessThanOrEqual(limit);
          expect(part.text).not.toMatch(/^[\uDC00-\uDFFF]/);
          expect(part.lineEnd).toBeGreaterThanOrEqual(part.lineStart);
        }
      },
    ),
  );
});

test("it cuts before a heading rather than in a paragraph", () => {
  const parts = splitIntoParts("# A\n\nOne two. Three.\n\n# B\n\nFour five six.\n", 30);
  expect(parts).toEqual([
    { text: "# A\n\nOne two. Three.\n\n", lineStart: 1, lineEnd: 4 },
    { text: "# B\n\nFour five six.\n", lineStart: 5, lineEnd: 7 },
  ]);
});
