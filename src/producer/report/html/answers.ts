import type { AnswerRow } from "../../../shared/db/jobs/report-rows.ts";
import { describeTask } from "../../export/describe-task.ts";
import { describePlace, evidenceHref } from "../../export/evidence-href.ts";
import { countOf, formatCount } from "../../print/quantity.ts";
import { citedChildren, citedEvidence } from "../cited-evidence.ts";
import type { Report } from "../gather-report.ts";
import { answersLeftOut, answersSql, answerText } from "../report-words.ts";
import type { Section } from "./page.ts";
import { markup } from "./markup.ts";
import type { Html } from "./markup.ts";

/** Answers with what they rest on: digests first, as they tell of the rest. */
export function answersSection(report: Report, hrefBase: string): Section | undefined {
  const { answers } = report;
  if (answers.length === 0) return undefined;
  const more = answersLeftOut(report);
  const body = markup`${answers.map((answer) => answerCard(answer, hrefBase))}
${more > 0 ? markup`<p class="more">… and ${countOf(more, "answer")} more: <code>${answersSql(report)}</code></p>` : ""}`;
  return { id: "answers", title: "Answers and summaries", body };
}

function answerCard(answer: AnswerRow, hrefBase: string): Html {
  const { job_id: jobId, custom_id: id, kind, input, scope, output } = answer;
  const { text, isCut } = answerText(answer);
  const task = describeTask(kind, input);
  return markup`<article><h3>${id}</h3>
<p class="task">${kind}${task === "" || task === id ? "" : ` · ${task}`}</p>
${text === "" ? "" : markup`<div class="answer" dir="auto">${text}${isCut ? " …" : ""}</div>`}
${isCut ? markup`<p class="more">Cut here; all of it: <code>nightdesk runs show ${jobId}</code></p>` : ""}
${output === null || kind === "digest" ? "" : fieldTable(output)}
${scope === null ? "" : markup`<p class="scope">${scope}</p>`}
${evidenceList(answer, hrefBase)}${childList(answer)}</article>
`;
}

const MOST_FIELDS = 40;
const MOST_VALUE_CHARS = 600;

/** What an answer has beside words: its fields, each as text or JSON. */
function fieldTable(output: Readonly<Record<string, unknown>>): Html {
  const rows = Object.entries(output)
    .slice(0, MOST_FIELDS)
    .map(([name, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      const shown = text.length > MOST_VALUE_CHARS ? `${text.slice(0, MOST_VALUE_CHARS)}…` : text;
      return markup`<tr><th scope="row">${name}</th><td>${shown}</td></tr>`;
    });
  return markup`<div class="scroll"><table><tbody>${rows}</tbody></table></div>`;
}

/** The jobs that the lines of a digest cite. */
function childList({ citations }: AnswerRow): Html {
  const children = citedChildren(citations);
  if (children.length === 0) return markup``;
  const items = children.map(
    ({ number, path, jobId }) =>
      markup`<li>${number === null ? "" : `[${number}] `}${path} <span class="hash">job <code>${jobId}</code></span></li>`,
  );
  return markup`<ul class="evidence" aria-label="Answers that it is of">${items}</ul>`;
}

function evidenceList(answer: AnswerRow, hrefBase: string): Html {
  const { shown, more } = citedEvidence(answer);
  if (shown.length === 0) return markup``;
  const items = shown.map((piece) => {
    const href = evidenceHref(piece, hrefBase);
    const place = describePlace(piece);
    const link = href === undefined ? markup`${place}` : markup`<a href="${href}">${place}</a>`;
    const number = piece.number === null ? "" : `[${piece.number}] `;
    return markup`<li>${number}${link} <span class="hash">sha256 <code>${piece.sha256}</code></span></li>`;
  });
  const rest =
    more > 0 ? markup`<li class="more">and ${formatCount(more)} more that it was given</li>` : "";
  return markup`<ul class="evidence" aria-label="Evidence">${items}${rest}</ul>`;
}
