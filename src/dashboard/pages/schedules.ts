import { Failure } from "../../shared/failure.ts";
import { nextTimes } from "../../shared/schedules/next-times.ts";
import { assertValidSchedule } from "../../shared/schedules/schedule.ts";
import { queueScheduleRun } from "../../shared/store/schedules/schedule-runs.ts";
import {
  findSchedule,
  selectLastRuns,
  selectNow,
  selectSchedules,
  switchSchedule,
} from "../../shared/store/schedules/schedules.ts";
import type { LastRun, Schedule } from "../../shared/store/schedules/schedules.ts";
import { htmlTable, stateHtml } from "../../shared/views/draw-sections.ts";
import { markup } from "../../shared/views/html-markup.ts";
import type { Html } from "../../shared/views/html-markup.ts";
import { NAME, WORDS } from "../../shared/views/section.ts";
import { runAction } from "../run-action.ts";
import { page } from "../site.ts";
import type { Answer, Site, SiteRequest, Route } from "../site.ts";
import { notFound } from "../failures.ts";
import { csrfField, headHtml } from "../layout.ts";
import { pathTo } from "../links.ts";
import { outcomePath, outcomeHtml } from "../action-outcome.ts";
import type { Session } from "../sessions.ts";

/** Schedules: when each runs next, a switch, and a button to run it now. */
export const SCHEDULES: readonly Route[] = [
  {
    path: "/schedules",
    answer: async (site: Site, request: SiteRequest): Promise<Answer> =>
      page({
        title: "Schedules",
        menu: "/schedules",
        body: await schedulesHtml(site, request),
        updates: "live",
      }),
  },
  { method: "post", path: "/schedules/:name/switch", answer: switchNamed },
  { method: "post", path: "/schedules/:name/run", answer: runNamed },
];

async function schedulesHtml(
  { database, draw }: Site,
  { query, session }: SiteRequest,
): Promise<Html> {
  const schedules = await selectSchedules(database);
  const last = await selectLastRuns(database);
  const now = await selectNow(database);
  const table = htmlTable<Schedule>(schedules, [
    ["schedule", ({ name }) => name, NAME],
    ["is", ({ enabled }) => (enabled ? stateHtml("succeeded", "on") : stateHtml("queued", "off"))],
    ["next", (schedule) => draw.time(nextTimes(schedule, now)[0] ?? null)],
    ["last run", ({ name }) => lastRunHtml(last.get(name), draw)],
    ["when", ({ cron, timezone }) => markup`<code>${cron}</code> ${timezone}`],
    ["command", ({ command }) => markup`<code>${command.join(" ")}</code>`, WORDS],
    [
      "",
      (schedule) => buttonsHtml(schedule, session),
      { heading: markup`<span class="unseen">change</span>` },
    ],
  ]);
  return markup`${headHtml("Schedules", "Commands at fixed times. They are added and removed by nightdesk schedule.")}
${await outcomeHtml(database, query)}
${schedules.length === 0 ? markup`<p class="note">There is no schedule.</p>` : table}`;
}

const lastRunHtml = (run: LastRun | undefined, draw: Site["draw"]): Html | null =>
  run === undefined
    ? null
    : markup`${draw.time(run.plannedAt)} ${run.state === null ? "" : stateHtml(run.state)} ${run.code ?? ""}`;

function buttonsHtml({ name, enabled }: Schedule, session: Session): Html {
  const here = pathTo("schedules", name);
  const to = enabled ? "off" : "on";
  return markup`<div class="actions"><form method="post" action="${here}/switch">${csrfField(session)}<input type="hidden" name="to" value="${to}"><button class="plain" aria-label="Switch ${name} ${to}">Switch ${to}</button></form>
<form method="post" action="${here}/run">${csrfField(session)}<button class="plain" aria-label="Run ${name} now">Run now</button></form></div>`;
}

async function scheduleOf({ database }: Site, name: string): Promise<Schedule> {
  const schedule = await findSchedule(database, name);
  if (schedule !== undefined) return schedule;
  throw notFound(
    `There is no schedule ${JSON.stringify(name.slice(0, 80))}: it may have been removed.`,
  );
}

async function switchNamed(site: Site, { part, form, session }: SiteRequest): Promise<Answer> {
  const schedule = await scheduleOf(site, part("name"));
  const { name } = schedule;
  const to = form.get("to") === "on" ? "on" : "off";
  const action = { actor: session.user, action: "switch-schedule", detail: { name, to } } as const;
  const did = await runAction(site.database, action, async () => {
    // A disabled schedule was only checked for its name.
    if (to === "on") assertValidSchedule(schedule);
    await switchSchedule(site.database, name, to);
    return `Schedule ${name} is ${to}.${to === "on" ? "" : " What it has queued goes on."}`;
  });
  return { kind: "redirect", to: outcomePath("/schedules", did) };
}

async function runNamed(site: Site, { part, session }: SiteRequest): Promise<Answer> {
  const { database } = site;
  const schedule = await scheduleOf(site, part("name"));
  const { name } = schedule;
  const action = { actor: session.user, action: "run-schedule", detail: { name } } as const;
  const did = await runAction(database, action, async () => {
    assertValidSchedule(schedule);
    const made = await queueScheduleRun(database, schedule, await selectNow(database), "by_hand");
    if (made === undefined)
      throw new Failure(
        "INPUT_INVALID",
        `Schedule ${name} was run at this very moment; run it again.`,
      );
    return { said: `Queued as ${made.batch}.`, batchId: made.batchId };
  });
  return { kind: "redirect", to: outcomePath("/schedules", did) };
}
