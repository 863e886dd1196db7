import { expect, test } from "@jest/globals";
import type { Locator } from "../../../src/shared/job/locator.ts";
import { fileFacts } from "../../../src/worker/answer/map-reduce.ts";
import { evidenceOf, leavesOf } from "../../../src/worker/answer/parts.ts";
import { packPlaces } from "../../support/pack-places.ts";
import type { Places } from "../../../src/worker/documents/places.ts";
import { numberEvidence, placesIn } from "../../../src/worker/evidence/number.ts";
import type { Passage, Reading } from "../../../src/worker/evidence/types.ts";

const TEXT = "one\ntwo\nthree\nfour\n";

function readingOf(text: string, places: Places): Reading {
  const shas = { sha256: "a".repeat(64), textSha256: "b".repeat(64) };
  const chars = [...text].length;
  const sizes = { bytes: 30, charsFull: chars, charsReturned: chars, truncated: false };
  return {
    ...{ kind: "read", path: "a.pdf", ...shas, extractor: "x 1", locator: null, ...sizes },
    ...{ text, places },
  };
}

const passageOf = (locator: Locator | null, text: string): Passage => ({
  ...{ chunkKey: "c".repeat(32), source: "s", path: "a.csv", sha256: "a".repeat(64) },
  ...{ extractor: "x 1", docChars: 100, truncated: true, headingPath: null, title: null },
  ...{ startChar: 10, endChar: 10 + text.length, lineStart: 4, score: 1, lexicalScore: null },
  ...{ lineEnd: 3 + text.trimEnd().split("\n").length, locator, text },
});

function placeOf(
  { files = [], passages = [] }: { files?: readonly Reading[]; passages?: readonly Passage[] },
  words: string,
) {
  const [block] = numberEvidence({ kind: "admitted", files, passages, snapshotHash: "" });
  if (block === undefined) throw new Error("nothing was numbered");
  const start = block.text.indexOf(words);
  return placesIn(block)(start, start + words.length);
}

test("a place in a file that was read whole names its page, or its sheet and row", () => {
  const pages = packPlaces([
    { start: 0, locator: { page: 1 } },
    { start: TEXT.indexOf("three"), locator: { page: 2 } },
  ]);
  const pdf = readingOf(TEXT, pages);
  expect(placeOf({ files: [pdf] }, "two")).toMatchObject({ lineStart: 2, locator: { page: 1 } });
  expect(placeOf({ files: [pdf] }, "four")).toMatchObject({ lineStart: 4, locator: { page: 2 } });
  const rows = ["one", "two", "three", "four"].map((word, at) => ({
    start: TEXT.indexOf(word),
    // Rows 3 to 6 are empty.
    locator: { sheet: "S", row: at < 2 ? at + 1 : at + 5 },
  }));
  const table = readingOf(TEXT, packPlaces(rows));
  expect(placeOf({ files: [table] }, "two").locator).toEqual({ sheet: "S", row: 2 });
  expect(placeOf({ files: [table] }, "three").locator).toEqual({ sheet: "S", row: 7 });
  expect(placeOf({ files: [table] }, "three\nfour").locator).toEqual({
    ...{ sheet: "S", row: 7, last_row: 8 },
  });
  expect(placeOf({ files: [readingOf(TEXT, packPlaces([]))] }, "two")).not.toHaveProperty(
    "locator",
  );
});

test.each<[string, Locator | null, string, Locator | undefined]>([
  ["the row of its line", { sheet: "S", row: 4, last_row: 7 }, TEXT, { sheet: "S", row: 6 }],
  [
    "the row of its line behind rows that are left out",
    { sheet: "S", row: 4, last_row: 12, row_breaks: [[1, 10]] },
    TEXT,
    { sheet: "S", row: 11 },
  ],
  ["the row of a passage of one line", { row: 9 }, "three", { row: 9 }],
  ["the page of its passage", { page: 3 }, TEXT, { page: 3 }],
  ["the pointer of its passage", { pointer: "/a/1" }, TEXT, { pointer: "/a/1" }],
  ["no row where the lines are not the rows", { row: 4 }, TEXT, undefined],
  ["the sheet without a row there", { sheet: "S", row: 4 }, TEXT, { sheet: "S" }],
  ["nothing where its lines say it", null, TEXT, undefined],
])("a place in a passage names %s", (_, locator, text, found) => {
  expect(placeOf({ passages: [passageOf(locator, text)] }, "three").locator).toEqual(found);
});

test("a place in a part of a file names the page of the file, behind letters of two units", () => {
  const text = "🚲🚲 first page.\n\nstill the first.\n\nsecond page.\n\n🚲 end of the second.\n";
  const pages = packPlaces([
    { start: 0, locator: { page: 1 } },
    { start: text.indexOf("second page"), locator: { page: 2 } },
  ]);
  const reading = readingOf(text, pages);
  const leaves = leavesOf(reading, 20);
  const { sources } = evidenceOf(leaves, fileFacts({ reading, title: null }));
  const pageOf = (words: string) => {
    const block = sources.find((one) => one.text.includes(words));
    if (block === undefined) throw new Error(`no part holds ${words}`);
    const start = block.text.indexOf(words);
    return placesIn(block)(start, start + words.length).locator;
  };
  expect(leaves.length).toBeGreaterThan(3);
  expect(["first page", "still", "second page", "🚲 end"].map(pageOf)).toEqual([
    ...[{ page: 1 }, { page: 1 }, { page: 2 }, { page: 2 }],
  ]);
});
