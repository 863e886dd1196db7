import { cleanForTerminal } from "../../shared/terminal-text.ts";

export type TableColumn = { readonly title: string; readonly align: "left" | "right" };

const MOST_CELL_COLUMNS = 80;

/** Lays out rows under titles. Cells are cleaned and cut at 80 columns; null is shown as a dash. */
export function layOutTable(
  columns: readonly TableColumn[],
  rows: readonly (readonly (string | null)[])[],
): readonly string[] {
  const cells = rows.map((row) => row.map(showCell));
  const widths = columns.map(({ title }, index) =>
    Math.max(widthOf(showCell(title)), ...cells.map((row) => widthOf(row[index] ?? ""))),
  );
  return [
    layOutRow(
      columns,
      columns.map(({ title }) => showCell(title)),
      widths,
    ),
    widths.map((width) => "-".repeat(width)).join("  "),
    ...cells.map((row) => layOutRow(columns, row, widths)),
  ];
}

/** One line of cells that fills the given widths. */
function layOutRow(
  columns: readonly TableColumn[],
  cells: readonly string[],
  widths: readonly number[],
): string {
  const padded = cells.map((cell, index) => {
    const padding = " ".repeat(Math.max(0, (widths[index] ?? 0) - widthOf(cell)));
    return columns[index]?.align === "right" ? padding + cell : cell + padding;
  });
  return padded.join("  ").trimEnd();
}

/** What a cell shows of a value: one line, without control characters. */
export function showCell(value: string | null): string {
  if (value === null) return "-";
  // A long value is cut first: cleaning a megabyte to show 80 columns of it would be slow.
  const line = cleanForTerminal(value.slice(0, MOST_CELL_COLUMNS * 8)).replace(
    /\s*[\r\n]+\s*/g,
    " ↵ ",
  );
  if (widthOf(line) <= MOST_CELL_COLUMNS && value.length <= MOST_CELL_COLUMNS * 8) return line;
  return `${cutTo(line, MOST_CELL_COLUMNS - 1)}…`;
}

function cutTo(text: string, columns: number): string {
  let width = 0;
  let end = 0;
  for (const character of text) {
    width += widthOf(character);
    if (width > columns) break;
    end += character.length;
  }
  return text.slice(0, end);
}

const MARKS = /[\p{Mn}\p{Me}\u200b-\u200d\ufe00-\ufe0f]/gu;
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/gu;

/** Columns that a terminal gives to a text: marks none, East Asian characters and emoji two. */
function widthOf(text: string): number {
  const visible = text.replace(MARKS, "");
  return Array.from(visible).length + (visible.match(WIDE)?.length ?? 0);
}
