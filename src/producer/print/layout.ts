import {
  cleanForTerminal,
  cutInMiddle,
  cutToColumns,
  joinLines,
  mapTexts,
  plainText,
  sliceLine,
  widthOf,
} from "../../shared/terminal/styled-text.ts";
import type { Line } from "../../shared/terminal/styled-text.ts";
import type { Column } from "../../shared/views/section.ts";

export type Cell = Line | null;

const MOST_CELL_COLUMNS = 80;
/** The limit for names: in a pipe a name must not be cut. */
const MOST_NAME_COLUMNS = 1_000;
/** The width of an id, which is useless when cut. */
const NARROWEST_CUT = 36;
const GAP = "  ";

/**
 * Lays out rows under titles. Cells are cleaned and cut at 80 columns, names at 1,000; null is shown as a dash.
 * @param mostColumns the terminal's width: the widest cells shrink, down to the minimum of their columns
 */
export const layOutTable = (
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  mostColumns = Infinity,
): readonly Line[] => fitTable(columns, rows, mostColumns).lines;

/** @returns the lines, and the titles of the columns that were left out */
export function fitTable(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  mostColumns: number,
): { readonly lines: readonly Line[]; readonly leftOut: readonly string[] } {
  const all = columns.map((column, index) => {
    const title = showCell(column.title);
    const cells = rows.map((row) => shownCell(row[index] ?? null, column));
    const width = cells.reduce(
      (most, cell) => Math.max(most, widthOf(plainText(cell))),
      widthOf(title),
    );
    return { column, title, cells, width };
  });
  const shown = leaveOut(all, mostColumns);
  const widths = shrinkColumns(shown, mostColumns);
  const layOutRow = (cells: readonly Line[]) =>
    trimLine(joinLines(cells.flatMap((cell, index) => [index === 0 ? "" : GAP, pad(cell, index)])));
  const pad = (cell: Line, index: number): Line => {
    const { column } = shown[index] ?? never();
    const cut = cutCell(cell, widths[index] ?? 0, column);
    const padding = " ".repeat((widths[index] ?? 0) - widthOf(plainText(cut)));
    return joinLines(column.align === "right" ? [padding, cut] : [cut, padding]);
  };
  return {
    lines: [
      layOutRow(shown.map(({ title }) => title)),
      widths.map((width) => "-".repeat(width)).join(GAP),
      ...rows.map((_, at) => layOutRow(shown.map(({ cells }) => cells[at] ?? ""))),
    ],
    leftOut: all.filter((one) => !shown.includes(one)).map(({ title }) => title),
  };
}

type Measured = {
  readonly column: Column;
  readonly title: string;
  readonly cells: readonly Line[];
  readonly width: number;
};

const sumOf = (widths: readonly number[]): number =>
  widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length);

const leastOf = ({ column, width }: Measured): number =>
  Math.min(width, column.least ?? NARROWEST_CUT);

/** Leaves out columns, in the order of `leftOut`, until the minimum widths of the others fit. */
function leaveOut(columns: readonly Measured[], mostColumns: number): readonly Measured[] {
  if (sumOf(columns.map(leastOf)) <= mostColumns) return columns;
  const [first] = columns
    .filter(({ column }) => column.leftOut !== undefined)
    .sort((one, other) => (one.column.leftOut ?? 0) - (other.column.leftOut ?? 0));
  if (first === undefined) return columns;
  return leaveOut(
    columns.filter((column) => column !== first),
    mostColumns,
  );
}

/** Shrinks the widest shrinkable column until the sum fits, or none can shrink; in a list, then even below the minimum. */
function shrinkColumns(columns: readonly Measured[], mostColumns: number): readonly number[] {
  const isList = columns.some(({ column }) => column.least !== undefined);
  const widths = columns.map(({ width }) => width);
  for (const least of isList ? [leastOf, () => 1] : [leastOf]) {
    const floors = columns.map(least);
    for (let excess = sumOf(widths) - mostColumns; excess > 0; excess -= 1) {
      const able = widths.map((width, index) => (width > (floors[index] ?? 0) ? width : 0));
      const widest = Math.max(...able);
      if (widest === 0) break;
      widths[able.indexOf(widest)] = widest - 1;
    }
  }
  return widths;
}

/** Cuts a cell: a name in the middle, any other text at its end. */
function cutCell(cell: Line, columns: number, { cut }: Column): Line {
  const text = plainText(cell);
  if (widthOf(text) <= columns) return cell;
  if (cut === "middle") return mapTexts(cell, (whole) => cutInMiddle(whole, columns));
  const start = cutToColumns(text, columns);
  return joinLines([sliceLine(cell, 0, start.length - 1), "…"]);
}

const trimLine = (row: Line): Line =>
  typeof row === "string" ? row.trimEnd() : sliceLine(row, 0, plainText(row).trimEnd().length);

const shownCell = (cell: Cell, { cut }: Column): Line =>
  cell === null || typeof cell === "string"
    ? showCell(cell, cut === "middle" ? MOST_NAME_COLUMNS : MOST_CELL_COLUMNS)
    : mapTexts(cell, (text) => showCell(text));

/** The text of a cell: one line of at most so many columns, without control characters. */
export function showCell(value: string | null, mostColumns = MOST_CELL_COLUMNS): string {
  if (value === null) return "-";
  // A long value is cut first: cleaning a megabyte to show 80 columns of it would be slow.
  const start = value.slice(0, mostColumns * 8);
  const line = cleanForTerminal(start.replace(/\s*[\r\n]+\s*/g, " ↵ ").replaceAll("\t", " "));
  return cutToColumns(start === value ? line : `${line}…`, mostColumns);
}

function never(): never {
  throw new Error("a row has more cells than there are columns");
}

const NARROWEST_VALUE = 20;

/**
 * Lays out each row as a block with one line per column: for rows that are wider than the terminal.
 * @param first number of the first row, from 1
 */
export function layOutRecords(
  titles: readonly string[],
  rows: readonly (readonly Cell[])[],
  { first, mostColumns }: { readonly first: number; readonly mostColumns: number },
): readonly Line[] {
  const names = titles.map((title) => showCell(title));
  const nameWidth = Math.max(...names.map(widthOf));
  const valueWidth = Math.max(NARROWEST_VALUE, mostColumns - nameWidth - 2);
  return rows.flatMap((row, index) => [
    `-- row ${first + index} --`,
    ...names.map((name, at) => {
      const value = row[at] ?? null;
      const shown =
        value === null || typeof value === "string" ? showCell(value, valueWidth) : value;
      return joinLines([`${name}${" ".repeat(nameWidth - widthOf(name))}  `, shown]);
    }),
  ]);
}
