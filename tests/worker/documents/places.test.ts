import { expect, test } from "@jest/globals";
import { splitLines } from "../../../src/worker/documents/lines.ts";
import {
  locate,
  locateLines,
  locatePassage,
  locateSpan,
  placesWithin,
} from "../../../src/worker/documents/places.ts";
import { packPlaces } from "../../support/pack-places.ts";
import { formatLocator } from "../../../src/shared/job/locator.ts";

const TEXT = "name; city\nAnna\nBea\nCarl\n";
const spanOf = (from: string, to: string) => ({
  start: TEXT.indexOf(from),
  end: TEXT.indexOf(to) + to.length,
});

/** A row for each line, by their numbers. */
const rowsOf = (...rows: readonly number[]) => {
  const lines = splitLines(TEXT);
  return packPlaces(rows.map((row, at) => ({ start: lines.start(at), locator: { row } })));
};

test("a stretch of rows without a gap has its first and its last row", () => {
  const lines = splitLines(TEXT);
  const places = rowsOf(1, 2, 3, 4);
  expect(locateSpan(places, lines, spanOf("Anna", "Carl"))).toEqual({ row: 2, last_row: 4 });
  expect(locateSpan(places, lines, { start: 0, end: TEXT.length })).toEqual({
    row: 1,
    last_row: 4,
  });
  expect(locateSpan(places, lines, spanOf("Bea", "Bea"))).toEqual({ row: 3 });
  expect(formatLocator({ sheet: "Prices", row: 2, last_row: 4 })).toBe("sheet Prices, rows 2 to 4");
});

test("a passage of rows with gaps says where they count on", () => {
  const lines = splitLines(TEXT);
  const whole = { start: 0, end: TEXT.length };
  expect(locatePassage(rowsOf(1, 2, 3, 4), lines, whole)).toEqual({ row: 1, last_row: 4 });
  expect(locatePassage(rowsOf(1, 2, 4, 5), lines, whole)).toEqual({
    ...{ row: 1, last_row: 5 },
    row_breaks: [[2, 4]],
  });
  // The name of a sheet stands above its first row, and a cell over three lines is one row.
  expect(locatePassage(rowsOf(1, 1, 1, 2), lines, whole)).toEqual({
    ...{ row: 1, last_row: 2 },
    row_breaks: [
      [1, 1],
      [2, 1],
    ],
  });
  expect(locateSpan(rowsOf(1, 2, 4, 5), lines, spanOf("Anna", "Carl"))).toEqual({
    ...{ row: 2, last_row: 5 },
  });
  expect(locateSpan(rowsOf(1, 1, 2, 3), lines, spanOf("name", "Anna"))).toEqual({ row: 1 });
});

test("the rows of some lines of a passage are those that its places have", () => {
  const lines = splitLines(TEXT);
  for (const rows of [
    [1, 2, 3, 4],
    [1, 1, 2, 3],
    [2, 9, 9, 30],
    [5, 6, 8, 8],
  ]) {
    const places = rowsOf(...rows);
    const passage = locatePassage(places, lines, { start: 0, end: TEXT.length });
    for (let first = 0; first < 4; first += 1) {
      for (let last = first; last < 4; last += 1) {
        const span = { start: lines.start(first), end: lines.start(last) + 1 };
        expect(passage && locateLines(passage, { first, last, isOneLine: false })).toEqual(
          locateSpan(places, lines, span),
        );
      }
    }
  }
});

test("rows in two sheets, and more gaps than a locator holds, have their first row alone", () => {
  const lines = splitLines(TEXT);
  const sheets = packPlaces([
    { start: 0, locator: { sheet: "A", row: 1 } },
    { start: lines.start(1), locator: { sheet: "B", row: 2 } },
    { start: lines.start(2), locator: { sheet: "B", row: 3 } },
  ]);
  expect(locatePassage(sheets, lines, spanOf("name", "Bea"))).toEqual({ sheet: "A", row: 1 });
  expect(locateSpan(sheets, lines, spanOf("name", "Bea"))).toEqual({ sheet: "A", row: 1 });
  expect(locatePassage(packPlaces([]), lines, spanOf("name", "Bea"))).toBeNull();
  const text = "x\n".repeat(1_002);
  const everySecond = packPlaces(
    Array.from({ length: 1_002 }, (_, at) => ({ start: 2 * at, locator: { row: 2 * at + 1 } })),
  );
  const cut = splitLines(text);
  expect(locatePassage(everySecond, cut, { start: 0, end: 2_002 })?.row_breaks).toHaveLength(1_000);
  expect(locatePassage(everySecond, cut, { start: 0, end: 2_004 })).toEqual({ row: 1 });
});

test("the places of a slice are those of its own text, and of what began before it", () => {
  const rows = rowsOf(1, 2, 3, 4);
  const start = TEXT.indexOf("nna");
  const end = TEXT.indexOf("Carl");
  const own = placesWithin(rows, { start, end });
  for (let at = start; at < end; at += 1) {
    expect(locate(own, at - start)).toEqual(locate(rows, at));
  }
  expect(own.numbers.length).toBeLessThan(rows.numbers.length);
  expect(placesWithin(packPlaces([]), { start, end }).numbers).toHaveLength(0);
});
