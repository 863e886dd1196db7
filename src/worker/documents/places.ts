import type { Locator } from "../../shared/job/locator.ts";
import type { TextSpan } from "../text/spans.ts";
import type { Lines } from "./lines.ts";

/** Where the text from `start` on, in UTF-16 units, stands in its file: up to the next place. */
export type PlaceOfText = { readonly start: number; readonly locator: Omit<Locator, "pointer"> };

/** The places of a text in order, packed: a table of a million rows has as many, which go from process to process. */
export type Places = {
  /** Of each place its start, page, sheet (its place in `sheets`, from 1), row and message; 0: none. */
  readonly numbers: Uint32Array;
  readonly sheets: readonly string[];
};

const COLUMNS = 5;

export const NO_PLACES: Places = { numbers: new Uint32Array(), sheets: [] };

export function openPlaces(): { add(place: PlaceOfText): void; pack(): Places } {
  const numbers: number[] = [];
  const sheets = new Map<string, number>();
  const numberOf = (sheet: string | undefined): number => {
    if (sheet === undefined) return 0;
    if (!sheets.has(sheet)) sheets.set(sheet, sheets.size + 1);
    return sheets.get(sheet) ?? 0;
  };
  return {
    add({ start, locator: { page = 0, sheet, row = 0, message = 0 } }) {
      numbers.push(start, page, numberOf(sheet), row, message);
    },
    pack: () => ({ numbers: Uint32Array.from(numbers), sheets: [...sheets.keys()] }),
  };
}

/** The places of a slice of the text, in UTF-16 units. */
export function placesWithin({ numbers, sheets }: Places, { start, end }: TextSpan): Places {
  const first = Math.max(0, placeAfter(numbers, start) - 1);
  const own = numbers.slice(first * COLUMNS, placeAfter(numbers, end) * COLUMNS);
  for (let at = 0; at < own.length; at += COLUMNS) own[at] = Math.max(0, (own[at] ?? 0) - start);
  return { numbers: own, sheets };
}

/** The first place that begins behind an offset. */
function placeAfter(numbers: Uint32Array, offset: number): number {
  let low = 0;
  let high = numbers.length / COLUMNS;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle * COLUMNS] ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The locator of an offset of a text; null before the first place, and where there is none. */
export function locate({ numbers, sheets }: Places, offset: number): Locator | null {
  const after = placeAfter(numbers, offset);
  if (after === 0) return null;
  const at = (after - 1) * COLUMNS;
  const [page = 0, sheet = 0, row = 0, message = 0] = numbers.subarray(at + 1, at + COLUMNS);
  if (page + sheet + row + message === 0) return null;
  return {
    ...(page === 0 ? {} : { page }),
    ...(sheet === 0 ? {} : { sheet: sheets[sheet - 1] ?? "" }),
    ...(row === 0 ? {} : { row }),
    ...(message === 0 ? {} : { message }),
  };
}

/** Beyond so many a locator would be longer than what it is of: a passage of lines of a letter or two. */
const MOST_BREAKS = 1_000;

type LinesOfText = Pick<Lines, "at" | "start">;

/**
 * The locator of a passage: where it begins, and of rows of one sheet also the last one and where they leave rows out, so that
 * the row of each of its lines is known.
 */
export function locatePassage(
  places: Places,
  lines: LinesOfText,
  { start, end }: TextSpan,
): Locator | null {
  const first = locate(places, start);
  if (first?.row === undefined) return first;
  const [from, to] = [lines.at(start), lines.at(Math.max(start, end - 1))];
  const breaks: [line: number, row: number][] = [];
  let last = first.row;
  for (let line = from + 1; line <= to; line += 1) {
    const { row, sheet } = locate(places, lines.start(line)) ?? {};
    if (row === undefined || sheet !== first.sheet || breaks.length === MOST_BREAKS) return first;
    if (row !== last + 1) breaks.push([line - from, row]);
    last = row;
  }
  if (to === from) return first;
  return { ...first, last_row: last, ...(breaks.length === 0 ? {} : { row_breaks: breaks }) };
}

/** Where a stretch of a text stands: the place where it begins, and of several rows of a sheet also the last one. */
export function locateSpan(places: Places, lines: LinesOfText, span: TextSpan): Locator | null {
  const passage = locatePassage(places, lines, span);
  if (passage?.row === undefined) return passage;
  const { row, last_row: last = row } = passage;
  return { ...locate(places, span.start), ...spanOfRows(row, last) };
}

/**
 * The place of some lines of a text, counted from 0, by the locator of all of it: their own rows where the row of each line is
 * known, else what all lines have in common, which may be nothing.
 * @param isOneLine whether the text has but one
 */
export function locateLines(
  locator: Locator,
  { first, last, isOneLine }: { first: number; last: number; isOneLine: boolean },
): Locator | null {
  const { row, last_row: lastRow, row_breaks: breaks = [], ...rest } = locator;
  if (row === undefined) return locator;
  if (lastRow === undefined) {
    if (isOneLine) return locator;
    return Object.keys(rest).length === 0 ? null : rest;
  }
  const rowOf = (line: number): number => {
    const [from, start] = breaks.findLast(([at]) => at <= line) ?? [0, row];
    return start + line - from;
  };
  return { ...rest, ...spanOfRows(rowOf(first), rowOf(last)) };
}

const spanOfRows = (row: number, last: number): Pick<Locator, "row" | "last_row"> =>
  last > row ? { row, last_row: last } : { row };
