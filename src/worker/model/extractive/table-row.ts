/** The cells of a row of a markdown table, trimmed; `\\|` is a pipe within one. */
export const cellsOf = (row: string): string[] =>
  row
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.replaceAll("\\|", "|").trim());

/**
 * A row as a reader says it: its first cell, then each further one after the head of its column. Every cell stays
 * as it is in the file.
 */
export function sayRow(cells: readonly string[], head: readonly string[]): string {
  const [label = "", ...rest] = cells;
  const said = rest.flatMap((cell, index) => {
    const column = head[index + 1] ?? "";
    if (cell === "") return [];
    return [column === "" ? cell : `${column}: ${cell}`];
  });
  return [label, said.join("; ")].filter((part) => part !== "").join(" — ");
}
