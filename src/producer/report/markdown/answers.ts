import type { AnswerRow } from "../../../shared/db/jobs/report-rows.ts";
import { describeTask } from "../../export/describe-task.ts";
import { markdownQuote, markdownText } from "../../export/escape-markdown.ts";
import { evidenceLink } from "../../export/markdown-sections.ts";
import { countOf, formatCount } from "../../print/quantity.ts";
import { citedChildren, citedEvidence } from "../cited-evidence.ts";
import type { Report } from "../gather-report.ts";
import { answersLeftOut, answersSql, answerText } from "../report-words.ts";

export function answersPart(report: Report, hrefBase: string): readonly string[] {
  if (report.answers.length === 0) return [];
  const more = answersLeftOut(report);
  return [
    "## Answers and summaries",
    ...report.answers.map((answer) => answerEntry(answer, hrefBase)),
    ...(more > 0
      ? [`… and ${countOf(more, "answer")} more:\n\n\`\`\`sql\n${answersSql(report)}\n\`\`\``]
      : []),
  ];
}

function answerEntry(answer: AnswerRow, hrefBase: string): string {
  const { custom_id: id, job_id: jobId, kind, input, scope, output } = answer;
  const { shown, more } = citedEvidence(answer);
  const { text, isCut } = answerText(answer);
  const task = describeTask(kind, input);
  const links = [
    ...shown.map(
      (piece) => `- ${numberOf(piece)}${evidenceLink(piece, hrefBase)}, sha256 ${piece.sha256}`,
    ),
    ...citedChildren(answer.citations).map(
      (child) => `- ${numberOf(child)}${markdownText(child.path)}, job ${child.jobId}`,
    ),
  ];
  return [
    `### ${markdownText(id)}`,
    `${kind}${task === "" || task === id ? "" : `: ${markdownText(task)}`}`,
    ...(text === "" ? [] : [markdownQuote(`${text}${isCut ? " …" : ""}`)]),
    ...(isCut ? [`Cut here; all of it: \`nightdesk runs show ${jobId}\``] : []),
    ...(output === null || kind === "digest"
      ? []
      : [markdownQuote(JSON.stringify(output, null, 1))]),
    ...(scope === null ? [] : [markdownText(scope)]),
    ...(links.length === 0
      ? []
      : [
          [
            ...links,
            ...(more > 0 ? [`- and ${formatCount(more)} more that it was given`] : []),
          ].join("\n"),
        ]),
  ].join("\n\n");
}

const numberOf = ({ number }: { readonly number: number | null }): string =>
  number === null ? "" : `\\[${number}\\] `;
