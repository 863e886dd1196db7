import { expect } from "@jest/globals";
import { eventually } from "../../conformance/signal.ts";
import { countLines } from "../../support/killed-worker/start.ts";
import { numberOf, rowsOf } from "../night/accounts.ts";
import { repeated } from "../night/requests.ts";
import type { Night } from "./fixture.ts";
import { planKills } from "./kills.ts";
import { GRANTED, SECRET } from "./world.ts";

/** One result a job, whatever became of its runs; a reply that was kept is not asked for again. */
export async function expectEachOnce({ db, host, jobs, killed, onlooker }: Night): Promise<void> {
  const results = await rowsOf<{ results: number; jobs: number }>(
    db,
    `select results::int, count(*)::int as jobs
       from (select count(*) filter (where r.state in ('succeeded', 'refused', 'failed')
                                        or r.state = 'lost' and j.state = 'failed' and r.run_id = j.run_id) as results
               from nightdesk_data.jobs j join nightdesk_data.runs r using (job_id)
              where j.kind = 'investigate' group by j.job_id) job
      group by results`,
  );
  expect(results).toEqual([{ results: 1, jobs: jobs.length }]);
  expect(
    await rowsOf(
      db,
      `select j.custom_id from nightdesk_data.jobs j join nightdesk_data.runs r using (job_id)
        where r.state = 'lost' order by j.custom_id`,
    ),
  ).toEqual([...killed].sort().map((custom_id) => ({ custom_id })));

  const { evening, midnight } = planKills(jobs);
  const unkept = [...evening, ...midnight].flatMap(([{ name }, { boundary }]) =>
    boundary === "before the reply is kept" ? [name] : [],
  );
  const answered = host.chats().filter(({ state, status }) => state === "done" && status === 200);
  const twice = repeated(answered).map((prompt) => /\[([a-z]+-\d+)\]/.exec(prompt)?.[1]);
  expect(twice.sort()).toEqual(unkept.sort());
  expect(onlooker.faults()).toEqual([]);
}

/** @param raced who won where two people said different things at once */
export async function expectEffectsOnce(
  { db, jobs, topology }: Night,
  raced: ReadonlyMap<string, "approve" | "deny">,
): Promise<void> {
  const lines = await countLines(topology.workroot);
  const expected = new Map<string, number>();
  for (const { name, scenario } of jobs) {
    const count = raced.get(name) === "deny" ? 0 : scenario.lines;
    const text = `${scenario.name === "equal" ? "equal" : name}: done`;
    if (count > 0) expected.set(text, (expected.get(text) ?? 0) + count);
  }
  expect(Object.fromEntries(lines)).toEqual(Object.fromEntries(expected));

  const carriedOut = await rowsOf<{ text: string; steps: number }>(
    db,
    `select t.args->>'text' as text, count(*)::int as steps
       from nightdesk_data.steps s join nightdesk_data.tool_calls t on t.job_id = s.job_id and t.step = s.ordinal
      where s.effect <> 'none' and s.state in ('done', 'uncertain') group by text`,
  );
  expect(Object.fromEntries(carriedOut.map(({ text, steps }) => [text, steps]))).toEqual(
    Object.fromEntries(expected),
  );
}

/** Whatever models asked for: no call, no file and no passage but of the grant of its job. */
export async function expectWithinGrants({ db }: Night): Promise<void> {
  const calls = "nightdesk_data.tool_calls t left join nightdesk_data.grants g using (grant_id)";
  expect(
    await numberOf(db, `select count(*) from ${calls} where t.step is not null`),
  ).toBeGreaterThan(0);
  expect(
    await rowsOf(
      db,
      `select t.name, g.preset from ${calls} where t.step is not null
          and (g.job_id is distinct from t.job_id or t.name <> all(g.tools)
               or g.preset = 'reader' and t.name <> 'read_text_file')`,
    ),
  ).toEqual([]);
  expect(
    await rowsOf(
      db,
      `select distinct path from nightdesk.evidence where path not like $1 order by path`,
      [`${GRANTED}/%`],
    ),
  ).toEqual([]);
  // Both tools with an effect are in one preset alone.
  expect(
    await rowsOf(
      db,
      `select distinct g.preset from ${calls} where t.name in ('append_line', 'stamp')`,
    ),
  ).toEqual([{ preset: "writer" }]);
}

/** The words of the files that no job may see stand in no prompt, and in no row but those of the index. */
export async function expectNothingLeaked({ db, host }: Night): Promise<void> {
  const prompts = host.chats().map(({ body }) => JSON.stringify(body));
  expect(prompts.length).toBeGreaterThan(0);
  expect(prompts.filter((prompt) => prompt.includes(SECRET))).toEqual([]);

  const tables = await rowsOf<{ name: string }>(
    db,
    `select table_name as name from information_schema.tables
      where table_schema = 'nightdesk_data' and table_type = 'BASE TABLE' order by name`,
  );
  const holding: string[] = [];
  for (const { name } of tables) {
    const held = `select count(*) from nightdesk_data."${name}" t where t::text like '%${SECRET}%'`;
    if ((await numberOf(db, held)) > 0) holding.push(name);
  }
  expect(holding).toEqual(["chunks"]);
  const inArtifacts = `select count(*) from nightdesk_data.artifacts
    where position('${SECRET}'::bytea in content) > 0`;
  expect(await numberOf(db, inArtifacts)).toBe(0);
  expect(await numberOf(db, "select count(*) from nightdesk_data.artifacts")).toBeGreaterThan(0);
}

export async function expectNothingOpen({ db, jobs }: Night): Promise<void> {
  const count = (what: string) => numberOf(db, `select count(*) from nightdesk_data.${what}`);
  expect(await count("grants")).toBe(jobs.length);
  expect(await count("grants where ended_at is null")).toBe(0);
  expect(await count("approvals where state = 'waiting'")).toBe(0);
  expect(await count("jobs where lease_until is not null or worker_id is not null")).toBe(0);
  // What two workers were lost with may have been carried out, and was: nobody has looked.
  const lost = jobs.filter(({ scenario }) => scenario.name === "lost").length;
  expect(await count("steps where state = 'uncertain'")).toBe(lost);
  expect(await count("steps where state in ('started', 'waiting')")).toBe(0);
  const hits = `select sum(d.hits) from nightdesk_data.decisions d`;
  expect(await numberOf(db, hits)).toBe(await count("approvals where decision_id is not null"));
  // A statement behind the last result completes it.
  await eventually(
    "the batch is completed",
    async () =>
      (await numberOf(
        db,
        `select count(*) from nightdesk.batch_progress where state = 'completed' and total = ${jobs.length}`,
      )) === 1,
  );
  const batch = await rowsOf(
    db,
    `select state, total::int, (succeeded + refused + failed)::int as ended
       from nightdesk.batch_progress where total = $1`,
    [jobs.length],
  );
  expect(batch).toEqual([{ state: "completed", total: jobs.length, ended: jobs.length }]);
}
