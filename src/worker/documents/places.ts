import type { Locator } from "../../shared/locator.ts";
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

/** @param places in order of `start` */
export function packPlaces(places: readonly PlaceOfText[]): Places {
  const packing = openPlaces();
  for (const place of places) packing.add(place);
  return packing.pack();
}

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

/** The places of what stands from an offset of the text on, in UTF-16 units. */
export const placesFrom = ({ numbers, sheets }: Places, offset: number): Places => ({
  numbers: numbers.map((value, index) =>
    index % COLUMNS === 0 ? Math.max(0, value - offset) : value,
  ),
  sheets,
});

/** The locator of an offset of a text; null before the first place, and where there is none. */
export function locate({ numbers, sheets }: Places, offset: number): Locator | null {
  let low = 0;
  let high = numbers.length / COLUMNS;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle * COLUMNS] ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  if (low === 0) return null;
  const at = (low - 1) * COLUMNS;
  const [page = 0, sheet = 0, row = 0, message = 0] = numbers.subarray(at + 1, at + COLUMNS);
  if (page + sheet + row + message === 0) return null;
  return {
    ...(page === 0 ? {} : { page }),
    ...(sheet === 0 ? {} : { sheet: sheets[sheet - 1] ?? "" }),
    ...(row === 0 ? {} : { row }),
    ...(message === 0 ? {} : { message }),
  };
}

/**
 * The locator of a stretch of a text: where it begins, and of whole rows, one a line without a gap, also the last one, so that
 * the row of each of its lines is known.
 */
export function locateSpan(
  places: Places,
  lines: Pick<Lines, "at" | "start">,
  { start, end }: { readonly start: number; readonly end: number },
): Locator | null {
  const first = locate(places, start);
  if (first?.row === undefined) return first;
  const [from, to] = [lines.at(start), lines.at(Math.max(start, end - 1))];
  for (let line = from + 1; line <= to; line += 1) {
    const place = locate(places, lines.start(line));
    if (place?.row !== first.row + line - from || place.sheet !== first.sheet) return first;
  }
  return to === from ? first : { ...first, last_row: first.row + to - from };
}

/** Stretches of a text that have the same place, in order, from its start to its end. */
export function* placesIn(
  places: Places,
  length: number,
): Generator<{ readonly start: number; readonly end: number; readonly locator: Locator }> {
  const starts = [0, ...places.numbers.filter((_, index) => index % COLUMNS === 0), length];
  for (const [index, start] of starts.slice(0, -1).entries()) {
    const end = starts[index + 1] ?? length;
    if (end > start) yield { start, end, locator: locate(places, start) ?? {} };
  }
}
