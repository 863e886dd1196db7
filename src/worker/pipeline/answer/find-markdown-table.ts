/**
 * Whether the text holds a table as GitHub draws one: a row with pipes above a row of dashes with as many cells,
 * also in a quotation or a list, or one in HTML. Shell pipes and `||` are none. Give it the text without code.
 */
export function hasMarkdownTable(text: string): boolean {
  if (/<table[\s>]/i.test(text)) return true;
  const lines = text.split("\n").map((line) => line.replace(/^[>\s]+/, ""));
  return lines.some((line, index) => {
    if (!line.includes("|")) return false;
    const dashes = delimiterCells(lines[index + 1] ?? "");
    return (
      dashes > 0 && [line, withoutListMark(line)].some((row) => cellsOf(row).length === dashes)
    );
  });
}

const withoutListMark = (line: string): string => line.replace(/^(?:[-*+]|\d{1,9}[.)])\s/, "");

/** Number of cells of a row of dashes, 0 for any other line. */
function delimiterCells(line: string): number {
  if (!line.includes("|")) return 0;
  const cells = cellsOf(line);
  return cells.every((cell) => /^:?-+:?$/.test(cell.trim())) ? cells.length : 0;
}

function cellsOf(line: string): string[] {
  const row = line.replaceAll("\\|", "  ").trim();
  const start = row.startsWith("|") ? 1 : 0;
  const end = row.length > start && row.endsWith("|") ? -1 : row.length;
  return row.slice(start, end).split("|");
}
