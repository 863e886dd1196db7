import type { Locator } from "../../../shared/job/locator.ts";
import type { TextBuilder } from "../reader/text-builder.ts";
import type { Block, Lines } from "../lines.ts";
import { isBlank, shapeOf } from "./markdown-lines.ts";

/** The cells of a row by their columns, from 0; those that are empty may be left out. */
export type Cells = ReadonlyMap<number, string>;

const MOST_NAME_CHARS = 80;
/** Of a column of figures, and of rows that are alike. */
export const MOSTLY = 0.8;

/** A figure or a date: digits without letters, or with a currency, a unit or the name of a month. */
export function isValue(cell: string): boolean {
  const value = cell.replace(/ \(=.*$/s, "").replaceAll("~~", "");
  return (
    /\d/.test(value) &&
    /^(?:\p{Lu}{3} [^\p{L}]+|[^\p{L}]+(?:\p{L}{1,3}\.?)?|\d{1,2}[. /-]{1,2}\p{L}{3,10}\.?[. /-]\d{2,4})$/u.test(
      value,
    )
  );
}

const DAY = /^(?:\d{4}-\d\d-\d\d|\d\d?\.\d\d?\.(?:\d\d){0,2}|\d\d?\/\d\d?(?:\/(?:\d\d){1,2})?)$/;
const isDay = (cell: string): boolean => DAY.test(cell);

const isYear = (cell: string): boolean => /^(?:19|20)\d\d$/.test(cell);

/** Names of columns are told by a column of figures below a word, or else by words that never come again below. */
type HeaderProof = "figures" | "figures or words";

/** Whether the first of these rows names the columns of the others: no figure above figures, and half of it words at least. */
export function isHeader(
  [first, ...below]: readonly Cells[],
  proof: HeaderProof = "figures or words",
): boolean {
  if (first === undefined || below.length === 0 || first.size < 2) return false;
  const names = [...first.values()];
  if (names.some((name) => name.length > MOST_NAME_CHARS)) return false;
  const hasDays = isSeries(first, below);
  const isName = (cell: string): boolean => hasDays || !isValue(cell) || isYear(cell);
  const words = names.filter((name) => /\p{L}/u.test(name) && !isValue(name));
  if ((words.length === 0 && !hasDays) || names.filter(isName).length < names.length / 2)
    return false;
  let hasFigures = false;
  let comesAgain = false;
  let widest = 0;
  for (const row of below) widest = Math.max(widest, row.size);
  for (const [column, name] of first) {
    const cells = cellsIn(below, column);
    const isFigures = areValues(cells);
    if (isFigures && !isName(name)) return false;
    if (isFigures) hasFigures = true;
    if (cells.includes(name)) comesAgain = true;
  }
  return hasFigures || (proof === "figures or words" && !comesAgain && widest - first.size <= 1);
}

/** Whether columns are named by days, or by numbers that count on, as those of a roster, and hold no days. */
function isSeries(first: Cells, below: readonly Cells[]): boolean {
  const [corner, ...rest] = first.has(0) ? first.values() : ["", ...first.values()];
  if (corner === undefined || isValue(corner) || rest.length < FEWEST_DAYS) return false;
  const isCounted = (cell: string, at: number): boolean =>
    rest.length > FEWEST_DAYS && Number(cell) === Number(rest[0]) + at && cell.length < 3;
  if (!rest.every(isDay) && !rest.every(isCounted)) return false;
  return new Set(rest).size === rest.length && !below.some((row) => [...row.values()].some(isDay));
}

const FEWEST_DAYS = 3;

const cellsIn = (rows: readonly Cells[], column: number): string[] =>
  rows.flatMap((row) => row.get(column) ?? []);

const areValues = (cells: readonly string[]): boolean =>
  cells.length > 0 && cells.filter(isValue).length >= cells.length * MOSTLY;

/**
 * The names of columns, of which none is said twice, and an empty first one has a name too.
 * @param groups a row above them that names several columns each, as years do: `2025 Net`
 */
export function columnNames(header: Cells, groups: Cells = new Map()): ReadonlyMap<number, string> {
  const counts = new Map<string, number>();
  for (const name of header.values()) counts.set(name, (counts.get(name) ?? 0) + 1);
  const waiting = groups.size > 1 ? [...groups].reverse() : [];
  let group = "";
  const seen = new Map<string, number>();
  const names = new Map<number, string>();
  for (const [column, cell] of [...(header.has(0) ? [] : [[0, "Column 1"] as const]), ...header]) {
    while ((waiting.at(-1)?.[0] ?? Infinity) <= column) group = waiting.pop()?.[1] ?? "";
    const isShared = (counts.get(cell) ?? 0) > 1;
    const name = oneLine(isShared ? `${group} ${cell}` : cell).replace(/:$/, "");
    const times = (seen.get(name) ?? 0) + 1;
    seen.set(name, times);
    names.set(column, times === 1 ? name : `${name} (${times})`);
  }
  return names;
}

const FEWEST_MIXED = 4;

/**
 * The columns of labels, where rows are pairs of one and its value, as a form has them, and no table: what stands beside the
 * labels is a name here and a figure there.
 */
function labelColumns(all: readonly Cells[]): ReadonlySet<number> | undefined {
  const rows = all.filter(({ size }) => size > 1);
  const columns = [...new Set(rows.flatMap((row) => [...row.keys()]))].sort((a, b) => a - b);
  if (rows.length < 2 || columns.length % 2 !== 0) return undefined;
  const found = new Set(columns.filter((_, at) => at % 2 === 0));
  const labels = rows.flatMap((row) => [...found].flatMap((column) => row.get(column) ?? []));
  if (!labels.every(isLabel) || new Set(labels).size < labels.length) return undefined;
  const values = columns.filter((column) => !found.has(column)).map((at) => cellsIn(rows, at));
  // A day above an amount is no column of a table.
  const areKinds = values.some((column) => new Set(column.slice(1).map(isDay)).size > 1);
  if (!areKinds && isHeader(rows, "figures")) return undefined;
  const isMixed = (column: readonly string[]): boolean =>
    column.some(hasDigit) && column.some((cell) => /\p{L}/u.test(cell) && !hasDigit(cell));
  const isProven = values.some(
    ([top = "", ...below]) =>
      (hasDigit(top) && !isYear(top) && isMixed([top, ...below])) ||
      (rows.length >= FEWEST_MIXED && isMixed(below)),
  );
  return isProven || labels.every((label) => label.endsWith(":")) ? found : undefined;
}

const hasDigit = (cell: string): boolean => /\d/.test(cell);
const isLabel = (cell: string): boolean =>
  cell.length <= MOST_NAME_CHARS && /\p{L}/u.test(cell) && !isValue(cell);

/** The cells of a row of a form, each label with what stands beside it as one. */
function joinLabels(cells: Cells, labels: ReadonlySet<number>): Cells {
  const joined = new Map<number, string>();
  let last = -1;
  for (const [column, cell] of cells) {
    const label = labels.has(column) ? undefined : joined.get(last);
    if (label === undefined) joined.set((last = column), cell);
    else joined.set(last, `${label.replace(/:$/, "")}: ${cell}`);
  }
  return joined;
}

export const oneLine = (cell: string): string => cell.replaceAll(/\s+/g, " ").trim();

/** One line of each row, its cells with the names of their columns, so that a row says everything where it stands alone. */
export function addRow(
  builder: Pick<TextBuilder, "add">,
  header: ReadonlyMap<number, string> | null,
  { cells, mark = "" }: Pick<TableRow, "cells" | "mark">,
): void {
  const shown = Array.from(cells, ([column, cell]) => {
    const name = header?.get(column) ?? "";
    return name === "" ? oneLine(cell) : `${name}: ${oneLine(cell)}`;
  });
  builder.add(lineOfRow(`${shown.join("; ")}${mark}`));
}

/** Stands behind what a program shows to nobody. */
export const HIDDEN = " (hidden)";

export type TableRow = {
  readonly locator: Pick<Locator, "sheet" | "row">;
  readonly cells: Cells;
  /** What stands behind the row: that nobody sees it. */
  readonly mark?: string;
  /** Whether it has more cells than there are columns, so that nobody knows which is whose. */
  readonly isTorn?: boolean;
};

/** A note or a part's title, alone in the first of several columns, is no value of that column. */
const isNamed = (
  { cells, isTorn = false }: TableRow,
  names: ReadonlyMap<number, string> | null,
): boolean =>
  !isTorn &&
  !(names !== null && names.size > 2 && cells.size === 1 && cells.has([...names.keys()][0] ?? 0));

/** A cell that goes over several rows, up to the last one. */
export type Span = { readonly column: number; readonly last: number; readonly value: string };

/** A row with what is merged into it from above. */
export function withSpans(cells: Cells, spans: readonly Span[], row: number): Cells {
  const inherited = spans.filter(({ column, last }) => last >= row && !cells.has(column));
  if (inherited.length === 0) return cells;
  const all: [number, string][] = [...cells];
  for (const { column, value } of inherited) all.push([column, value]);
  return new Map(all.sort(([a], [b]) => a - b));
}

/** Rows that are looked at before names of columns are taken for such. */
const LOOKED_AT = 50;
/** Lines that may stand above the names of the columns. */
const TITLES = 10;

/**
 * Writes the tables of a sheet. Rows that follow each other are looked at together: the first as wide as they are names the
 * columns, for what comes below a gap too, up to a row that names other ones.
 * @param hidden columns that nobody sees
 */
export function openTables(
  builder: Pick<TextBuilder, "add" | "place">,
  hidden: ReadonlySet<number> = new Set(),
): {
  add(row: TableRow): void;
  finish(): void;
} {
  let waiting: TableRow[] = [];
  let header: ReadonlyMap<number, string> | null = null;
  /** The last rows before a gap. */
  let above: readonly Cells[] = [];
  /** Those of the rows that follow each other. */
  let names: ReadonlyMap<number, string> | null = null;
  let labels: ReadonlySet<number> | undefined;
  let isDecided = false;
  let last = 0;
  const write = (row: TableRow, by: ReadonlyMap<number, string> | null): void => {
    builder.place(row.locator);
    const names = isNamed(row, by) ? by : null;
    const shown = hidden.size === 0 ? row.cells : markHidden(row.cells, by);
    const cells = labels === undefined ? shown : joinLabels(shown, labels);
    addRow(builder, names, { ...row, cells });
  };
  const markHidden = (cells: Cells, by: ReadonlyMap<number, string> | null): Cells =>
    new Map(
      Array.from(cells, ([column, cell]): [number, string] => {
        const isMarked = hidden.has(column) && by?.has(column) !== true;
        return [column, isMarked ? `${oneLine(cell)}${HIDDEN}` : cell];
      }),
    );
  const decide = (): void => {
    const rows = waiting.map(({ cells }) => cells);
    const isCovered = header !== null && rows.every((row) => isWithin(row, header));
    labels = isCovered ? undefined : labelColumns(rows);
    const at = labels === undefined ? findHeader(rows) : undefined;
    const whose = isCovered ? namesBelow(rows, at, above) : "their own";
    const own = whose === "their own" ? at : undefined;
    if (own !== undefined)
      header = markNames(columnNames(rows[own] ?? new Map(), rows[own - 1]), hidden);
    else if (whose === "none") header = null;
    names = isCovered || own !== undefined ? header : null;
    above = rows.slice((own ?? -1) + 1);
    for (const [index, row] of waiting.entries()) write(row, index <= (own ?? -1) ? null : names);
    waiting = [];
    isDecided = true;
  };
  return {
    add(row) {
      const { row: number = 0 } = row.locator;
      if (number > last + 1) {
        if (!isDecided) decide();
        isDecided = false;
      }
      last = number;
      if (isDecided) write(row, names);
      else if (waiting.push(row) === LOOKED_AT) decide();
    },
    finish() {
      if (!isDecided) decide();
    },
  };
}

const markNames = (
  names: ReadonlyMap<number, string>,
  hidden: ReadonlySet<number>,
): ReadonlyMap<number, string> =>
  new Map(
    Array.from(names, ([column, name]) => [column, hidden.has(column) ? `${name}${HIDDEN}` : name]),
  );

const isWithin = (row: Cells, names: ReadonlyMap<number, string> | null): boolean =>
  names !== null && [...row.keys()].every((column) => names.has(column));

/** Which of the first rows names the columns. */
function findHeader(rows: readonly Cells[]): number | undefined {
  const usual = modeOf(rows.map(({ size }) => size).filter((size) => size > 1));
  const at = rows.slice(0, TITLES).findIndex(({ size }) => size >= Math.max(2, usual - 1));
  return at !== -1 && isHeader(rows.slice(at)) ? at : undefined;
}

/**
 * Whose names rows have that stand below a gap, in columns that are named above it.
 * @param at which of them may name the others
 */
function namesBelow(
  rows: readonly Cells[],
  at: number | undefined,
  above: readonly Cells[],
): "their own" | "those above" | "none" {
  if (rows.length > 1 && rows.every((row) => row.size === 1 && row.has(0))) return "none";
  if (at === undefined) return "those above";
  const first = Array.from(rows[at] ?? [], ([column, cell]) => ({
    ...{ cell, over: cellsIn(above, column), all: cellsIn(rows, column) },
  }));
  const goesOn = first.some(
    ({ cell, over, all }) =>
      over.includes(cell) ||
      (isValue(cell) && [...over, ...all].every((other) => isYear(other) === isYear(cell))),
  );
  if (goesOn) return "those above";
  const isOther = first.some(({ over, all }) => areValues(over) && !all.some(isValue));
  return isOther || isHeader(rows.slice(at), "figures") ? "their own" : "none";
}

/** The most frequent, the larger one among equals; 0 of none. */
export function modeOf(numbers: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1);
  let [mode, most] = [0, 0];
  for (const [number, count] of counts) {
    if (count > most || (count === most && number > mode)) [mode, most] = [number, count];
  }
  return mode;
}

/** Stands before the name of a sheet. */
export const SHEET_MARK = "## ";

/** With a blank before a row that begins as the name of a sheet does. */
export const lineOfRow = (row: string): string =>
  `${row.startsWith(SHEET_MARK) ? " " : ""}${row}\n`;

/** Each line is a block of its own: rows are kept whole, those of a sheet below its name. */
export function rowBlocks(lines: Lines, firstLine: number): Block[] {
  return Array.from({ length: lines.count - firstLine }, (_, index) => firstLine + index)
    .filter((line) => !isBlank(shapeOf(lines, line)))
    .map((line): Block => {
      const block = { firstLine: line, lastLine: line, cut: "lines" } as const;
      if (!lines.text.startsWith(SHEET_MARK, lines.start(line))) return block;
      const title = lines.text.slice(lines.start(line) + SHEET_MARK.length, lines.end(line));
      return { ...block, heading: { level: 2, title } };
    });
}
