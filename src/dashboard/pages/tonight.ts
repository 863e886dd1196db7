import { formatState, remedyOf } from "../../shared/views/batch-words.ts";
import { listBatches } from "../../shared/views/batches.ts";
import type { BatchProgress } from "../../shared/views/batches.ts";
import {
  selectDeskBudgets,
  selectDeskQueue,
  selectDeskWorkers,
  selectPace,
} from "../../shared/views/desk.ts";
import type { BatchPace, DeskBudget, DeskQueue, DeskWorker } from "../../shared/views/desk.ts";
import { scrolling } from "../../shared/views/draw-sections.ts";
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
import { page } from "../desk.ts";
import type { Answer, Desk, Route } from "../desk.ts";
import { barHtml, classOf, stateHtml } from "../draw.ts";
import { nightHtml } from "../nights.ts";
import { headHtml } from "../layout.ts";
import { link, pathTo } from "../links.ts";

const SHOWN_BATCHES = 30;
const WORKED_ON = new Set(["queued", "running", "held", "loading"]);

/** What goes on: batches, workers, hosts, and what keeps them. */
export const TONIGHT: readonly Route[] = [
  {
    method: "get",
    path: "/",
    answer: async (desk: Desk): Promise<Answer> =>
      page({ title: "Tonight", menu: "/", body: await tonight(desk), updates: "live" }),
  },
];

const HOUR_MS = 3_600_000;
/** What the picture shows at most, and where nothing is open. */
const LONGEST_MS = 24 * HOUR_MS;
const QUIET_MS = 12 * HOUR_MS;

/** From the first open batch on. */
function tonightScope(open: readonly BatchProgress[]): NightScope {
  const to = new Date();
  const first = Math.min(...open.map(({ createdAt }) => createdAt.getTime()));
  const from =
    open.length === 0
      ? to.getTime() - QUIET_MS
      : Math.max(first - HOUR_MS / 60, to.getTime() - LONGEST_MS);
  return { from: new Date(from), to };
}

async function tonight({ database, draw, nights, zone }: Desk): Promise<Html> {
  const batches = await listBatches(database, ["file", "ad_hoc", "schedule"], SHOWN_BATCHES);
  const pace = await selectPace(database);
  const workers = await selectDeskWorkers(database);
  const hosts = await selectHostOverview(database, "all");
  const queue = await selectDeskQueue(database);
  const budgets = await selectDeskBudgets(database);
  const open = batches.filter(({ state }) => WORKED_ON.has(state));
  const ended = batches.filter(({ state }) => !WORKED_ON.has(state));
  const night = await nights.get("tonight", tonightScope(open));
  return markup`${headHtml("Tonight", leadOf(open, workers))}
${obstacles(workers, hosts)}
<div class="tiles">${tiles(pace, queue, draw)}</div>
<section aria-labelledby="at-work"><h2 id="at-work">At work</h2>
${open.length === 0 ? markup`<p class="note">No batch is open.</p>` : open.map((batch) => openBatch(batch, { pace, budgets, draw }))}
</section>
${nightHtml(night, zone)}
<section aria-labelledby="happening"><h2 id="happening">As it happens</h2>
<ol id="activity" class="activity" data-keep aria-live="off"></ol>
</section>
<section aria-labelledby="workers"><h2 id="workers">Workers</h2>${workers.length === 0 ? markup`<p class="note">No worker was heard of within the last day.</p>` : workers.map((worker) => workerHtml(worker, draw))}</section>
<section aria-labelledby="hosts"><h2 id="hosts">Model hosts</h2>${hostTable(hosts, draw)}</section>
<section aria-labelledby="ended"><h2 id="ended">Ended lately</h2>${endedTable(ended, draw)}</section>`;
}

function leadOf(open: readonly BatchProgress[], workers: readonly DeskWorker[]): string {
  const left = open.reduce(
    (sum, { counts }) => sum + counts.queued + counts.running + counts.parked,
    0,
  );
  const alive = workers.filter((worker) => worker.is_alive).length;
  if (open.length === 0) return "Nothing is queued.";
  return `${countOf(left, "job")} to do in ${countOf(open.length, "batch").replace(/batchs$/, "batches")}, ${alive === 0 ? "and no worker is alive" : `${countOf(alive, "worker")} at work`}.`;
}

