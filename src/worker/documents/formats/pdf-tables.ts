import { markdownTable } from "./flow-writer.ts";
import { isTurned, readUnits } from "./pdf-lines.ts";
import type { Line, Piece } from "./pdf-lines.ts";
import { isHeader } from "./table-rows.ts";

/** A cell of several lines has its text already, because it was read line by line. */
export type Cell = Piece & { readonly text?: string };

export type Row = Line & {
  readonly cells: readonly Cell[];
  /** The `y` of its first line. */
  readonly top: number;
};

/** Rows below each other; `table` holds the lines to write if they are a table with empty cells. */
export type Stretch = { readonly rows: readonly Row[]; readonly table?: readonly string[] };

/** Splits the rows of a page, from top to bottom, into tables and other stretches. */
export function findTables(rows: readonly Row[]): Stretch[] {
  const stretches: Stretch[] = [];
  for (let from = 0; from < rows.length;) {
    const run = rows.slice(from, endOfRun(rows, from));
    stretches.push(...(readTable(run, "cells") ?? readTable(run, "pieces") ?? [{ rows: run }]));
    from += run.length;
  }
  return stretches;
}

export const textOfCell = ({ text, units }: Cell, isRightToLeft: boolean): string =>
  text ?? readUnits(units, isRightToLeft);

/** Font sizes between two rows; a larger distance stays within a table only if its other rows are as far apart. */
const ROW_GAP = 1.9;
const MORE_WHITE = 1.4;
const MOST_WHITE = 4;

/** The end of a run of rows with several cells; rows between them may have one cell, in the first column. */
function endOfRun(rows: readonly Row[], from: number): number {
  let [least, most, left] = [Infinity, 0, Infinity];
  let end = from + 1;
  for (let at = from; at < rows.length; at += 1) {
    const [row, above] = [rows[at], rows[at - 1]];
    const [first, second] =
      (row?.cells.length === 1 && row.pieces.length > 1 ? row.pieces : row?.cells) ?? [];
    if (row === undefined || first === undefined) break;
    const gap = at === from || above === undefined ? 0 : (above.y - row.top) / row.size;
    if (gap < 0 || gap > Math.min(MOST_WHITE, Math.max(ROW_GAP, least * MORE_WHITE))) break;
    if (gap > 0) [least, most] = [Math.min(least, gap), Math.max(most, gap)];
    // A row far above rows that are close to each other does not belong to them.
    if (most > Math.max(ROW_GAP, least * MORE_WHITE)) return Math.max(from + 1, at - 1);
    if (second === undefined && (at === from || first.end > left)) break;
    if (second === undefined) continue;
    left = Math.min(left, second.x);
    end = at + 1;
  }
  return end;
}

type Column = { readonly x: number; readonly end: number };
type Placed = ReadonlyMap<number, Cell>;

/** Fewest columns; with two, the words of a lone cell show its column. */
const FEWEST_COLUMNS = 3;
const FEWEST_ROWS = 3;
const MOST_COLUMNS = 60;

/**
 * Reads a run as a table: each cell stands in a column, and the first row names the columns, except perhaps the first one.
 * @param by which cells: as they are, or each piece of a line, which needs more proof
 */
