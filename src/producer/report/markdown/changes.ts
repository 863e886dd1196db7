import { markdownText } from "../../export/escape-markdown.ts";
import { countOf, formatCount, formatTime } from "../../print/quantity.ts";
import type { Report } from "../gather-report.ts";
import { CHANGE_TITLES } from "../report-words.ts";

export function changesPart({ changes }: Report): readonly string[] {
  if (changes === undefined) return [];
  const { since, rows } = changes;
  const same = rows.find(({ change }) => change === "same")?.jobs ?? 0;
  const groups = Object.entries(CHANGE_TITLES).flatMap(([change, title]) => {
    const row = rows.find((candidate) => candidate.change === change);
    if (row === undefined) return [];
    const more = row.jobs - row.examples.length;
    const lines = row.examples.map(
      ({ custom_id: id, code_before: before, code_now: now }) =>
        `- ${markdownText(id)}${before === null ? "" : `, before ${before}`}${now === null ? "" : `, now ${now}`}`,
    );
    return [
      `### ${title}: ${formatCount(row.jobs)}`,
      [...lines, ...(more > 0 ? [`- … and ${formatCount(more)} more`] : [])].join("\n"),
    ];
  });
  return [
    "## What changed",
    `Compared with ${markdownText(since.name)} of ${formatTime(since.created_at)}: ${countOf(same, "job")} came out the same.`,
    ...groups,
  ];
}
