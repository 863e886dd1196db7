/** The cells of a row of a Markdown table as they are written: a bar behind a backslash parts none. */
export const tableCells = (row: string): string[] =>
  row
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "")
    .split(/(?<!\\)\|/);

/** The same as a reader sees them: trimmed, with the bar alone where it stands behind a backslash. */
export const cellTexts = (row: string): string[] =>
  tableCells(row).map((cell) => cell.replaceAll("\\|", "|").trim());
