import type { TextBuilder } from "../reader/text-builder.ts";
import type { Block, Lines } from "../lines.ts";
import { isBlank, shapeOf } from "./markdown-lines.ts";

/** The first row names the columns where each of its cells is a name: words, none twice, and no number. */
export function isHeader(cells: readonly string[]): boolean {
  const names = cells.map((cell) => cell.trim());
  return (
    names.length > 1 &&
    names.every(
      (name) => name !== "" && name.length <= MOST_NAME_CHARS && !/^[\d.,%€$£+-]+$/.test(name),
    ) &&
    new Set(names).size === names.length
  );
}

const MOST_NAME_CHARS = 100;

/** One line of each row, its cells with the names of their columns, so that a row says everything where it stands alone. */
export function addRow(
  builder: Pick<TextBuilder, "add">,
  header: ReadonlyMap<number, string> | null,
  cells: readonly (readonly [column: number, value: string])[],
): void {
  const shown = cells.flatMap(([column, cell]) => {
    const value = cell.replaceAll(/\s+/g, " ").trim();
    const name = header?.get(column)?.trim();
    return value === "" ? [] : [name === undefined || name === "" ? value : `${name}: ${value}`];
  });
  builder.add(`${shown.join("; ")}\n`);
}

/** Each line is a block of its own: rows are kept whole. */
export function rowBlocks(lines: Lines, firstLine: number): Block[] {
  return Array.from({ length: lines.count - firstLine }, (_, index) => firstLine + index)
    .filter((line) => !isBlank(shapeOf(lines, line)))
    .map((line) => ({ firstLine: line, lastLine: line, cut: "lines" }));
}
