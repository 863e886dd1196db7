import { formatTask } from "../../shared/job/kinds.ts";
import { RUN_GRADES } from "../../shared/job/run-result.ts";
import type { SingleJob, WorkState } from "../../shared/views/desk.ts";
import { remedyOf } from "../../shared/views/batch-words.ts";
import { needOf, selectProblems } from "../../shared/views/batches.ts";
import type { BatchProgress } from "../../shared/views/batches.ts";
import { leftOutText, selectGrades } from "../../shared/views/claims.ts";
import type { GradeCounts } from "../../shared/views/claims.ts";
import { selectBatchWaiting } from "../../shared/views/inbox.ts";
import { valuesText } from "../../shared/views/inbox-pages.ts";
import { stateHtml } from "../../shared/views/draw-sections.ts";
import { markup } from "../../shared/views/html-markup.ts";
import type { Html } from "../../shared/views/html-markup.ts";
import { countOf, formatCount } from "../../shared/views/quantity.ts";
import { isoInZone } from "../../shared/schedules/time.ts";
import type { Site } from "../site.ts";
import { countsHtml } from "../draw.ts";
import { link, pathTo } from "../links.ts";
import { problemList } from "./batch.ts";

/** Batches that ended within this time before the last one belong to the same night. */
const NIGHT_MS = 16 * 3_600_000;
const DAY_MS = 24 * 3_600_000;
const MOST_CARDS = 6;

const endOf = ({ finishedAt }: BatchProgress): number => finishedAt?.getTime() ?? 0;

/** Whether a night ended within the last day, or never was. */
export const wasLastNight = (night: readonly BatchProgress[]): boolean =>
  night.length === 0 || night.some((batch) => endOf(batch) > Date.now() - DAY_MS);

/** Batches that ended in the last night. */
export function lastNight(ended: readonly BatchProgress[]): readonly BatchProgress[] {
  const last = Math.max(...ended.map(endOf));
  return ended.filter((batch) => endOf(batch) > last - NIGHT_MS);
}

/** Those of a night that need a person first. Batches of schedules without problems are left out. */
export const shownOf = (night: readonly BatchProgress[]): readonly BatchProgress[] =>
  night
    .filter(({ origin, counts, total }) => origin === "file" || counts.succeeded < total)
    .toSorted((one, other) => needOf(one) - needOf(other))
    .slice(0, MOST_CARDS);

/** The results of the last night, one card per batch. */
export async function lastNightHtml(
  { database, draw }: Site,
  batches: readonly BatchProgress[],
): Promise<Html> {
  const cards: Html[] = [];
  for (const batch of batches) {
    const grades = await selectGrades(database, batch.batchId);
    const problems = await selectProblems(database, batch.batchId);
    const { values, write_error: writeError } = await selectBatchWaiting(
      database,
      batch.batchId,
      0,
    );
    const here = pathTo("batches", batch.batchId);
    cards.push(markup`<article class="batch"><h3>${link(here, batch.name)} ${stateHtml(batch.state)}</h3>
<p><strong>${formatCount(batch.counts.succeeded)} of ${countOf(batch.total, "job")}</strong> succeeded, ended ${draw.time(batch.finishedAt)}. ${gradesHtml(grades)}</p>
${countsHtml(batch)}
${values === 0 ? "" : markup`<p>${link("/inbox", valuesText(values))}</p>`}${writeError === null ? "" : markup`<p class="remedy">The write-back at its end has failed: ${writeError}</p>`}
${problems.length === 0 ? "" : problemList(problems, here, "brief")}</article>
`);
  }
  return markup`<section aria-labelledby="last"><h2 id="last">${wasLastNight(batches) ? "Last night" : "The last night with work"}</h2>
${cards.length === 0 ? markup`<p class="note">No batch has ended yet. ${link("/start", "Start one")}, or ask: nightdesk ask "…".</p>` : cards}</section>`;
}

function gradesHtml(grades: GradeCounts): Html {
  const shown = RUN_GRADES.filter((grade) => grades[grade] > 0);
  const leftOut = leftOutText(grades);
  return markup`${shown.map((grade) => markup`${stateHtml(grade, `${formatCount(grades[grade])} ${grade}`)} `)}${leftOut === null ? "" : `${leftOut}.`}`;
}

/** What waits for the user: decisions in the inbox, and held batches. */
export function waitsHtml(
  { waiting, values }: Pick<WorkState, "waiting" | "values">,
  open: readonly BatchProgress[],
): Html {
  const held = open.filter(({ holdReason }) => holdReason !== null && holdReason !== "window");
  if (waiting + held.length === 0) return markup``;
  const batches = held.map(
    (batch) =>
      markup`<li>${link(pathTo("batches", batch.batchId), batch.name)} is held: ${remedyOf(batch) ?? ""}</li>`,
  );
  return markup`<section aria-labelledby="waits"><h2 id="waits">What waits for you</h2>
<ul class="items">${waiting === 0 ? "" : markup`<li>${link("/inbox", countOf(waiting, "decision"))} in the inbox${values === 0 ? "" : `, ${countOf(values, "value")} of paperless-ngx among them`}</li>`}${batches}</ul></section>`;
}

/** Single questions by their words, folded; those of today are separate. */
export function singleJobsHtml(
  jobs: readonly SingleJob[],
  { draw, zone }: Site,
  which: "today" | "all",
): Html {
  const dayOf = (at: Date): string => isoInZone(at, zone).date;
  const today = dayOf(new Date());
  const isOfToday = ({ created_at: at }: SingleJob): boolean => dayOf(at) === today;
  const list = (id: string, title: string, jobs: readonly SingleJob[]): Html =>
    jobs.length === 0
      ? markup``
      : markup`<details id="${id}" class="asked"><summary><strong>${title}</strong>: ${formatCount(jobs.length)}</summary>
<ul class="items">${jobs.map((job) => jobItem(job, draw))}</ul></details>`;
  const before = which === "all" ? jobs.filter((job) => !isOfToday(job)) : [];
  return markup`${list("asked-today", "Asked today", jobs.filter(isOfToday))}${list("asked-before", "Asked before", before)}`;
}

const jobItem = ({ job_id: id, kind, input, ...job }: SingleJob, draw: Site["draw"]): Html => {
  const words = formatTask(kind, input);
  const outcome = job.grade ?? job.state;
  return markup`<li>${kind === "ask" ? "" : `${kind} `}${link(pathTo("runs", id), words === "" ? kind : words)} ${stateHtml(outcome)}${job.error_code === null ? "" : markup` <code>${job.error_code}</code>`} ${draw.time(job.created_at)}</li>
`;
};
