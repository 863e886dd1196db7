import type { TextSpan } from "../spans.ts";
import { cellTexts } from "../table-cells.ts";

type Line = TextSpan & { readonly text: string };

/** A row of CSV: several marks without blanks behind them. */
export const isDelimited = (line: string): boolean =>
  line.length < 2_000 &&
  /^[^,;\t]{0,80}(?:([,;\t])(?! )[^,;\t]{0,80}){3,60}$/.test(line) &&
  !/[.。]\s*$/.test(line);

const SEPARATOR = /^[\s|:+-]+$/;

type Table = {
  /** Names of the columns; empty if there is no header. */
  readonly names: readonly string[];
  readonly rows: readonly (Line & { readonly cells: readonly string[] })[];
};

/** Whether a cell begins with a figure or a date. A year does not count, because it may name a column. */
const isFigure = (cell = ""): boolean =>
  /^[^\p{L}\d]{0,3}\d/u.test(cell) && !/^(?:19|20)\d\d$/.test(cell);

/**
 * Reads rows. The first one is a header if a line of marks follows it, or if at most half of its cells hold a figure and none
 * of these stands above figures.
 */
export function readTable(lines: readonly Line[]): Table {
  const rows = lines
    .filter(({ text }) => !SEPARATOR.test(text))
    .map((line) => ({ ...line, cells: cellsOf(line.text) }));
  const [{ cells: first } = { cells: [] }, ...rest] = rows;
  const isMarked = lines[1] !== undefined && SEPARATOR.test(lines[1].text);
  const figures = first.filter((cell) => /\d/.test(cell)).length;
  const isRow = first.some(
    (cell, at) => isFigure(cell) && rest.some(({ cells }) => isFigure(cells[at])),
  );
  const hasHeader = rest.length > 0 && (isMarked || (figures * 2 <= first.length && !isRow));
  return hasHeader ? { names: first, rows: rest } : { names: [], rows };
}

function cellsOf(row: string): string[] {
  if (row.includes("|")) return cellTexts(row.trim());
  const mark = /[,;\t]/.exec(row)?.[0] ?? ",";
  return row.split(mark).map((cell) => cell.trim());
}
