import { describeTask } from "../../shared/kinds.ts";
import type { FailureGroupRow } from "../../shared/views/report-rows.ts";
import { evidenceLink, markdownQuote, markdownText } from "../export/markdown.ts";
import { countOf, formatCount, formatDuration, formatTime } from "../../shared/views/quantity.ts";
import {
  citedChildren,
  citedEvidence,
  foldCopies,
  HOLD_TITLES,
  holdsOf,
  troublesOf,
} from "./gather-report.ts";
import type { ListedAnswer, Report } from "./gather-report.ts";
import {
  addUp,
  alsoIn,
  answersLeftOut,
  answersSql,
  answerText,
  CHANGE_TITLES,
  explainCode,
  factsOf,
  fixCommands,
  headline,
  holdsSql,
  kindTotals,
  modelTotals,
  reportMarker,
  troubleSql,
} from "./words.ts";
import type { CostTotal } from "./words.ts";

/** The same report as text for an editor or a mail. @param hrefBase from the file to the work root */
export function markdownReport(report: Report, hrefBase: string): string {
  const { batch, madeAt, version } = report;
  const parts = [
    reportMarker(batch.batchId),
    `# ${markdownText(batch.name)}`,
    headline(report),
    factsOf(report)
      .map(([label, value]) => `- ${label}: ${markdownText(value)}`)
      .join("\n"),
    ...changesPart(report),
    ...failuresPart(report),
    ...holdsPart(report),
    ...refusalsPart(report),
    ...answersPart(report, hrefBase),
    ...costsPart(report),
    ...slowestPart(report),
    `---\n\nMade ${formatTime(madeAt)} by Nightdesk ${version} from batch \`${batch.batchId}\`. Times are UTC; paths are relative to the work root.`,
  ];
  return `${parts.join("\n\n")}\n`;
}

function answersPart(report: Report, hrefBase: string): readonly string[] {
  if (report.answers.length === 0) return [];
  const more = answersLeftOut(report);
  return [
    "## Answers and summaries",
    ...foldCopies(report.answers).map((listed) => answerEntry(listed, hrefBase)),
    ...(more > 0
      ? [`… and ${countOf(more, "answer")} more:\n\n\`\`\`sql\n${answersSql(report)}\n\`\`\``]
      : []),
  ];
}

function answerEntry({ answer, copies }: ListedAnswer, hrefBase: string): string {
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
    ...(copies.length === 0 ? [] : [markdownText(alsoIn(copies))]),
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

function failuresPart(report: Report): readonly string[] {
  const { failures } = troublesOf(report);
  if (failures.length === 0) return [];
  return [
    "## What failed, and what to do",
    "When the cause is gone, what failed is run again, and nothing else is:",
    `\`\`\`sh\n${fixCommands(report).join("\n")}\n\`\`\``,
    ...failures.flatMap((group) => troubleGroup(group, report)),
  ];
}

function refusalsPart(report: Report): readonly string[] {
  const { refusals } = troublesOf(report);
  if (refusals.length === 0) return [];
  return [
    "## What was refused, and why",
    ...refusals.flatMap((group) => troubleGroup(group, report)),
  ];
}

function troubleGroup(group: FailureGroupRow, report: Report): readonly string[] {
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

function changesPart({ changes }: Report): readonly string[] {
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

function costsPart({ costs, kinds }: Report): readonly string[] {
  if (costs.length === 0) return [];
  const titles = ["Of", "Runs", "Tokens read", "Tokens written", "In the model", "In all"];
  const totals = [...modelTotals(costs), ...kindTotals(costs, kinds), addUp("all", costs)];
  return ["## Time and tokens", markdownTable(titles, totals.map(cellsOf))];
}

const cellsOf = (total: CostTotal): readonly string[] => [
  total.name,
  formatCount(total.runs),
  formatCount(total.promptTokens),
  formatCount(total.completionTokens),
  formatDuration(total.modelMs),
  formatDuration(total.runMs),
];

function slowestPart({ slowest }: Report): readonly string[] {
  if (slowest.length === 0) return [];
  const titles = ["Job", "Kind", "Model", "Came to", "Took", "Tokens"];
  const rows = slowest.map((row) => [
    row.custom_id,
    row.kind,
    row.model ?? "",
    row.state,
    formatDuration(row.run_ms),
    formatCount(row.tokens),
  ]);
  return ["## The slowest", markdownTable(titles, rows)];
}

/** When and why the batch stood still. */
function holdsPart(report: Report): readonly string[] {
  if (report.holds.length === 0) return [];
  const { sentence, rows, leftOut } = holdsOf(report);
  return [
    "## When it stood still, and why",
    sentence,
    markdownTable(HOLD_TITLES, rows),
    ...(leftOut > 0
      ? [`… and ${formatCount(leftOut)} shorter:\n\n\`\`\`sql\n${holdsSql(report)}\n\`\`\``]
      : []),
  ];
}

/** A table of texts, each in one line. */
function markdownTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [
    line(titles),
    line(titles.map(() => "---")),
    ...rows.map((row) => line(row.map(markdownText))),
  ].join("\n");
}
