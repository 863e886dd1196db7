import { showCell } from "./table.ts";
import { widthOf } from "./text-width.ts";

const NARROWEST_VALUE = 20;

/**
 * Lays out each row as a block of lines, a line a column: for rows that are wider than the terminal.
 * @param first number of the first row, from 1
 */
export function layOutRecords(
  titles: readonly string[],
  rows: readonly (readonly (string | null)[])[],
  { first, mostColumns }: { readonly first: number; readonly mostColumns: number },
): readonly string[] {
  const names = titles.map((title) => showCell(title));
  const nameWidth = Math.max(...names.map(widthOf));
  const valueWidth = Math.max(NARROWEST_VALUE, mostColumns - nameWidth - 2);
  return rows.flatMap((row, index) => [
    `-- row ${first + index} --`,
    ...names.map(
      (name, at) =>
        `${name}${" ".repeat(nameWidth - widthOf(name))}  ${showCell(row[at] ?? null, valueWidth)}`,
    ),
  ]);
}
