import { expect, test } from "@jest/globals";
import { splitLines } from "../../../src/worker/documents/lines.ts";
import {
  locate,
  locateSpan,
  packPlaces,
  placesWithin,
} from "../../../src/worker/documents/places.ts";
import { formatLocator } from "../../../src/shared/locator.ts";

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

test("rows with a gap between them, or in two sheets, have their first one alone", () => {
  const lines = splitLines(TEXT);
  expect(locateSpan(rowsOf(1, 2, 4, 5), lines, spanOf("Anna", "Carl"))).toEqual({ row: 2 });
  const sheets = packPlaces([
    { start: 0, locator: { sheet: "A", row: 1 } },
    { start: lines.start(1), locator: { sheet: "B", row: 2 } },
    { start: lines.start(2), locator: { sheet: "B", row: 3 } },
  ]);
  expect(locateSpan(sheets, lines, spanOf("name", "Bea"))).toEqual({ sheet: "A", row: 1 });
  expect(locateSpan(packPlaces([]), lines, spanOf("name", "Bea"))).toBeNull();
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