function readTable(run: readonly Row[], by: "cells" | "pieces"): Stretch[] | undefined {
  const rows = run.map((row) =>
    by === "cells" || row.pieces.length === 0 ? row : { ...row, cells: row.pieces },
  );
  const columns = columnsOf(rows);
  if (columns.length === 0) return undefined;
  const placed = rows.map((row) => placeCells(row, columns));
  const from = placed.findIndex((cells) => cells !== undefined && cells.size >= columns.length - 1);
  const to = placed.findLastIndex((cells) => cells === undefined || cells.size > 1) + 1;
  const body = placed.slice(from, to).flatMap((cells) => cells ?? []);
  if (body.length < Math.max(to - from, FEWEST_ROWS)) return undefined;
  const isRightToLeft = isTurned(run.flatMap(({ cells }) => cells));
  const texts = body.map(
    (cells) => new Map(Array.from(cells, ([at, cell]) => [at, textOfCell(cell, isRightToLeft)])),
  );
  const isNamed = columns.every((_, at) => at === 0 || texts[0]?.has(at));
  const isFilled = columns.every((_, at) => texts.some((cells, row) => row > 0 && cells.has(at)));
  const isLoose = body.some((cells) =>
    [...cells.values()].some((cell) => overlapped(cell, columns).length > 1),
  );
  const isByWords = by === "cells" && isFilled && isHeader(texts);
  const isProven = isByWords || isHeader(texts, "figures");
  if (!isNamed || !isProven || (by === "cells" ? isLoose : !isFilled)) return undefined;
  const order = isRightToLeft ? [...columns.keys()].reverse() : [...columns.keys()];
  const whole = texts.map((cells) => order.map((at) => cells.get(at) ?? ""));
  if (whole.every((row) => row.every(Boolean))) return [{ rows: run }];
  const table = markdownTable(whole).trimEnd().split("\n");
  return [
    { rows: run.slice(0, from) },
    { rows: run.slice(from, to), table },
    { rows: run.slice(to) },
  ];
}

/** The columns of the rows with the most cells; empty if these cells do not stand below each other. */
function columnsOf(run: readonly Row[]): Column[] {
  const most = run.reduce((count, { cells }) => Math.max(count, cells.length), 0);
  if (most < FEWEST_COLUMNS || most > MOST_COLUMNS) return [];
  const widest = run.filter(({ cells }) => cells.length === most);
  const columns = Array.from({ length: most }, (_, at): Column => ({
    x: widest.reduce((x, { cells }) => Math.min(x, cells[at]?.x ?? x), Infinity),
    end: widest.reduce((end, { cells }) => Math.max(end, cells[at]?.end ?? end), -Infinity),
  }));
  if (columns.some(({ x }, at) => x < (columns[at - 1]?.end ?? -Infinity))) return [];
  const bars = widest.flatMap((row) => row.bars);
  // If a figure stands right of the last name, names are aligned left in their columns.
  const isLeft = run.some(({ cells }) => (cells.at(-1)?.x ?? 0) >= (columns.at(-1)?.end ?? 0));
  return columns.map(({ x, end }, at) => {
    const [before, next] = [columns[at - 1]?.end ?? -Infinity, columns[at + 1]?.x ?? Infinity];
    return {
      x: bars.reduce((edge, bar) => (bar < x && bar > before ? Math.min(edge, bar) : edge), x),
      end: bars.reduce(
        (edge, bar) => (bar > end && bar < next ? Math.max(edge, bar) : edge),
        isLeft ? next : end,
      ),
    };
  });
}

/** The cells of a row by column; undefined if a cell fits no column, or two fit one. */
function placeCells(row: Row, columns: readonly Column[]): Placed | undefined {
  const placed = new Map<number, Cell>();
  let last = -1;
  for (const cell of row.cells) {
    const at = columnAt(cell, columns);
    if (at === undefined || at <= last) return undefined;
    placed.set(at, cell);
    last = at;
  }
  return placed;
}

const overlapped = ({ x, end }: Column, columns: readonly Column[]): number[] =>
  columns.flatMap((column, at) => (x < column.end && end > column.x ? [at] : []));

const SAME_EDGE = 2;

/** The column of a cell; among several the one whose edge it shares, else the first. */
function columnAt(cell: Cell, columns: readonly Column[]): number | undefined {
  const over = overlapped(cell, columns);
  const isEdge = (at: number): boolean =>
    Math.abs((columns[at]?.x ?? 0) - cell.x) < SAME_EDGE ||
    Math.abs((columns[at]?.end ?? 0) - cell.end) < SAME_EDGE;
  return over.find(isEdge) ?? over[0];
}
