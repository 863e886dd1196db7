import { formatTask } from "../../shared/job/kinds.ts";
import { formatAfterLines } from "../../shared/job/locator.ts";
import { readingFirst, reasonText, shareText } from "../../shared/views/claims.ts";
import { hasPages, shownClaims } from "../../shared/views/carried-words.ts";
import { foldHashes, stateHtml } from "../../shared/views/draw-sections.ts";
import { markup } from "../../shared/views/html-markup.ts";
import type { Html } from "../../shared/views/html-markup.ts";
import { selectOpenJob } from "../../shared/views/open-job.ts";
import { countOf, formatCount, formatDuration } from "../../shared/views/quantity.ts";
import { explainCode } from "../../shared/views/remedies.ts";
import { CONTEXT_LINES, linesOf, selectPassages } from "../../shared/views/result-list.ts";
import type { IndexedLine } from "../../shared/views/result-list.ts";
import { runPage } from "../../shared/views/run-page.ts";
import { selectRunDetails } from "../../shared/views/runs.ts";
import type { RunDetail } from "../../shared/views/runs.ts";
import { classOf } from "../../shared/views/section-style.ts";
import type { Section } from "../../shared/views/section.ts";
import { page } from "../site.ts";
import type { Answer, Site, SiteRequest, Route } from "../site.ts";
import { linesText } from "../draw.ts";
import { notFound } from "../failures.ts";
import { assertId } from "../path-ids.ts";
import { link, pathTo, webLink } from "../links.ts";
import { outcomeHtml } from "../action-outcome.ts";
import type { Session } from "../sessions.ts";
import { carriedHtml, followUpHtml, stepsHtml } from "./ask.ts";
import { placeLink, placePath } from "./place.ts";
import { fieldsHtml, takeField } from "./run-fields.ts";

/** A run, or the last run of a job: its question, then its answer with the supporting words, then its record. */
export const RUN: readonly Route[] = [
  {
    path: "/runs/:run",
    answer: async (site: Site, { part, query, session }: SiteRequest): Promise<Answer> => {
      const id = assertId(part("run"), "run or job");
      const { database } = site;
      const open = await selectOpenJob(database, id);
      const runs = await selectRunDetails(database, id);
      const run = runs.at(-1);
      const job = run ?? open;
      if (job === undefined) return notStarted(id);
      const carried = markup`${await carriedHtml({ database, session }, job.input)}${await outcomeHtml(database, query)}`;
      const about = {
        session,
        above: open === undefined ? carried : markup`${carried}${stepsHtml(open)}`,
        below: run === undefined ? markup`` : await followUpHtml({ database, session }, run),
        others: runs.slice(0, -1),
        extent: query.get("show") === "all" ? "full" : "brief",
      } as const;
      const body = markup`<div data-batch="${job.batch_id}">
<p class="note">${link(pathTo("batches", job.batch_id), job.batch)} · ${job.custom_id}</p>
<h1 class="question" dir="auto">${formatTask(job.kind, job.input)}</h1>
${run === undefined ? about.above : await runBody(site, run, about)}
</div>`;
      const updates = open === undefined ? "still" : "awaited";
      return page({ title: titleOf(job), menu: "/batches", body, updates });
    },
  },
  { method: "post", path: "/runs/:run/fields/:ordinal", answer: takeField },
];

function notStarted(id: string): never {
  throw notFound(`Job or run ${id} has no record: it has not run yet, or was deleted for its age.`);
}

const titleOf = ({ kind, input }: Pick<RunDetail, "kind" | "input">): string =>
  formatTask(kind, input).slice(0, MOST_TITLE);
const MOST_TITLE = 120;

type PageParts = {
  readonly session: Session;
  /** Shown between the state of the run and its answer. */
  readonly above: Html;
  readonly below: Html;
  readonly others: readonly RunDetail[];
  readonly extent: "brief" | "full";
};

async function runBody(site: Site, run: RunDetail, shown: PageParts): Promise<Html> {
  const { draw } = site;
  const { others, extent } = shown;
  const details = runPage(run, extent);
  return markup`<p class="lead">${stateHtml(run.state)}${run.grade === null ? "" : markup` ${stateHtml(run.grade)}`} ${endHtml(run, draw)}</p>
${shown.above}
${refusalHtml(run)}
${answerHtml(run)}
${run.kind === "extract" ? fieldsHtml(run, shown.session) : await claimsHtml(site, run)}
${shown.below}
${sectionsOf(details.sections).map((section) => foldedSection(section, draw))}
<details id="record"><summary>Record of the run</summary>${draw.facts(details.facts)}</details>
${others.length === 0 ? "" : markup`<p class="note">Earlier attempts: ${others.map((other) => markup`${link(pathTo("runs", other.run_id), other.state)} `)}</p>`}
${extent === "full" ? "" : markup`<p>${link(`${pathTo("runs", run.run_id)}?show=all`, "Show all of it, with prompts and replies")}</p>`}`;
}

function endHtml(run: RunDetail, draw: Site["draw"]): Html {
  if (run.finished_at === null) return markup``;
  const time = run.run_ms === null ? "" : ` after ${formatDuration(run.run_ms)}`;
  const by = run.model === null ? "" : ` by ${run.model}`;
  return markup`${draw.time(run.finished_at)}${time}, ${formatCount(run.prompt_tokens)} tokens of prompts and ${formatCount(run.completion_tokens)} of replies${by}`;
}