/** Whoever can stop the night is named where a person looks. */
function obstacles(workers: readonly DeskWorker[], hosts: readonly HostOverview[]): Html {
  const found = [
    ...(workers.some((worker) => worker.is_alive)
      ? []
      : ["No worker is alive. Start one: nightdesk worker, or nightdesk up."]),
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

function tiles(pace: readonly BatchPace[], queue: DeskQueue, draw: Desk["draw"]): readonly Html[] {
  const seconds = Math.max(1, ...pace.map((row) => row.seconds));
  const sum = (of: (row: BatchPace) => number): number =>
    pace.reduce((all, row) => all + of(row), 0);
  const perMinute = (value: number): string => {
    const rate = (value / seconds) * 60;
    return rate >= 10 || rate === 0 ? formatCount(rate) : rate.toFixed(1);
  };
  const tile = (value: string | Html, name: string): Html =>
    markup`<div class="tile"><strong>${value}</strong><span>${name}</span></div>`;
  return [
    tile(perMinute(sum((row) => row.jobs)), "jobs a minute"),
    tile(perMinute(sum((row) => row.prompt_tokens)), "prompt tokens a minute"),
    tile(perMinute(sum((row) => row.completion_tokens)), "reply tokens a minute"),
    tile(formatCount(queue.dispatched), "in the queue"),
    queue.oldest_at === null
      ? tile("–", "oldest job that waits")
      : tile(draw.time(queue.oldest_at), `oldest job that waits, of ${queue.oldest_batch ?? ""}`),
  ];
}

type Around = {
  readonly pace: readonly BatchPace[];
  readonly budgets: readonly DeskBudget[];
  readonly draw: Desk["draw"];
};

function openBatch(batch: BatchProgress, { pace, budgets, draw }: Around): Html {
  const mine = pace.find((row) => row.batch_id === batch.batchId);
  const remedy = remedyOf(batch);
  const states = Object.entries(batch.counts).map(([name, jobs]) => ({ name, jobs }));
  const numbers = states.filter(({ jobs }) => jobs > 0);
  return markup`<article class="batch">
<h3>${link(pathTo("batches", batch.batchId), batch.name)} ${stateHtml(batch.state, formatState(batch))}</h3>
${barHtml(states)}
<p class="counts">${numbers.map(({ name, jobs }) => markup`<span class="${classOf(name)}">${formatCount(jobs)} ${name}</span> `)}<span>of ${formatCount(batch.total)}</span></p>
<p class="note">${batch.state === "running" ? `${estimate(batch, mine)}. ` : ""}${windowText(batch)}${budgetText(batch, budgets)}Queued <span>${draw.time(batch.createdAt)}</span>.</p>
${remedy === undefined ? "" : markup`<p class="remedy">${remedy}</p>`}
</article>
`;
}

function estimate({ counts }: BatchProgress, pace: BatchPace | undefined): string {
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

function budgetText({ batchId }: BatchProgress, budgets: readonly DeskBudget[]): string {
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

function workerHtml(worker: DeskWorker, draw: Desk["draw"]): Html {
  const state = worker.is_alive ? stateHtml("running", "alive") : stateHtml("failed", "gone");
  const rows = worker.held.map(
    (job) =>
      markup`<li>${job.kind} ${link(pathTo("runs", job.job_id), job.custom_id)} of ${job.batch}, since ${draw.time(job.started_at, "seconds")}${progressText(job.progress)}</li>`,
  );
  return markup`<div class="inner"><h3>${worker.host}, process ${worker.pid} ${state}</h3>
<p class="note">Version ${worker.version}; ${worker.held.length} of ${worker.concurrency} places taken; ${worker.is_alive ? "since" : "last heard of"} ${draw.time(worker.is_alive ? worker.started_at : worker.heartbeat_at)}.</p>
${rows.length === 0 ? "" : markup`<ul class="items">${rows}</ul>`}</div>`;
}

const progressText = (progress: DeskWorker["held"][number]["progress"]): string =>
  progress === null
    ? ""
    : `: ${Object.entries(progress)
        .map(([name, value]) => `${name} ${String(value)}`)
        .join(", ")}`;

function hostTable(hosts: readonly HostOverview[], draw: Desk["draw"]): Html {
  if (hosts.length === 0) return markup`<p class="note">No model host was called yet.</p>`;
  const rows = hosts.map(
    (
      host,
    ) => markup`<tr><th scope="row">${host.name ?? host.host}${host.name === null ? "" : markup`<br><span class="note">${host.host}</span>`}</th>
<td>${hostState(host)}</td><td class="n" data-title="in use">${host.inUse} of ${host.capacity}</td><td class="n" data-title="waiting">${host.waiting}</td>
<td data-title="limits">${limitsText(host) ?? "none"}</td><td data-title="cost tonight">${spentText(host.night) ?? "nothing"}</td>
<td class="why">${host.state === "open" ? (host.errorMessage ?? "") : ""}${host.nextTryAt === null ? "" : markup` Asked again ${draw.time(host.nextTryAt, "seconds")}.`}${host.nextCallAt === null || host.state === "open" ? "" : markup` Next call ${draw.time(host.nextCallAt, "seconds")}.`}</td></tr>
`,
  );
  return scrolling(
    markup`<table class="times"><thead><tr><th scope="col">host</th><th scope="col">state</th><th scope="col" class="n">in use</th><th scope="col" class="n">waiting</th><th scope="col">limits</th><th scope="col">cost tonight</th><th scope="col">what it said</th></tr></thead><tbody>${rows}</tbody></table>`,
  );
}

function hostState({ state, nextCallAt }: HostOverview): Html {
  if (state === "open") return stateHtml("failed", "down");
  return nextCallAt === null ? stateHtml("succeeded", "answers") : stateHtml("waiting", "paced");
}

export function endedTable(batches: readonly BatchProgress[], draw: Desk["draw"]): Html {
  if (batches.length === 0) return markup`<p class="note">Nothing has ended yet.</p>`;
  const rows = batches.map(
    (batch) => markup`<tr><th scope="row">${link(pathTo("batches", batch.batchId), batch.name)}</th>
<td>${stateHtml(batch.state)}</td><td class="n" data-title="jobs">${formatCount(batch.total)}</td><td class="n" data-title="succeeded">${formatCount(batch.counts.succeeded)}</td><td class="n" data-title="refused">${formatCount(batch.counts.refused)}</td><td class="n" data-title="failed">${formatCount(batch.counts.failed)}</td>
<td data-title="ended">${draw.time(batch.finishedAt)}</td></tr>
`,
  );
  return scrolling(
    markup`<table class="times"><thead><tr><th scope="col">batch</th><th scope="col">state</th><th scope="col" class="n">jobs</th><th scope="col" class="n">succeeded</th><th scope="col" class="n">refused</th><th scope="col" class="n">failed</th><th scope="col">ended</th></tr></thead><tbody>${rows}</tbody></table>`,
  );
}
