import { JOB_STATES } from "../../shared/job/job.ts";
import { formatTask } from "../../shared/job/kinds.ts";
import { RUN_GRADES } from "../../shared/job/run-result.ts";
import { remedyOf } from "../../shared/views/batch-words.ts";
import { selectProblems } from "../../shared/views/batches.ts";
import type { BatchProgress, ProblemGroup } from "../../shared/views/batches.ts";
import { compareBatches, findLastAlike } from "../../shared/views/compare-batches.ts";
import { htmlTable, stateHtml } from "../../shared/views/draw-sections.ts";
import { markup } from "../../shared/views/html-markup.ts";
import type { Html } from "../../shared/views/html-markup.ts";
import { countOf, formatCount, formatDuration } from "../../shared/views/quantity.ts";
import { explainCode } from "../../shared/views/remedies.ts";
import { classOf } from "../../shared/views/section-style.ts";
import { NAME, RIGHT, WORDS } from "../../shared/views/section.ts";
import {
  NO_FILTER,
  selectFilterChoices,
  selectResultPage,
} from "../../shared/views/result-list.ts";
import type { ListedResult, ResultFilter, ResultPage } from "../../shared/views/result-list.ts";
import { page } from "../site.ts";
import type { Answer, Site, SiteRequest, Route } from "../site.ts";
import { batchStateHtml, countsHtml } from "../draw.ts";
import { batchOf } from "../path-ids.ts";
import { headHtml } from "../layout.ts";
import { nightHtml } from "../nights.ts";
import { link, pathTo, withQuery } from "../links.ts";
import { outcomeHtml } from "../action-outcome.ts";

const PAGE_ROWS = 50;

/** The page of a batch: its state, unsuccessful jobs with their remedies, and results. */
export const BATCH: readonly Route[] = [
  {
    path: "/batches/:batch",
    answer: async (site: Site, request: SiteRequest): Promise<Answer> => {
      const batch = await batchOf(site.database, request.part("batch"));
      const body = await batchBody(site, request, batch);
      return page({ title: batch.name, menu: "/batches", body, updates: "live" });
    },
  },
  {
    path: "/batches/:batch/changes",
    answer: async ({ database }: Site, { part }: SiteRequest): Promise<Answer> => {
      const batch = await batchOf(database, part("batch"));
      return page({
        title: `${batch.name}: changes`,
        menu: "/batches",
        body: await changesBody(database, batch),
      });
    },
  },
];

async function batchBody(
  { database, draw, nights, zone }: Site,
  { query }: SiteRequest,
  batch: BatchProgress,
): Promise<Html> {
  const filter = filterOf(query);
  const after = /^\d{1,18}$/.exec(query.get("after") ?? "")?.[0] ?? "0";
  const found = await selectResultPage(database, batch.batchId, filter, {
    ...{ after, limit: PAGE_ROWS },
  });
  const problems = await selectProblems(database, batch.batchId);
  const choices = await selectFilterChoices(database, batch.batchId);
  const here = pathTo("batches", batch.batchId);
  const parameters = { ...filter };
  const remedy = remedyOf(batch);
  const night = await nights.get(batch.batchId, { batchId: batch.batchId });
  return markup`<div data-batch="${batch.batchId}">${headHtml(markup`${batch.name} ${batchStateHtml(batch, zone)}`)}
${await outcomeHtml(database, query)}
${countsHtml(batch)}
<p class="note">Queued ${draw.time(batch.createdAt)}${batch.finishedAt === null ? "" : markup`, ended ${draw.time(batch.finishedAt)}`}. ${link(`${here}/changes`, "What changed since the last run of the same inputs")}${choices.kinds.includes("extract") ? markup`. ${link(`${here}/fields`, "Extracted fields as a table")}` : ""}</p>
${remedy === undefined ? "" : markup`<p class="remedy">${remedy}</p>`}
${actionsHtml(batch, problems)}
${problems.length === 0 ? "" : markup`<section aria-labelledby="problems"><h2 id="problems">What did not succeed</h2>${problemList(problems, here, "full")}</section>`}
<section aria-labelledby="results"><h2 id="results">Results</h2>
${filterForm(here, filter, choices)}
${resultTable(found, draw)}
<p class="pager">${after === "0" ? "" : link(withQuery(here, parameters), "First page")} ${found.next === null ? "" : link(withQuery(here, { ...parameters, after: found.next }), found.scanned === null ? "Next page" : "Look further")}</p>
</section>
${nightHtml(night, zone)}</div>`;
}

const choiceOf = (value: string | null, known: readonly string[]): string | null =>
  value !== null && known.includes(value) ? value : null;

function filterOf(query: URLSearchParams): ResultFilter {
  const words = (name: string): string | null => {
    const text = (query.get(name) ?? "").replaceAll("\0", "").trim().slice(0, MOST_WORDS);
    return text === "" ? null : text;
  };
  return {
    ...NO_FILTER,
    state: choiceOf(query.get("state"), JOB_STATES),
    grade: choiceOf(query.get("grade"), RUN_GRADES),
    code: words("code"),
    kind: words("kind"),
    folder: words("folder"),
    text: words("text"),
  };
}

const MOST_WORDS = 200;

type Choices = { readonly kinds: readonly string[]; readonly codes: readonly string[] };

