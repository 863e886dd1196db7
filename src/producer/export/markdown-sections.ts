import type { JobResult } from "../../shared/db/jobs/read-results.ts";
import { markdownQuote, markdownText } from "./escape-markdown.ts";
import { describePlace, evidenceHref } from "./evidence-href.ts";
import type { Place } from "./evidence-href.ts";
import { describeTask } from "./describe-task.ts";

export const markdownHead = (batch: string): string => `# ${markdownText(batch)}\n`;

/** A job under its custom_id: what was asked, the answer and what it rests on, or why there is none. */
export function markdownSection(result: JobResult, hrefBase: string): string {
  const task = describeTask(result.kind, result.input);
  const blocks = [
    `## ${markdownText(result.custom_id)}`,
    `${result.kind}, ${result.state}${task === "" ? "" : `: ${markdownText(task)}`}`,
    ...(result.answer === null ? [] : [markdownQuote(result.answer)]),
    ...(result.summary === null ? [] : [markdownQuote(JSON.stringify(result.summary, null, 1))]),
    ...describeProblem(result),
    ...(result.evidence.length === 0 ? [] : [evidenceList(result.evidence, hrefBase)]),
  ];
  return `${blocks.join("\n\n")}\n`;
}

const describeProblem = ({ error_code, error_message }: JobResult): readonly string[] =>
  error_code === null ? [] : [`**${error_code}** ${markdownText(error_message ?? "")}`];

const evidenceList = (pieces: JobResult["evidence"], hrefBase: string): string =>
  `Evidence:\n\n${pieces.map((piece) => `- ${evidenceLink(piece, hrefBase)}, sha256 ${piece.sha256}`).join("\n")}`;

/** A link to the lines of a file, or their name where they can't be linked. */
export function evidenceLink(place: Place, hrefBase: string): string {
  const href = evidenceHref(place, hrefBase);
  const text = markdownText(describePlace(place));
  return href === undefined ? text : `[${text}](${href})`;
}
