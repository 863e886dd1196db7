import type { TroubleRow } from "../../../shared/db/jobs/report-rows.ts";
import { markdownText } from "../../export/escape-markdown.ts";
import { countOf, formatCount } from "../../print/quantity.ts";
import type { Report } from "../gather-report.ts";
import { explainCode } from "../remedies.ts";
import { fixCommands, troubleSql } from "../report-words.ts";
import { troublesOf } from "../troubles-of.ts";

export function failuresPart(report: Report): readonly string[] {
  const { failures } = troublesOf(report);
  if (failures.length === 0) return [];
  return [
    "## What failed, and what to do",
    "When the cause is gone, what failed is run again, and nothing else is:",
    `\`\`\`sh\n${fixCommands(report).join("\n")}\n\`\`\``,
    ...failures.flatMap((group) => troubleGroup(group, report)),
  ];
}

export function refusalsPart(report: Report): readonly string[] {
  const { refusals } = troublesOf(report);
  if (refusals.length === 0) return [];
  return [
    "## What was refused, and why",
    ...refusals.flatMap((group) => troubleGroup(group, report)),
  ];
}

function troubleGroup(group: TroubleRow, report: Report): readonly string[] {
  const { state, error_code: code, jobs, examples } = group;
  const { meaning, remedy } = explainCode(code);
  const more = jobs - examples.length;
  return [
    `### ${markdownText(code)}, ${countOf(jobs, "job")} ${state}`,
    `${meaning} ${remedy}`.trim(),
    examples
      .map(
        ({ custom_id: id, error_message: message }) =>
          `- **${markdownText(id)}** ${markdownText(message)}`,
      )
      .join("\n"),
    ...(more > 0
      ? [`… and ${formatCount(more)} more:\n\n\`\`\`sql\n${troubleSql(group, report)}\n\`\`\``]
      : []),
  ];
}
