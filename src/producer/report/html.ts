import { describeTask } from "../../shared/kinds.ts";
import type { ChangeRow } from "../../shared/views/compare-batches.ts";
import type {
  AnswerRow,
  CostRow,
  SlowRow,
  FailureGroupRow,
} from "../../shared/views/report-rows.ts";
import { FINAL_STATES } from "../../shared/job.ts";
import { describePlace, evidenceHref } from "../export/markdown.ts";
import { doneOf } from "../print/batch.ts";
import { countOf, formatCount, formatDuration, formatTime } from "../../shared/views/quantity.ts";
import {
  citedChildren,
  citedEvidence,
  foldCopies,
  HOLD_TITLES,
  holdsOf,
  troublesOf,
} from "./gather-report.ts";
import type { HoldRow, ListedAnswer, Report } from "./gather-report.ts";
import { Html, markup } from "./html-markup.ts";
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

/** A part of the page with the words that lead to it; none where it would hold nothing. */
type Section = { readonly id: string; readonly title: string; readonly body: Html };

/** Nothing is loaded from anywhere, and nothing runs: also where an escape was forgotten. */
const POLICY = new Html(
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
);

/** A report as one page that holds all it needs. @param hrefBase from the page to the work root */
export function htmlReport(report: Report, hrefBase: string): string {
  const { batch, madeAt, version } = report;
  const sections = [
    changesSection(report),
    failuresSection(report),
    holdsSection(report),
    refusalsSection(report),
    answersSection(report, hrefBase),
    costsSection(report),
    slowestSection(report),
  ].filter((section) => section !== undefined);
  const page = markup`<!doctype html>
${new Html(reportMarker(batch.batchId))}
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${batch.name} · Nightdesk report</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<header>
<p class="kicker">Nightdesk · morning report</p>
<h1>${batch.name}</h1>
<p class="lead">${headline(report)}</p>
${overview(report)}
<nav aria-label="Sections">${sections.map(linkTo)}</nav>
</header>
<main>
${sections.map(wrap)}</main>
<footer>
<p>Made ${formatTime(madeAt)} by Nightdesk ${version} from batch <code>${batch.batchId}</code>. Times are UTC; paths are
relative to the work root. An answer rests on the bytes that its sha256 names: <code>sha256sum FILE</code> confirms it.</p>
</footer>
</body>
</html>
`;
  return page.toString();
}

const linkTo = ({ id, title }: Section): Html => markup`<a href="#${id}">${title}</a> `;

const wrap = ({ id, title, body }: Section): Html =>
  markup`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${body}
</section>
`;

/** The look of a report: no font, image or script from anywhere, one accent colour, and a form for print. */
const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fbfaf7; --card: #ffffff; --ink: #1d2126; --soft: #5c6570; --line: #e3dfd6; --accent: #21507f;
  --good: #2f6b4f; --refused: #94681c; --bad: #a03232; --idle: #8a929b;
  --serif: "Iowan Old Style", "Palatino Linotype", Palatino, "Book Antiqua", Georgia, serif;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Consolas, "Liberation Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171b; --card: #1b1f24; --ink: #e6e3dc; --soft: #9aa3ad; --line: #2d333a; --accent: #8db8e3;
    --good: #7fc3a0; --refused: #d9ad5f; --bad: #e58a8a; --idle: #6d767f;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.55 var(--sans); }
main, header, footer { max-width: 58rem; margin: 0 auto; padding: 0 1.5rem; }
header { padding-top: 3.5rem; }
.kicker { margin: 0; color: var(--soft); font-size: .8rem; letter-spacing: .08em; text-transform: uppercase; }
h1, h2, h3 { font-family: var(--serif); font-weight: 600; line-height: 1.2; overflow-wrap: anywhere; }
h1 { margin: .35rem 0 .5rem; font-size: 2.3rem; letter-spacing: -.01em; }
h2 { margin: 3rem 0 .75rem; padding-top: 1.25rem; border-top: 1px solid var(--line); font-size: 1.5rem; }
h3 { margin: 1.75rem 0 .4rem; font-size: 1.1rem; }
p { margin: .5rem 0; }
.lead { max-width: 44rem; margin: 0 0 1.5rem; font: 1.2rem/1.5 var(--serif); }
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: 2px; overflow-wrap: anywhere; }
code { font: .86em var(--mono); overflow-wrap: anywhere; }
pre { margin: .5rem 0; padding: .7rem .9rem; border: 1px solid var(--line); border-radius: 6px; background: var(--card);
  white-space: pre-wrap; overflow-wrap: anywhere; font: .82rem/1.5 var(--mono); }
