import { readFile } from "node:fs/promises";
import { expect } from "@jest/globals";
import { callsOf, numberOf, progressOf, rowsOf } from "./accounts.ts";
import type { Stage } from "./fixture.ts";
import { readMorningReport } from "./morning-report.ts";
import type { NightJobs } from "./night-jobs.ts";
import { reportBySql } from "./report-by-sql.ts";
import { answeredFor, brokenRequests, cutFor, repeated, wordsOf } from "./requests.ts";

/** No reply is asked for again that was given, and each job has one result. */
export async function expectNothingTwice(stage: Stage, { expected }: NightJobs): Promise<void> {
  const answered = answeredFor(stage, "night");
  expect(repeated(answered)).toEqual([]);
  expect(answered).toHaveLength(expected.replies);

  const words = new Set(answered.map(wordsOf));
  const cut = cutFor(stage, "night");
  expect(cut.length).toBeGreaterThan(0);
  expect(cut.filter((request) => !words.has(wordsOf(request)))).toEqual([]);

  const results = await rowsOf<{ results: number; jobs: number }>(
    stage.db,
    `select results::int, count(*)::int as jobs
       from (select count(r.run_id) as results
               from nightdesk_data.jobs j left join nightdesk_data.runs r on r.job_id = j.job_id and r.state = j.state
              where j.state in ('succeeded', 'refused') group by j.job_id) job
      group by results`,
  );
  const done = await progressOf(stage.db, "extra");
  const { FILE_NOT_FOUND: missing, FILE_EMPTY: empty } = expected.refused;
  expect(results).toEqual([
    { results: 1, jobs: expected.succeeded + missing + empty + done.succeeded },
  ]);
  const again = await rowsOf<{ job_id: string }>(
    stage.db,
    "select job_id from nightdesk_data.jobs where attempt > 1 and state = 'succeeded' order by job_id",
  );
  expect(again.map(({ job_id }) => job_id)).toEqual([...stage.killed].sort());
}

/** Budgets hold what was asked, by a worker that died as well: nothing for a host that failed, was away or busy. */
export async function expectTrueCharges(stage: Stage, { expected }: NightJobs): Promise<void> {
  const { db } = stage;
  expect(repeated(brokenRequests(stage))).toHaveLength(4);
  const died = stage.cutByKill();
  expect(died.length).toBeGreaterThan(0);
  expect(await callsOf(db, "night")).toBe(expected.replies + died.length);
  const cut = cutFor(stage, "extra");
  expect(cut.length).toBeGreaterThan(0);
  expect(await callsOf(db, "extra")).toBe(answeredFor(stage, "extra").length + cut.length);
  expect(
    await rowsOf(
      db,
      `select sum(case scope when 'night' then calls_used else -calls_used end)::int as calls,
              sum(case scope when 'night' then tokens_used else -tokens_used end)::int as tokens,
              sum(calls_reserved)::int as reserved
         from nightdesk.budgets`,
    ),
  ).toEqual([{ calls: 0, tokens: 0, reserved: 0 }]);
}

/** Both forms of the report say what the views hold. */
export async function expectTrueReport(stage: Stage, batch: string): Promise<void> {
  const { html, markdown } = await stage.nightdesk("batch", "report", batch);
  const report = readMorningReport(await readFile(String(markdown), "utf8"));
  expect(report).toEqual(await reportBySql(stage.db, batch));
  const page = await readFile(String(html), "utf8");
  for (const told of [report.headline, report.tokens ?? "", ...report.slowest]) {
    expect(page).toContain(told);
  }
}

/** All that had a result in one batch has the same in another, from where it was taken over, and for nothing. */
export async function expectTakenOver(stage: Stage, from: string, to: string): Promise<void> {
  const before = await progressOf(stage.db, from);
  const after = await progressOf(stage.db, to);
  expect(after).toMatchObject({
    total: before.succeeded + before.refused,
    succeeded: before.succeeded,
    refused: before.refused,
  });
  const same = await numberOf(
    stage.db,
    `select count(*) from nightdesk.results n
       join nightdesk.results o on o.job_id = n.rerun_of and o.answer = n.answer
      where n.batch = $1 and o.batch = $2 and n.cached_from is not null`,
    [to, from],
  );
  expect(same).toBe(before.succeeded);
  const { markdown } = await stage.nightdesk("batch", "report", to);
  expect(readMorningReport(await readFile(String(markdown), "utf8"))).toMatchObject({
    reused: `${before.succeeded} results`,
    tokens: "none: no language model was called",
  });
}
