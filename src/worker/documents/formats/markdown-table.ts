/** A table as Markdown writes it: the first row names the columns. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const [header, ...rest] = rows;
  if (header === undefined) return "";
  const columns = Math.min(
    MOST_COLUMNS,
    Math.max(...rows.slice(0, MEASURED).map((row) => row.length)),
  );
  const rule = Array.from({ length: columns }, () => "---");
  return [header, rule, ...rest].map((row) => `| ${row.map(inCell).join(" | ")} |\n`).join("");
}

const MOST_COLUMNS = 200;
const MEASURED = 1_000;

const inCell = (text: string): string => text.replaceAll(/\s+/g, " ").trim().replaceAll("|", "\\|");
