import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { embedFitting, TextTooLong } from "../../../src/worker/embedders/fit-texts.ts";

/** A host whose window holds `window` characters, and which leaves blank texts out of its reply. */
function hostOf(window: number) {
  const calls: (readonly string[])[] = [];
  const embed = async (texts: readonly string[]) => {
    calls.push(texts);
    if (texts.some((text) => text.length > window)) throw new TextTooLong("too long");
    return texts.filter((text) => text !== "").map((text) => Float32Array.of(text.length));
  };
  return { calls, embed };
}

describe("embedding texts of which some do not fit", () => {
  test("each text has its vector in its place, whole or of its beginning, and only the cut are counted", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ maxLength: 200, unit: "grapheme" }), { maxLength: 20 }),
        fc.integer({ min: 40, max: 150 }),
        async (texts, window) => {
          const { embed } = hostOf(window);
          let cut = 0;
          const onCut = () => {
            cut += 1;
          };
          const vectors = await embedFitting(texts, { embed, dims: 1, onCut });
          expect(vectors).toHaveLength(texts.length);
          const filled = texts.map((text) => (text.trim() === "" ? 0 : text.length));
          filled.forEach((length, index) => {
            const got = vectors[index]?.[0] ?? -1;
            if (length <= window) expect(got).toBe(length);
            else expect(got).toBeGreaterThan(Math.min(window, length) * 0.6);
          });
          expect(cut).toBe(filled.filter((length) => length > window).length);
        },
      ),
    );
  });

  test("a batch that fits is one call", async () => {
    const { embed, calls } = hostOf(100);
    await embedFitting(["a", "b", "c"], { embed, dims: 1, onCut: () => undefined });
    expect(calls).toHaveLength(1);
  });

  test("never cuts between the halves of a character", async () => {
    const { embed, calls } = hostOf(60);
    await embedFitting(["🌙".repeat(50)], { embed, dims: 1, onCut: () => undefined });
    expect(calls.flat().every((text) => text.isWellFormed())).toBe(true);
  });

  test("a host that refuses a few words as too long is not asked for ever", async () => {
    const { embed, calls } = hostOf(5);
    await expect(
      embedFitting(["x".repeat(1_000)], { embed, dims: 1, onCut: () => undefined }),
    ).rejects.toThrow(TextTooLong);
    expect(calls.length).toBeLessThan(20);
  });
});
