import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { normaliseText } from "../../../src/shared/text/normalise-text.ts";
import { wordsOf } from "../../../src/worker/text/content-words.ts";

const marks = (count: number): string => "\u0301\u0316".repeat(count / 2);

describe("one form of Unicode", () => {
  test.each(["NFC", "NFKC", "NFKD"] as const)("%s is that of the language", (form) => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(normaliseText(text, form)).toBe(text.normalize(form));
      }),
    );
  });

  test("up to 30 marks in a row stay, the rest is left out", () => {
    expect(normaliseText(`b${marks(30)}c`)).toBe(`b${marks(30)}c`.normalize("NFKC"));
    expect(normaliseText(`b${marks(50_000)}c`)).toBe(`b${marks(30)}c`.normalize("NFKC"));
    expect(normaliseText(`${marks(40)}b${marks(40)}`)).toBe(
      `${marks(30)}b${marks(30)}`.normalize("NFKC"),
    );
  });

  // Sorted by the language alone, a tenth of this takes minutes; matched in one piece, it exhausts the stack.
  test("ten million marks in a row are dealt with", () => {
    expect(normaliseText(`a${marks(10_000_000)}`, "NFKD")).toHaveLength(31);
    expect(wordsOf(`quay${marks(10_000_000)} house`)).toEqual(["quay", "house"]);
  });
});
