import { markdownText } from "../../export/escape-markdown.ts";

/** A table of texts, each in one line. */
export function markdownTable(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [
    line(titles),
    line(titles.map(() => "---")),
    ...rows.map((row) => line(row.map(markdownText))),
  ].join("\n");
}
