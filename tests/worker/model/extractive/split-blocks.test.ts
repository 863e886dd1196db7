import { describe, expect, test } from "@jest/globals";
import { splitBlocks } from "../../../../src/worker/model/extractive/split-blocks.ts";

describe("splitBlocks", () => {
  test("takes a line above === or --- for a heading, and what follows for its text", () => {
    const blocks = splitBlocks(
      "Goulash\n=======\n\nFor sixty.\n\nThe onions\n----------\nFry them.\n",
    );
    expect(blocks.map(({ text, context }) => [text, context.trim()])).toEqual([
      ["For sixty.", "Goulash"],
      ["Fry them.", "Goulash The onions"],
    ]);
  });

  test.each([
    "- [ ] Boil the water.",
    "4. [x] Boil the water.",
    "12) Boil the water.",
    "> Boil the water.",
  ])("leaves the mark of %j out of its text", (line) => {
    expect(splitBlocks(line).map(({ text }) => text)).toEqual(["Boil the water."]);
  });

  test("takes a rule between two paragraphs for a rule", () => {
    expect(splitBlocks("One.\n\n---\n\nTwo.\n").map(({ text }) => text)).toEqual(["One.", "Two."]);
  });
});
