import { expect, test } from "@jest/globals";
import {
  groupDuplicates,
  similarity,
  sketchFromHex,
  sketchText,
  sketchToHex,
} from "../../../src/shared/files/near-duplicates.ts";

/** Words that repeat in no order: the same for the same seed. */
function wordsOf(seed: number, count: number): string[] {
  let state = seed;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return `w${state % 5_000}`;
  });
}
const document = (path: string, text: string, sha256 = path) => ({
  path,
  sha256,
  sketch: sketchText(text),
});

test("the similarity of two texts is the share of shingles that they have in common", () => {
  const words = wordsOf(7, 1_000);
  for (const changed of [0, 5, 20, 60]) {
    const other = words.map((word, at) =>
      at % 1_000 < changed * 10 && at % 10 === 0 ? "x" : word,
    );
    const shingles = (of: readonly string[]) =>
      new Set(of.slice(4).map((_, at) => of.slice(at, at + 5).join(" ")));
    const [one, two] = [shingles(words), shingles(other)];
    const common = [...one].filter((shingle) => two.has(shingle)).length;
    const jaccard = common / (one.size + two.size - common);
    const estimated = similarity(
      sketchText(words.join(" ")) as Uint32Array,
      sketchText(other.join(" ")) as Uint32Array,
    );
    expect(Math.abs(estimated - jaccard)).toBeLessThan(0.12);
  }
});

test("copies by bytes, by words and by neither", () => {
  const words = wordsOf(3, 400);
  const near = words.map((word, at) => (at === 200 ? "other" : word));
  const groups = groupDuplicates(
    [
      document("c.md", wordsOf(99, 400).join(" ")),
      document("b.md", near.join(" ")),
      document("a.md", words.join(" "), "same"),
      document("d.md", words.join("\n").toUpperCase()),
      document("e.md", words.join(" "), "same"),
    ],
    0.8,
  );
  expect(groups).toEqual([
    {
      path: "a.md",
      sha256: "same",
      copies: [
        { path: "b.md", kind: "near", similarity: expect.closeTo(0.98, 1) },
        { path: "d.md", kind: "near", similarity: 1 },
        { path: "e.md", kind: "exact", similarity: 1 },
      ],
    },
  ]);
});

test("a text of few words is like another one by its bytes alone", () => {
  const short = "The pump failed.";
  expect(groupDuplicates([document("a", short), document("b", short)], 0.8)).toEqual([]);
  expect(groupDuplicates([document("a", short, "s"), document("b", short, "s")], 0.8)).toHaveLength(
    1,
  );
});

test("text without blanks is compared by its letters", () => {
  const text = "送电公司今天宣布将于明年三月在北部地区建设新的变电站以满足不断增长的用电需求";
  expect(groupDuplicates([document("a", text), document("b", `${text}。`)], 0.8)).toHaveLength(1);
});

test("a thousand copies, and very long words and texts, take no more than linear time", () => {
  const startedAt = performance.now();
  const words = wordsOf(5, 200);
  const copies = Array.from({ length: 1_000 }, (_, at) =>
    document(`${at}`, [...words, `n${at}`].join(" ")),
  );
  expect(groupDuplicates(copies, 0.8)).toHaveLength(1);
  sketchText("a".repeat(200_000));
  sketchText("e\u0301".repeat(100_000));
  expect(performance.now() - startedAt).toBeLessThan(15_000);
});

test("a sketch is read as it was stored", () => {
  const sketch = sketchText(wordsOf(5, 100).join(" ")) as Uint32Array;
  expect(sketchToHex(sketch)).toHaveLength(1_024);
  expect(sketchFromHex(sketchToHex(sketch))).toEqual(sketch);
});
