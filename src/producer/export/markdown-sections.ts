import type { JobResult, StoredCitation } from "../../shared/db/jobs/read-results.ts";
import { markdownLabel, markdownQuote, markdownText } from "./escape-markdown.ts";
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
    ...describeOutput(result),
    ...describeProblem(result),
    ...citationList(result.citations ?? [], hrefBase),
    ...(result.evidence.length === 0 ? [] : [evidenceList(result.evidence, hrefBase)]),
  ];
  return `${blocks.join("\n\n")}\n`;
}

/** What a digest had to leave out stands in its answer. */
const describeOutput = ({ kind, summary }: JobResult): readonly string[] =>
  summary === null || kind === "digest" ? [] : [markdownQuote(JSON.stringify(summary, null, 1))];

const describeProblem = ({ error_code, error_message }: JobResult): readonly string[] =>
  error_code === null ? [] : [`**${error_code}** ${markdownText(error_message ?? "")}`];

/** What the numbers in an answer stand for: lines of a file, or the job whose answer a digest tells of. */
function citationList(citations: readonly StoredCitation[], hrefBase: string): readonly string[] {
  const lines = citations.flatMap((citation) =>
    typeof citation.number === "number"
      ? [`- \\[${citation.number}\\] ${citedPlace(citation, hrefBase)}`]
      : [],
  );
  return lines.length === 0 ? [] : [`Citations:\n\n${lines.join("\n")}`];
}

function citedPlace(citation: StoredCitation, hrefBase: string): string {
  const { path, jobId, lineStart, lineEnd, resolved } = citation;
  const name = markdownText(path);
  if (resolved === false) return `${name}, which stands for nothing that was read`;
  if (typeof jobId === "string") return `${name}, job ${jobId}`;
  if (typeof lineStart !== "number" || typeof lineEnd !== "number") return name;
  return evidenceLink({ path, line_start: lineStart, line_end: lineEnd }, hrefBase);
}

const evidenceList = (pieces: JobResult["evidence"], hrefBase: string): string =>
  `Evidence:\n\n${pieces.map((piece) => `- ${evidenceLink(piece, hrefBase)}, sha256 ${piece.sha256}`).join("\n")}`;

/** A link to the lines of a file, or their name where they can't be linked. */
export function evidenceLink(place: Place, hrefBase: string): string {
  const href = evidenceHref(place, hrefBase);
  const text = describePlace(place);
  return href === undefined ? markdownText(text) : `[${markdownLabel(text)}](${href})`;
}