function filterForm(here: string, filter: ResultFilter, { kinds, codes }: Choices): Html {
  const select = (name: keyof ResultFilter, of: readonly string[]): Html =>
    markup`<label>${name}<select name="${name}"><option value="">any</option>${of.map((value) => (value === filter[name] ? markup`<option selected>${value}</option>` : markup`<option>${value}</option>`))}</select></label>`;
  return markup`<form class="filters" method="get" action="${here}" role="search" aria-label="Results">
${select("state", JOB_STATES)}${select("grade", RUN_GRADES)}${select("code", codes)}${select("kind", kinds)}
<label>folder<input name="folder" value="${filter.folder ?? ""}" size="14"></label>
<label>text<input type="search" name="text" value="${filter.text ?? ""}" size="18"></label>
<button>Filter</button></form>`;
}

function resultTable({ results, scanned }: ResultPage, draw: Site["draw"]): Html {
  const partly =
    scanned === null
      ? markup``
      : markup`<p class="note" role="status">${countOf(scanned, "job")} were looked at from here, and there are more: ${results.length === 0 ? "none" : formatCount(results.length)} of these fit.</p>`;
  if (results.length === 0)
    return scanned === null ? markup`<p class="note">No result fits that.</p>` : partly;
  return markup`${partly}${htmlTable(results, [
    ["id", (result) => link(pathTo("runs", result.job_id), result.custom_id), NAME],
    [
      "state",
      ({ state, grade }) =>
        markup`${stateHtml(state)}${grade === null ? "" : markup`<br>${stateHtml(grade)}`}`,
    ],
    [
      "asked, and what came of it",
      (result) =>
        markup`<strong>${shorten(formatTask(result.kind, result.input))}</strong><br><span class="outcome">${outcomeOf(result)}</span>`,
      WORDS,
    ],
    ["took", ({ run_ms: ms }) => (ms === null ? null : formatDuration(ms)), RIGHT],
    ["ended", (result) => draw.time(result.finished_at)],
  ])}`;
}

function outcomeOf({
  error_code: code,
  error_message: message,
  answer,
  output,
}: ListedResult): Html {
  if (code !== null) return markup`<code>${code}</code> ${shorten(message ?? "")}`;
  if (answer !== null) return markup`${shorten(answer)}`;
  return output === null ? markup`` : markup`<code>${shorten(JSON.stringify(output))}</code>`;
}

const SHORT_CHARS = 220;
/** The first characters of a text, without splitting a surrogate pair. */
export const shorten = (text: string): string =>
  text.length <= SHORT_CHARS ? text : `${text.slice(0, SHORT_CHARS).toWellFormed()}…`;

/** Unsuccessful jobs by code, with the remedy. @param extent full: also the message of the first job of each */
export const problemList = (
  problems: readonly ProblemGroup[],
  here: string,
  extent: "brief" | "full",
): Html =>
  markup`<ul class="items problems">${problems.map(({ state, code, jobs, message, model }) => {
    const { meaning, remedy } = explainCode(code, model);
    return markup`<li>${link(withQuery(here, { state, code }), `${formatCount(jobs)} ${state}`)} <code class="${classOf(state)}">${code}</code> ${meaning} <strong>${remedy}</strong>${
      extent === "brief"
        ? ""
        : markup`
<p class="note">The first of them: ${shorten(message)}</p>`
    }</li>
`;
  })}</ul>`;

/** The actions that its state allows. */
function actionsHtml(batch: BatchProgress, problems: readonly ProblemGroup[]): Html {
  const here = pathTo("batches", batch.batchId);
  const isOpen = batch.finishedAt === null;
  const { failed, expired, cancelled } = batch.counts;
  const copies = problems.find(({ code }) => code === "DUPLICATE")?.jobs ?? 0;
  const offered: readonly (readonly [string, string])[] = [
    ...(isOpen && batch.pausedAt === null ? [["pause", "Pause"] as const] : []),
    ...(isOpen && batch.pausedAt !== null ? [["resume", "Resume"] as const] : []),
    ...(failed + expired + cancelled > copies ? [["retry", "Try again"] as const] : []),
    ...(isOpen ? [["cancel", "Cancel"] as const] : []),
  ];
  return markup`<p class="actions">${offered.map(([name, title]) => markup`<a class="button plain" href="${`${here}/${name}`}">${title}…</a> `)}</p>`;
}

const CHANGE_WORDS: Readonly<Record<string, string>> = {
  new: "asked for the first time",
  changed: "with another answer",
  broken: "that succeeded before, and do not now",
  fixed: "that succeed now, and did not before",
  gone: "that are not asked any more",
  same: "as before",
  open: "that have not ended",
};

async function changesBody(database: Site["database"], batch: BatchProgress): Promise<Html> {
  const here = link(pathTo("batches", batch.batchId), batch.name);
  const before = await findLastAlike(database, batch);
  if (before === undefined) {
    return markup`${headHtml("What changed", markup`Of ${here}.`)}
<p class="note">No earlier batch has the same inputs: none whose jobs it repeats, as nightdesk batch rerun makes them, and none whose name differs in its day or number alone. Any two are compared by: nightdesk batch report --compare.</p>`;
  }
  const changes = await compareBatches(
    database,
    { now: batch.batchId, before: before.batch_id },
    EXAMPLES,
  );
  const table = htmlTable(changes, [
    [
      "jobs",
      ({ jobs, change }) => `${countOf(jobs, "job")} ${CHANGE_WORDS[change] ?? change}`,
      NAME,
    ],
    [
      "some of them",
      ({ examples }) =>
        examples.map(
          (example) =>
            markup`${example.custom_id}${example.code_before === null ? "" : ` (before: ${example.code_before})`}${example.code_now === null ? "" : ` (now: ${example.code_now})`}<br>`,
        ),
      WORDS,
    ],
  ]);
  return markup`${headHtml("What changed", markup`Of ${here}, against ${link(pathTo("batches", before.batch_id), before.name)}.`)}
${table}`;
}

const EXAMPLES = 10;
