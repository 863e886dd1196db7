import { describe, expect, test } from "@jest/globals";
import { createHashingEmbedder } from "../../../src/worker/embedders/hashing.ts";

const embedder = createHashingEmbedder();
const embed = async (...texts: string[]) => embedder.embed(texts, new AbortController().signal);
const similarity = async (a: string, b: string) => {
  const [left, right] = await embed(a, b);
  return left?.reduce((sum, value, at) => sum + value * (right?.[at] ?? 0), 0) ?? Number.NaN;
};

describe("the hashing embedder", () => {
  test("gives vectors of unit length in order, and zeros for a text without a word", async () => {
    const [first, none, last] = await embed("the night desk", " -- ", "Nachtschicht");
    expect(first).toHaveLength(embedder.dims);
    for (const vector of [first, last]) {
      expect(Math.hypot(...(vector ?? []))).toBeCloseTo(1, 6);
    }
    expect(none?.every((value) => value === 0)).toBe(true);
    expect(await embed()).toEqual([]);
  });

  test("gives the same numbers on every machine: stored vectors stay comparable", async () => {
    const [vector] = await embed("Night desk");
    const strongest = Array.from(vector ?? [], (value, at) => [at, value.toFixed(5)] as const)
      .toSorted(([, a], [, b]) => Math.abs(Number(b)) - Math.abs(Number(a)))
      .slice(0, 2);
    expect({ signature: embedder.signature, strongest }).toMatchInlineSnapshot(`
      {
        "signature": "23f79c7258d47c1c3202bf2927b59171",
        "strongest": [
          [
            117,
            "0.63246",
          ],
          [
            377,
            "-0.63246",
          ],
        ],
      }
    `);
  });

  test("case, width of letters and punctuation do not matter", async () => {
    expect(await similarity("Night-Desk!", "ｎｉｇｈｔ desk")).toBeCloseTo(1, 6);
  });

  test("brings near what words alone do not match: typing errors, compounds, other forms", async () => {
    for (const [a, b] of [
      ["certificate", "certifcate"],
      ["database backup", "databasebackup"],
      ["Schmidt", "Schmidts"],
    ] as const) {
      expect(await similarity(a, b)).toBeGreaterThan(
        2 * Math.abs(await similarity(a, "wolpertinger")),
      );
    }
  });

  test("texts without blanks are near by the pairs of letters that they share", async () => {
    const question = "黑豹队的防守丢了多少分？";
    const near = await similarity(question, "黑豹队的防守只丢了 308分，在联赛中排名第六");
    const far = await similarity(question, "维多利亚州是澳大利亚的一个州，位于东南部");
    expect(near).toBeGreaterThan(0.3);
    expect(Math.abs(far)).toBeLessThan(near / 2);
  });

  test("Straße and strasse are one word", async () => {
    expect(await similarity("Straße", "STRASSE")).toBeCloseTo(1, 6);
  });

  test("stops when it is told to", async () => {
    await expect(embedder.embed(["text"], AbortSignal.abort(new Error("stop")))).rejects.toThrow(
      "stop",
    );
  });
});
