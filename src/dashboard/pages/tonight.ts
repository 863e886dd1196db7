import type { Config } from "../../shared/config/schema.ts";
import { formatTask } from "../../shared/job/kinds.ts";
import { remedyOf } from "../../shared/views/batch-words.ts";
import { listBatches } from "../../shared/views/batches.ts";
import type { BatchProgress } from "../../shared/views/batches.ts";
import {
  NO_WORKER,
  selectSingleJobs,
  selectBudgets,
  selectQueue,
  selectWorkState,
  selectWorkers,
  selectPace,
} from "../../shared/views/desk.ts";
import type { BatchPace, BudgetRow, QueueRow, WorkerRow } from "../../shared/views/desk.ts";
import { countHtml, htmlTable, stateHtml } from "../../shared/views/draw-sections.ts";
import {
  limitsText,
  selectHostOverview,
  spentText,
  unansweredText,
} from "../../shared/views/hosts.ts";
import type { HostOverview } from "../../shared/views/hosts.ts";
import { markup } from "../../shared/views/html-markup.ts";
import type { Html } from "../../shared/views/html-markup.ts";
import type { NightScope } from "../../shared/views/night.ts";
import { countOf, formatCount, formatDuration, formatMoney } from "../../shared/views/quantity.ts";
import { NAME, RIGHT, WORDS } from "../../shared/views/section.ts";
import { page } from "../site.ts";
import type { Answer, Site, Route } from "../site.ts";
import { batchStateHtml, countsHtml } from "../draw.ts";
import { nightHtml } from "../nights.ts";
import { headHtml } from "../layout.ts";
import type { PageContent } from "../layout.ts";
import { link, pathTo } from "../links.ts";
import { batchTable } from "./batches.ts";
import {
  singleJobsHtml,
  lastNight,
  lastNightHtml,
  shownOf,
  waitsHtml,
  wasLastNight,
} from "./morning.ts";

const SHOWN_BATCHES = 30;
const SHOWN_ASKED = 100;
const WORKED_ON = new Set(["queued", "running", "held", "loading"]);

/** The first page: the results of the last night, or the current work if there is any; then workers, hosts, and problems. */
export const TONIGHT: readonly Route[] = [
  {
    path: "/",
    answer: async (site: Site): Promise<Answer> => page(await firstPage(site)),
  },
];

const HOUR_MS = 3_600_000;
/** The longest span of the chart, and its span without an open batch. */
const LONGEST_MS = 24 * HOUR_MS;
const QUIET_MS = 12 * HOUR_MS;

/** The span of the chart, from the first open batch on. */
function tonightScope(open: readonly BatchProgress[]): NightScope {
  const to = new Date();
  const first = Math.min(...open.map(({ createdAt }) => createdAt.getTime()));
  const from =
    open.length === 0
      ? to.getTime() - QUIET_MS
      : Math.max(first - HOUR_MS / 60, to.getTime() - LONGEST_MS);
  return { from: new Date(from), to };
}

async function firstPage(site: Site): Promise<PageContent> {
  const { database, draw, nights, zone } = site;
  const newest = await listBatches(database, ["file", "schedule"], SHOWN_BATCHES);
  const worked = await listBatches(database, ["file", "schedule"], SHOWN_BATCHES, "open");
  const { waiting, values, is_working: isWorking } = await selectWorkState(database);
  const singleJobs = await selectSingleJobs(database, SHOWN_ASKED);
  const pace = await selectPace(database);
  const workers = await selectWorkers(database);
  const hosts = await selectHostOverview(database, "all");
  const queue = await selectQueue(database);
  const budgets = await selectBudgets(database);
  const known = new Set(newest.map(({ batchId }) => batchId));
  const open = [
    ...newest.filter(({ state }) => WORKED_ON.has(state)),
    ...worked.filter(({ batchId }) => !known.has(batchId)),
  ];
  const ended = newest.filter(({ state }) => !WORKED_ON.has(state));
  const last = lastNight(ended);
  const shown = shownOf(last);
  const earlier = ended.filter((batch) => !shown.includes(batch));
  const night = await nights.get("tonight", tonightScope(open));
  const title = isWorking ? "Tonight" : "Morning";
  const past = await lastNightHtml(site, shown);
  const now = markup`<section aria-labelledby="at-work"><h2 id="at-work">At work</h2>
${open.length === 0 ? markup`<p class="note">No batch is open.</p>` : open.map((batch) => openBatchHtml(batch, { pace, budgets, site }))}
</section>
${nightHtml(night, zone)}`;
  const waits = waitsHtml({ waiting, values }, open);
  const body = markup`${headHtml(title, leadOf(open, last, workers))}
${open.length === 0 ? "" : obstaclesHtml(workers, hosts)}
${isWorking ? markup`${waits}${now}${past}` : markup`${past}${waits}${open.length === 0 ? "" : now}`}
${singleJobsHtml(singleJobs, site, "today")}
<section aria-labelledby="happening"><h2 id="happening">As it happens</h2>
<ol id="activity" class="activity" data-keep aria-live="off"></ol>
</section>
<section aria-labelledby="rates"><h2 id="rates">Rates</h2><div class="tiles">${tiles(pace, queue, draw)}</div></section>
<section aria-labelledby="workers"><h2 id="workers">Workers</h2>${workers.length === 0 ? markup`<p class="note">${noWorkerText(site.config)}</p>` : workers.map((worker) => workerHtml(worker, draw))}</section>
<section aria-labelledby="hosts"><h2 id="hosts">Model hosts</h2>${hostTable(hosts, draw)}</section>
${earlier.length === 0 ? "" : markup`<section aria-labelledby="ended"><h2 id="ended">Ended before</h2>${batchTable(earlier, site)}</section>`}`;
  return { title, menu: "/", body, updates: "live" };
}

