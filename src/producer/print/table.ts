import { cutToColumns, widthOf } from "./text-width.ts";
import { cleanForTerminal } from "../../shared/terminal-text.ts";

export type TableColumn = { readonly title: string; readonly align: "left" | "right" };

const MOST_CELL_COLUMNS = 80;
/** As wide as an id, which is of no use when it is cut. */
const NARROWEST_CUT = 36;
const GAP = "  ";

/**
 * Lays out rows under titles. Cells are cleaned and cut at 80 columns; null is shown as a dash.
 * @param mostColumns where the terminal ends: the widest cells give way, down to the width of an id
 */
export function layOutTable(
  columns: readonly TableColumn[],
  rows: readonly (readonly (string | null)[])[],
  mostColumns = Infinity,
): readonly string[] {
  const cells = rows.map((row) => row.map((value) => showCell(value)));
  const titles = columns.map(({ title }) => showCell(title));
  const widths = narrow(
    titles.map((title, index) =>
      Math.max(widthOf(title), ...cells.map((row) => widthOf(row[index] ?? ""))),
    ),
    mostColumns,
  );
  return [
    layOutRow(columns, titles, widths),
    widths.map((width) => "-".repeat(width)).join(GAP),
    ...cells.map((row) => layOutRow(columns, row, widths)),
  ];
}

/** Takes from the widest until the sum fits, or until none is wider than an id. */
function narrow(widths: readonly number[], mostColumns: number): readonly number[] {
  const narrowed = [...widths];
  let excess = narrowed.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - mostColumns;
  for (; excess > 0; excess -= 1) {
    const widest = narrowed.indexOf(Math.max(...narrowed));
    const width = narrowed[widest] ?? 0;
    if (width <= NARROWEST_CUT) break;
    narrowed[widest] = width - 1;
  }
  return narrowed;
}

/** One line of cells that fills the given widths. */
function layOutRow(
  columns: readonly TableColumn[],
  cells: readonly string[],
  widths: readonly number[],
): string {
  const padded = cells.map((cell, index) => {
    const width = widths[index] ?? 0;
    const shown = cutToColumns(cell, width);
    const padding = " ".repeat(width - widthOf(shown));
    return columns[index]?.align === "right" ? padding + shown : shown + padding;
  });
  return padded.join(GAP).trimEnd();
}

/** What a cell shows of a value: one line of at most so many columns, without control characters. */
export function showCell(value: string | null, mostColumns = MOST_CELL_COLUMNS): string {
  if (value === null) return "-";
  // A long value is cut first: cleaning a megabyte to show 80 columns of it would be slow.
  const start = value.slice(0, mostColumns * 8);
  const line = cleanForTerminal(start.replace(/\s*[\r\n]+\s*/g, " ↵ ").replaceAll("\t", " "));
  return cutToColumns(start === value ? line : `${line}…`, mostColumns);
}
