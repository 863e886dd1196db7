import { expect, test } from "@jest/globals";
import { packPlaces } from "../../support/pack-places.ts";
import { numberEvidence, placesIn } from "../../../src/worker/evidence/number.ts";
import { spanPassage } from "../../../src/worker/evidence/span-passage.ts";
import type { Reading } from "../../../src/worker/evidence/types.ts";

const TEXT = "## A\nheight: 3\nheight: 4\n\n## B\nwidth: 7\nwidth: 8\n";

const WORKBOOK: Reading = {
  ...{ kind: "read", path: "a.xlsx", sha256: "a".repeat(64), textSha256: "b".repeat(64) },
  ...{ extractor: "xlsx 1", locator: null, bytes: 30, truncated: false, text: TEXT },
  ...{ charsFull: TEXT.length, charsReturned: TEXT.length },
  places: packPlaces([
    { start: 0, locator: { sheet: "A", row: 1 } },
    { start: TEXT.indexOf("height: 3"), locator: { sheet: "A", row: 5 } },
    { start: TEXT.indexOf("height: 4"), locator: { sheet: "A", row: 9 } },
    { start: TEXT.indexOf("## B"), locator: { sheet: "B", row: 1 } },
    { start: TEXT.indexOf("width: 7"), locator: { sheet: "B", row: 2 } },
    { start: TEXT.indexOf("width: 8"), locator: { sheet: "B", row: 6 } },
  ]),
};

/** The places of some words in a stretch of the workbook. */
function placesOf(from: string, to: string, words: readonly string[]) {
  const passage = spanPassage(WORKBOOK, TEXT.indexOf(from), TEXT.indexOf(to) + to.length);
  const [block] = numberEvidence({
    ...{ kind: "admitted", files: [], passages: [passage], snapshotHash: "" },
  });
  if (block === undefined) throw new Error("nothing was numbered");
  const placeIn = placesIn(block);
  return words.map((word) => {
    const start = block.text.indexOf(word);
    return placeIn(start, start + word.length).locator;
  });
}

test("words in a stretch of a workbook have their own sheet and row, over gaps and sheets", () => {
  expect(placesOf("height: 3", "width: 8", ["height: 4", "width: 7", "width: 8"])).toEqual([
    { sheet: "A", row: 9 },
    { sheet: "B", row: 2 },
    { sheet: "B", row: 6 },
  ]);
});

test("a stretch of a file within one sheet says the rows of its lines", () => {
  const passage = spanPassage(WORKBOOK, TEXT.indexOf("height: 3"), TEXT.indexOf("\n\n"));
  expect(passage.locator).toEqual({ sheet: "A", row: 5, last_row: 9, row_breaks: [[1, 9]] });
});