/** One sentence on open work, and one on the results of the last night. */
function leadOf(
  open: readonly BatchProgress[],
  last: readonly BatchProgress[],
  workers: readonly WorkerRow[],
): string {
  const sum = (batches: readonly BatchProgress[], of: (batch: BatchProgress) => number): number =>
    batches.reduce((all, batch) => all + of(batch), 0);
  const left = sum(open, ({ counts }) => counts.queued + counts.running + counts.parked);
  const alive = workers.filter((worker) => worker.is_alive).length;
  const past =
    last.length === 0
      ? ""
      : ` ${wasLastNight(last) ? "Last night" : "In the last night with work"} ${formatCount(sum(last, ({ counts }) => counts.succeeded))} of ${countOf(
          sum(last, ({ total }) => total),
          "job",
        )} succeeded.`;
  if (open.length === 0) return `Nothing is queued.${past}`;
  return `${countOf(left, "job")} to do in ${countOf(open.length, "batch").replace(/batchs$/, "batches")}, ${alive === 0 ? "and no worker is alive" : `${countOf(alive, "worker")} at work`}.${past}`;
}

/** The embedded database starts a worker while there is work. */
const noWorkerText = ({ database }: Config): string =>
  database.url === "embedded"
    ? "None runs. The next job starts one."
    : "None runs. Start one: nightdesk worker.";

/** Problems that can stop the night, at the top of the page. */
function obstaclesHtml(workers: readonly WorkerRow[], hosts: readonly HostOverview[]): Html {
  const found = [
    ...(workers.some((worker) => worker.is_alive) ? [] : [NO_WORKER]),
    ...hosts
      .filter(({ state }) => state === "open")
      .map(
        ({ name, host, errorMessage: why }) =>
          `${name ?? host} is down: ${why ?? "no reason is known"}`,
      ),
    ...hosts.map(unansweredText).filter((text) => text !== null),
  ];
  return markup`${found.map((text) => markup`<p class="failure" role="status">${text}</p>`)}`;
}

function tiles(pace: readonly BatchPace[], queue: QueueRow, draw: Site["draw"]): readonly Html[] {
  const seconds = Math.max(1, ...pace.map((row) => row.seconds));
  const sum = (of: (row: BatchPace) => number): number =>
    pace.reduce((all, row) => all + of(row), 0);
  const perMinute = (value: number): string | Html => {
    const rate = (value / seconds) * 60;
    return rate >= 10 || rate === 0 ? countHtml(rate) : rate.toFixed(1);
  };
  const tile = (value: string | Html, name: string): Html =>
    markup`<div class="tile"><strong>${value}</strong><span>${name}</span></div>`;
  return [
    tile(perMinute(sum((row) => row.jobs)), "jobs a minute"),
    tile(perMinute(sum((row) => row.prompt_tokens)), "prompt tokens a minute"),
    tile(perMinute(sum((row) => row.completion_tokens)), "reply tokens a minute"),
    tile(countHtml(queue.dispatched), "in the queue"),
    queue.oldest_at === null
      ? tile("–", "oldest job that waits")
      : tile(
          draw.time(queue.oldest_at),
          `oldest job that waits${queue.oldest_batch === null ? "" : `, of ${queue.oldest_batch}`}`,
        ),
  ];
}

type BatchContext = {
  readonly pace: readonly BatchPace[];
  readonly budgets: readonly BudgetRow[];
  readonly site: Site;
};

function openBatchHtml(batch: BatchProgress, { pace, budgets, site }: BatchContext): Html {
  const mine = pace.find((row) => row.batch_id === batch.batchId);
  const remedy = remedyOf(batch);
  return markup`<article class="batch">
<h3>${link(pathTo("batches", batch.batchId), batch.name)} ${batchStateHtml(batch, site.zone)}</h3>
${countsHtml(batch)}
<p class="note">${batch.state === "running" ? `${estimateText(batch, mine)}. ` : ""}${windowText(batch)}${budgetText(batch, budgets)}Queued <span>${site.draw.time(batch.createdAt)}</span>.</p>
${remedy === undefined ? "" : markup`<p class="remedy">${remedy}</p>`}
</article>
`;
}

