/** The cells of a row of a Markdown table as they are written; a bar behind a backslash separates none. */
export const tableCells = (row: string): string[] =>
  row
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "")
    .split(/(?<!\\)\|/);

/** The cells as a reader sees them: trimmed, and with escaped bars unescaped. */
export const cellTexts = (row: string): string[] =>
  tableCells(row).map((cell) => cell.replaceAll("\\|", "|").trim());
