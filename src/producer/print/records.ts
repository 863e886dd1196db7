import { widthOf } from "../../shared/text-width.ts";
import { joined } from "../../shared/styled-text.ts";
import type { Line } from "../../shared/styled-text.ts";
import { showCell } from "./table.ts";
import type { Cell } from "./table.ts";

const NARROWEST_VALUE = 20;

/**
 * Lays out each row as a block of lines, a line a column: for rows that are wider than the terminal.
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
      return joined([`${name}${" ".repeat(nameWidth - widthOf(name))}  `, shown]);
    }),
  ]);
}