function estimateText({ counts }: BatchProgress, pace: BatchPace | undefined): string {
  if (pace === undefined || pace.jobs < 2) return "No estimate yet";
  const left = counts.queued + counts.running + counts.parked;
  const tokens = pace.prompt_tokens + pace.completion_tokens;
  const rate = `${((pace.jobs / pace.seconds) * 60).toFixed(1)} jobs and ${formatCount((tokens / pace.seconds) * 60)} tokens a minute`;
  return `About ${formatDuration((left / pace.jobs) * pace.seconds * 1_000)} to go at ${rate}`;
}

function windowText({ windows, deskWindows }: BatchProgress): string {
  const inForce = windows ?? deskWindows;
  return inForce.length === 0 ? "" : `Runs ${inForce.join(", ")}. `;
}

function budgetText({ batchId }: BatchProgress, budgets: readonly BudgetRow[]): string {
  const parts = budgets
    .filter((budget) => budget.scope === "night" || budget.batch_id === batchId)
    .flatMap((budget) => {
      const of = budget.scope === "night" ? "of the night" : "of its budget";
      const used = (name: string, value: number, limit: number | null): readonly string[] =>
        limit === null ? [] : [`${formatCount(value)} of ${formatCount(limit)} ${name} ${of}`];
      return [
        ...used("tokens", budget.tokens_used, budget.tokens_limit),
        ...used("calls", budget.calls_used, budget.calls_limit),
        ...used("seconds", budget.seconds_used, budget.seconds_limit),
        ...(budget.money_limit === null
          ? []
          : [
              `${formatMoney(budget.money_used)} of ${formatMoney(budget.money_limit)} of money ${of}`,
            ]),
      ];
    });
  return parts.length === 0 ? "" : `Used: ${parts.join(", ")}. `;
}

function workerHtml(worker: WorkerRow, draw: Site["draw"]): Html {
  const state = worker.is_alive ? stateHtml("running", "alive") : stateHtml("failed", "gone");
  const rows = worker.held.map(
    (job) =>
      markup`<li>${job.kind} ${link(pathTo("runs", job.job_id), job.input === null ? job.custom_id : formatTask(job.kind, job.input))}${job.batch === null ? "" : ` of ${job.batch}`}, since ${draw.time(job.started_at, "seconds")}${progressText(job.progress)}</li>`,
  );
  return markup`<div class="inner"><h3>${worker.host}, process ${worker.pid} ${state}</h3>
<p class="note">Version ${worker.version}; ${worker.held.length} of ${worker.concurrency} places taken; ${worker.is_alive ? "since" : "last heard of"} ${draw.time(worker.is_alive ? worker.started_at : worker.heartbeat_at)}.</p>
${rows.length === 0 ? "" : markup`<ul class="items">${rows}</ul>`}</div>`;
}

const progressText = (progress: WorkerRow["held"][number]["progress"]): string =>
  progress === null
    ? ""
    : `: ${Object.entries(progress)
        .map(([name, value]) => `${name} ${String(value)}`)
        .join(", ")}`;

function hostTable(hosts: readonly HostOverview[], draw: Site["draw"]): Html {
  if (hosts.length === 0) return markup`<p class="note">No model host was called yet.</p>`;
  return htmlTable(hosts, [
    [
      "host",
      ({ name, host }) =>
        name === null ? host : markup`${name}<br><span class="note">${host}</span>`,
      NAME,
    ],
    ["state", hostState],
    ["in use", ({ inUse, capacity }) => `${inUse} of ${capacity}`, RIGHT],
    ["waiting", ({ waiting }) => countHtml(waiting), RIGHT],
    ["limits", (host) => limitsText(host) ?? "none"],
    ["cost tonight", ({ night }) => spentText(night) ?? "nothing"],
    ["what it said", (host) => hostWords(host, draw), WORDS],
  ]);
}

function hostWords(host: HostOverview, draw: Site["draw"]): Html {
  const { state, errorMessage, nextTryAt, nextCallAt } = host;
  const isDown = state === "open";
  return markup`${isDown ? (errorMessage ?? "") : ""}${nextTryAt === null ? "" : markup` Asked again ${draw.time(nextTryAt, "seconds")}.`}${nextCallAt === null || isDown ? "" : markup` Next call ${draw.time(nextCallAt, "seconds")}.`}`;
}

function hostState({ state, nextCallAt }: HostOverview): Html {
  if (state === "open") return stateHtml("failed", "down");
  return nextCallAt === null ? stateHtml("succeeded", "answers") : stateHtml("paced");
}