function refusalHtml({ error_code: code, error_message: message, model }: RunDetail): Html {
  if (code === null) return markup``;
  const { meaning, remedy } = explainCode(code, model);
  return markup`<section aria-labelledby="why"><h2 id="why">Why there is no answer</h2>
<p><code>${code}</code> ${message ?? meaning}</p><p class="remedy">${remedy}</p></section>`;
}

function answerHtml({ answer, summary, kind }: RunDetail): Html {
  if (answer !== null)
    return markup`<section aria-labelledby="answer"><h2 id="answer">Answer</h2><div class="words" dir="auto">${foldHashes(answer)}</div></section>`;
  if (summary === null || kind !== "extract") return markup``;
  return markup`<section aria-labelledby="answer"><h2 id="answer">Fields</h2><pre tabindex="0">${JSON.stringify(summary, null, 2)}</pre></section>`;
}

/** Sections that this page shows elsewhere. */
const ELSEWHERE = new Set(["asked", "answer", "error", "claims", "summary"]);
const sectionsOf = (sections: readonly Section[]): readonly Section[] =>
  sections.filter(({ id }) => !ELSEWHERE.has(id));

const foldedSection = ({ id, title, blocks }: Section, draw: Site["draw"]): Html =>
  markup`<details id="${id}"><summary><strong>${title}</strong></summary>${blocks.map(draw.block)}</details>
`;

const MOST_CLAIMS = 60;

/** Each statement beside the lines that support it, with the lines around them. */
async function claimsHtml(site: Site, run: RunDetail): Promise<Html> {
  const shown = shownClaims(run);
  if (shown.length === 0) return markup``;
  const rows: Html[] = [];
  const numbered = shown.map((claim, at) => ({ ...claim, ordinal: at + 1 }));
  for (const claim of readingFirst(numbered).slice(0, MOST_CLAIMS)) {
    rows.push(await claimHtml(site, run, claim));
  }
  const left = shown.length - rows.length;
  const share = shareText(run.claims.filter(({ stands }) => stands).map(({ grade }) => grade));
  return markup`<section aria-labelledby="claims"><h2 id="claims">Statements, and what carries them</h2>
<p class="note">${share}</p>
${rows}${left > 0 ? markup`<p class="note">${countOf(left, "statement")} more: nightdesk runs show.</p>` : ""}</section>`;
}

type Claim = RunDetail["claims"][number] & {
  /** From 1, in the order of the page. */
  readonly ordinal: number;
};

async function claimHtml(site: Site, run: RunDetail, claim: Claim): Promise<Html> {
  return markup`<div class="side ${classOf(claim.grade)}"><div class="claim"><p dir="auto">${claim.text}</p>
<p class="note">${stateHtml(claim.grade)}${claim.stands ? "" : `, ${claim.fate === "dropped" ? "left out" : claim.fate}`}: ${reasonText(claim)}</p></div>
<div class="passage">${await passageHtml(site, run, claim)}${placeLink(run, claim)}${placesHtml(run, claim)}</div></div>
`;
}

/** The other cited pieces that say the same. */
function placesHtml({ run_id: run }: RunDetail, { ordinal, other_places: others }: Claim): Html {
  if (others.length === 0) return markup``;
  const items = others.map(({ number, path, line_start: first, line_end: last, locator }, at) => {
    const to = hasPages(path)
      ? link(`${placePath(run, ordinal, at + 1)}#place-mark`, "Show on its page")
      : markup``;
    return markup`<li>[${number}] ${webLink(path)}, ${linesText(first, last)}${formatAfterLines(locator)} ${to}</li>`;
  });
  return markup`<p class="note">It stands there as well:</p><ul>${items}</ul>`;
}

async function passageHtml({ database }: Site, run: RunDetail, claim: Claim): Promise<Html> {
  const { path, line_start: first, line_end: last, carrier } = claim;
  if (path === null || first === null || last === null) {
    return markup`<p class="note">No place carries it.</p>`;
  }
  const source = run.evidence.find((piece) => piece.path === path && piece.admitted);
  const passages =
    source === undefined
      ? []
      : await selectPassages(database, {
          ...{ path, sha256: source.sha256, extractor: source.extractor },
          ...{ lineStart: first, lineEnd: last },
        });
  const lines = linesOf(passages, first - CONTEXT_LINES, last + CONTEXT_LINES);
  const words =
    lines.length === 0
      ? markup`<blockquote dir="auto">${carrier ?? source?.preview ?? ""}</blockquote>
<p class="note">The file is not in the index as it was read: what stands around it can't be shown.</p>`
      : markup`<ol class="lines">${lines.map((line) => lineHtml(line, first, last))}</ol>`;
  return markup`<p class="note">${webLink(path)}, ${linesText(first, last)}</p>${words}`;
}

const lineHtml = ({ number, text }: IndexedLine, first: number, last: number): Html =>
  markup`<li class="${number >= first && number <= last ? "carries" : "around"}"><span class="no">${number}</span><span dir="auto">${text === "" ? " " : text}</span></li>`;