.bar { display: flex; height: .7rem; margin: 0 0 1.25rem; overflow: hidden; border-radius: 4px; background: var(--line); }
.bar span { min-width: 2px; }
.tiles { display: flex; flex-wrap: wrap; gap: .75rem; margin: 0 0 1.5rem; padding: 0; list-style: none; }
.tiles li { flex: 1 1 7.5rem; padding: .8rem 1rem; border: 1px solid var(--line); border-radius: 8px; background: var(--card); }
.tiles strong { display: block; font: 600 1.7rem/1.2 var(--serif); font-variant-numeric: tabular-nums; }
.tiles span { color: var(--soft); font-size: .85rem; }
.succeeded { --tone: var(--good); } .refused { --tone: var(--refused); } .failed { --tone: var(--bad); }
.cancelled, .expired, .waiting { --tone: var(--idle); }
.tiles strong { color: var(--tone); } .bar span { background: var(--tone); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.25rem; margin: 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
nav { margin: 1.75rem 0 0; color: var(--soft); font-size: .9rem; }
nav a { margin-right: 1.1rem; white-space: nowrap; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: .9rem; }
caption { padding: .2rem 0 .4rem; color: var(--soft); text-align: left; }
th, td { padding: .4rem .9rem .4rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; overflow-wrap: anywhere; }
th { color: var(--soft); font-weight: 500; white-space: nowrap; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.times td { overflow-wrap: normal; } .times .why { overflow-wrap: anywhere; min-width: 8rem; }
@media (min-width: 45rem) { .times td { white-space: nowrap; } .times .why { white-space: normal; } }
article { margin: 1.1rem 0; padding: 1.1rem 1.3rem; border: 1px solid var(--line); border-radius: 8px; background: var(--card); }
article h3 { margin-top: 0; }
.task { color: var(--soft); font-size: .9rem; }
.answer { max-width: 46rem; font: 1.02rem/1.6 var(--serif); white-space: pre-wrap; overflow-wrap: anywhere; }
.evidence { margin: .8rem 0 0; padding: .6rem 0 0; border-top: 1px dotted var(--line); list-style: none; font-size: .85rem; }
.evidence li { margin: .2rem 0; }
.scope, .hash, .more { color: var(--soft); font-size: .82rem; }
.code { color: var(--tone); font: 600 .95rem var(--mono); }
.remedy { padding-left: .8rem; border-left: 3px solid var(--tone); }
footer { margin-top: 3.5rem; padding-top: 1.25rem; padding-bottom: 3rem; border-top: 1px solid var(--line); color: var(--soft); font-size: .85rem; }
@media print {
  :root { --paper: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #bbb; --accent: #000; }
  body { font-size: 10.5pt; } header { padding-top: 0; } nav { display: none; }
  main, header, footer { max-width: none; padding-left: 0; padding-right: 0; }
  h2, h3 { break-after: avoid; } article, tr { break-inside: avoid; }
  .bar, .bar span { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`;

type Share = { readonly name: string; readonly jobs: number };

/** Counts as a bar and as tiles, then the facts of the night. */
function overview(report: Report): Html {
  const shares = sharesOf(report);
  const { total } = report.batch;
  return markup`${bar(shares, total)}
<ul class="tiles">${shares.map(tile)}</ul>
<dl>${factsOf(report).map(([label, value]) => markup`<dt>${label}</dt><dd>${value}</dd>`)}</dl>`;
}

/** What succeeded, refused and failed always; the rest where there is any. */
function sharesOf({ batch }: Report): readonly Share[] {
  const shares = [
    ...FINAL_STATES.map((name) => ({ name, jobs: batch.counts[name] })),
    { name: "waiting", jobs: batch.total - doneOf(batch) },
  ];
  return shares.filter(({ name, jobs }, index) => index < 3 || (jobs > 0 && name !== ""));
}

function bar(shares: readonly Share[], total: number): Html {
  const parts = shares.filter(({ jobs }) => jobs > 0);
  const words = parts.map(({ name, jobs }) => `${formatCount(jobs)} ${name}`).join(", ");
  const spans = parts.map(
    ({ name, jobs }) =>
      markup`<span class="${name}" style="flex:${((jobs / Math.max(1, total)) * 100).toFixed(3)} 0 0"></span>`,
  );
  return markup`<div class="bar" role="img" aria-label="${words}">${spans}</div>`;
}

const tile = ({ name, jobs }: Share): Html =>
  markup`<li class="${name}"><strong>${formatCount(jobs)}</strong><span>${name}</span></li>`;

/** Answers with what they rest on: digests first, as they tell of the rest. */
function answersSection(report: Report, hrefBase: string): Section | undefined {
  const { answers } = report;
  if (answers.length === 0) return undefined;
  const more = answersLeftOut(report);
  const body = markup`${foldCopies(answers).map((listed) => answerCard(listed, hrefBase))}
${more > 0 ? markup`<p class="more">… and ${countOf(more, "answer")} more: <code>${answersSql(report)}</code></p>` : ""}`;
  return { id: "answers", title: "Answers and summaries", body };
}

function answerCard({ answer, copies }: ListedAnswer, hrefBase: string): Html {
  const { job_id: jobId, custom_id: id, kind, input, scope, output } = answer;
  const { text, isCut } = answerText(answer);
  const task = describeTask(kind, input);
  return markup`<article><h3>${id}</h3>
<p class="task">${kind}${task === "" || task === id ? "" : ` · ${task}`}</p>
${copies.length === 0 ? "" : markup`<p class="task">${alsoIn(copies)}</p>`}
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

/** Faults of the machinery, what was cut short, and what still waits; with the commands that set it right. */
function failuresSection(report: Report): Section | undefined {
  const { failures } = troublesOf(report);
  if (failures.length === 0) return undefined;
  const commands = fixCommands(report);
  const body = markup`<p>When the cause is gone, what failed is run again, and nothing else is:</p>
<pre>${commands.join("\n")}</pre>
${failures.map((group) => troubleGroup(group, report))}`;
  return { id: "failures", title: "What failed, and what to do", body };
}

/** Correct results without an answer. */
function refusalsSection(report: Report): Section | undefined {
  const { refusals } = troublesOf(report);
  if (refusals.length === 0) return undefined;
  const body = markup`<p>A refusal is a result: the evidence for an answer was not there, or could not be had.</p>
${refusals.map((group) => troubleGroup(group, report))}`;
  return { id: "refusals", title: "What was refused, and why", body };
}

function troubleGroup(group: FailureGroupRow, report: Report): Html {
  const { state, error_code: code, jobs, examples } = group;
  const { meaning, remedy } = explainCode(code);
  const more = jobs - examples.length;
  const rows = examples.map(
    ({ custom_id: id, path, error_message: message }) =>
      markup`<tr><td>${id}</td><td>${path === null || path === id ? "" : markup`<code>${path}</code> `}${message}</td></tr>`,
  );
  return markup`<div class="${state}"><h3><span class="code">${code}</span> · ${countOf(jobs, "job")} ${state}</h3>
<p>${meaning}</p>
<p class="remedy">${remedy}</p>
<div class="scroll"><table><thead><tr><th scope="col">Job</th><th scope="col">What happened</th></tr></thead><tbody>${rows}</tbody></table></div>
${more > 0 ? markup`<p class="more">… and ${formatCount(more)} more: <code>${troubleSql(group, report)}</code></p>` : ""}</div>
`;
}

/** What differs from the earlier batch: what broke first. */
function changesSection({ changes }: Report): Section | undefined {
  if (changes === undefined) return undefined;
  const { since, rows } = changes;
  const same = rows.find(({ change }) => change === "same")?.jobs ?? 0;
  const groups = Object.entries(CHANGE_TITLES).flatMap(([change, title]) => {
    const row = rows.find((candidate) => candidate.change === change);
    return row === undefined ? [] : [changeGroup(row, title)];
  });
  const body = markup`<p>Compared with <strong>${since.name}</strong> of ${formatTime(since.created_at)}: ${countOf(same, "job")} came out the same${groups.length === 0 ? ", and nothing else did otherwise" : ""}.</p>
${groups}`;
  return { id: "changes", title: "What changed", body };
}

function changeGroup({ jobs, examples }: ChangeRow, title: string): Html {
  const more = jobs - examples.length;
  const rows = examples.map(
    ({ custom_id: id, kind, code_before: before, code_now: now }) =>
      markup`<tr><td>${id}</td><td>${kind}</td><td>${before ?? ""}</td><td>${now ?? ""}</td></tr>`,
  );
  return markup`<h3>${title}: ${formatCount(jobs)}</h3>
<div class="scroll"><table><thead><tr><th scope="col">Job</th><th scope="col">Kind</th><th scope="col">Code before</th><th scope="col">Code now</th></tr></thead>
<tbody>${rows}</tbody></table></div>
${more > 0 ? markup`<p class="more">… and ${formatCount(more)} more.</p>` : ""}`;
}

/** Tokens and time by model and by kind; every attempt counts. */
function costsSection({ costs, kinds }: Report): Section | undefined {
  if (costs.length === 0) return undefined;
  const body = markup`${costTable("By model", modelTotals(costs), costs)}
${costTable("By kind of job", kindTotals(costs, kinds), costs)}`;
  return { id: "costs", title: "Time and tokens", body };
}

function costTable(caption: string, totals: readonly CostTotal[], costs: readonly CostRow[]): Html {
  const head = ["", "Runs", "Tokens read", "Tokens written", "In the model", "In all"];
  const titles = head.map((title, index) =>
    index === 0
      ? markup`<th scope="col">${title}</th>`
      : markup`<th scope="col" class="n">${title}</th>`,
  );
  const all = addUp("All", costs);
  return markup`<h3>${caption}</h3>
<div class="scroll"><table><thead><tr>${titles}</tr></thead>
<tbody>${[...totals, ...(totals.length > 1 ? [all] : [])].map(costRow)}</tbody></table></div>`;
}

function costRow({ name, runs, promptTokens, completionTokens, modelMs, runMs }: CostTotal): Html {
  const cells = [
    formatCount(runs),
    formatCount(promptTokens),
    formatCount(completionTokens),
    formatDuration(modelMs),
    formatDuration(runMs),
  ];
  return markup`<tr><th scope="row">${name}</th>${cells.map((cell) => markup`<td class="n">${cell}</td>`)}</tr>`;
}

/** The jobs whose last run took longest. */
function slowestSection({ slowest }: Report): Section | undefined {
  if (slowest.length === 0) return undefined;
  const body = markup`<div class="scroll"><table><thead><tr><th scope="col">Job</th><th scope="col">Kind</th><th scope="col">Model</th><th scope="col">Came to</th><th scope="col" class="n">Took</th><th scope="col" class="n">In the model</th><th scope="col" class="n">Tokens</th></tr></thead>
<tbody>${slowest.map(slowRow)}</tbody></table></div>`;
  return { id: "slowest", title: "The slowest", body };
}

const slowRow = (row: SlowRow): Html =>
  markup`<tr><td>${row.custom_id}</td><td>${row.kind}</td><td>${row.model ?? ""}</td><td>${row.state}</td><td class="n">${formatDuration(row.run_ms)}</td><td class="n">${formatDuration(row.model_ms)}</td><td class="n">${formatCount(row.tokens)}</td></tr>`;

/** When and why the batch stood still. */
function holdsSection(report: Report): Section | undefined {
  if (report.holds.length === 0) return undefined;
  const { sentence, rows, leftOut } = holdsOf(report);
  const titles = HOLD_TITLES.map((title) => markup`<th scope="col">${title}</th>`);
  const body = markup`<p>${sentence}</p>
<div class="scroll"><table class="times"><thead><tr>${titles}</tr></thead>
<tbody>${rows.map(holdRow)}</tbody></table></div>
${leftOut > 0 ? markup`<p class="more">… and ${formatCount(leftOut)} shorter: <code>${holdsSql(report)}</code></p>` : ""}`;
  return { id: "holds", title: "When it stood still, and why", body };
}

const holdRow = ([from, to, held, why]: HoldRow): Html =>
  markup`<tr><td>${from}</td><td>${to}</td><td>${held}</td><td class="why">${why}</td></tr>`;
