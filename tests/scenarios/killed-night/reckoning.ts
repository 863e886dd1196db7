import { expect } from "@jest/globals";
import type { RequestRecord } from "../../doubles/http-double.ts";
import type { OllamaDouble } from "../../doubles/ollama-server.ts";
import { countLines } from "../../support/killed-worker/start.ts";
import { numberOf, rowsOf } from "../night/accounts.ts";
import { patiently } from "../night/patience.ts";
import { repeated, wordsOf } from "../night/requests.ts";
import { endsOf } from "../verification/play-cases.ts";
import type { Night } from "./fixture.ts";
import { planKills } from "./kills.ts";
import { asOfKilled } from "./verified-jobs.ts";
import type { Pair } from "./verified-jobs.ts";
import { GRANTED, SECRET } from "./world.ts";

const answeredBy = (host: OllamaDouble): readonly RequestRecord[] =>
  host.chats().filter(({ state, status }) => state === "done" && status === 200);

const namesOf = ({ jobs }: Night): readonly string[] => jobs.map(({ name }) => name);

/** One result a job and a check, whatever became of its runs; a reply that was kept is not asked for again. */
export async function expectEachOnce(night: Night): Promise<void> {
  const { db, jobs, lost, onlooker, tricksters } = night;
  const wrong = await rowsOf(
    db,
    `select j.custom_id, j.kind, j.state, count(*) filter (
              where r.state in ('succeeded', 'refused', 'failed')
                 or r.state = 'lost' and j.state = 'failed' and r.run_id = j.run_id) as results
       from nightdesk_data.jobs j left join nightdesk_data.runs r using (job_id)
      group by j.job_id
     having j.state not in ('succeeded', 'refused') and (j.state <> 'failed' or j.custom_id not like 'lost-%')
         or count(*) filter (where r.state in ('succeeded', 'refused', 'failed')
                                or r.state = 'lost' and j.state = 'failed' and r.run_id = j.run_id) <> 1`,
  );
  expect(wrong).toEqual([]);
  const runs = await rowsOf<{ job_id: string }>(
    db,
    "select job_id from nightdesk_data.runs where state = 'lost'",
  );
  expect(runs.map(({ job_id }) => job_id).sort()).toEqual([...lost].sort());

  const { evening, midnight } = planKills(jobs);
  const unkept = [...evening, ...midnight].flatMap(([{ name }, { boundary }]) =>
    boundary === "before the reply is kept" ? [name] : [],
  );
  const twice = repeated(answeredBy(tricksters)).map(
    (prompt) => /\[([a-z]+-\d+)\]/.exec(prompt)?.[1],
  );
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
export async function expectWithinGrants(night: Night): Promise<void> {
  const { db } = night;
  const calls = `nightdesk_data.tool_calls t join nightdesk_data.jobs j using (job_id)
    left join nightdesk_data.grants g using (grant_id)`;
  const names = [namesOf(night)];
  const ofNight = "t.step is not null and j.custom_id = any($1)";
  expect(
    await numberOf(db, `select count(*) from ${calls} where ${ofNight}`, names),
  ).toBeGreaterThan(0);
  expect(
    await rowsOf(
      db,
      `select t.name, g.preset from ${calls} where ${ofNight}
          and (g.job_id is distinct from t.job_id or t.name <> all(g.tools)
               or g.preset = 'reader' and t.name <> 'read_text_file')`,
      names,
    ),
  ).toEqual([]);
  // Of a verified answer and its checks: the folder of its case.
  expect(
    await rowsOf(
      db,
      `select distinct e.path from nightdesk.evidence e join nightdesk_data.jobs j using (job_id)
         left join nightdesk_data.jobs o on j.kind = 'check' and o.job_id::text = split_part(j.custom_id, '.', 1)
        where e.path not like case when j.custom_id = any($1) then $2
                                   else 'allowed/corpus/' || coalesce(o.custom_id, j.custom_id) end || '/%'
        order by e.path`,
      [...names, GRANTED],
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
export async function expectNothingLeaked({ db, tricksters, cast }: Night): Promise<void> {
  for (const host of [tricksters, cast]) {
    const prompts = host.chats().map(wordsOf);
    expect(prompts.length).toBeGreaterThan(0);
    expect(prompts.filter((prompt) => prompt.includes(SECRET))).toEqual([]);
  }

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

/** The checks of an answer, whatever became of the run that asked for them. */
export async function expectChecksOnce({ db }: Night): Promise<void> {
  expect(
    await rowsOf(
      db,
      `select j.custom_id from nightdesk_data.jobs j
         left join nightdesk_data.checks c on c.check_job_id = j.job_id
              and j.custom_id = c.job_id || '.' || c.round || '.' || c.ordinal
        where j.kind = 'check' group by j.custom_id having count(*) <> 1 or count(c.job_id) <> 1`,
    ),
  ).toEqual([]);
  const auditedTwice = await rowsOf(
    db,
    `select j.custom_id from nightdesk_data.jobs j
       join nightdesk_data.model_calls m on m.job_id = j.job_id and m.pass = 'audit'
      group by j.job_id
     having count(*) > (select count(*) from nightdesk_data.audits g where g.job_id = j.job_id)
        -- One that can't be read is asked for once more, in another request.
        and count(*) > count(distinct m.request_sha256)`,
  );
  expect(auditedTwice).toEqual([]);
}

const AUDIT = "You score an answer by what checks of it have found";

/** Where a worker was killed before a reply was kept, and else only by a run that was in its hands by chance. */
export async function expectAskedAgainForLost(night: Night): Promise<void> {
  const { db, cast, pairs, lost } = night;
  const stopped = pairs.filter(({ stop }) => stop.boundary === "before the reply is kept");
  const audited = stopped.filter(({ stop }) => stop.modelPass === "audit");
  const chance = lost.length - stopsIn(night);
  const kept = `select count(*) from nightdesk_data.model_calls m where m.model = 'cast'`;
  const again = answeredBy(cast).length - (await numberOf(db, kept));
  expect(again).toBeGreaterThanOrEqual(stopped.length);
  expect(again).toBeLessThanOrEqual(stopped.length + chance);
  const requests = answeredBy(cast).filter((request) => wordsOf(request).includes(AUDIT));
  const auditedAgain = requests.length - (await numberOf(db, `${kept} and m.pass = 'audit'`));
  expect(auditedAgain).toBeGreaterThanOrEqual(audited.length);
  expect(auditedAgain).toBeLessThanOrEqual(audited.length + chance);
}

/** How many runs were killed because they stood still. */
function stopsIn({ jobs, pairs }: Night): number {
  const { evening, midnight, morning } = planKills(jobs);
  return evening.size + midnight.size + morning.size + pairs.length;
}

/** What a verified job gave, what was checked of it and asked for it, without ids and costs. */
export async function expectEndedAsQuiet(night: Night): Promise<void> {
  const { pairs } = night;
  const killed = await courseOf(night, ({ killed: one }) => one);
  const quiet = await courseOf(night, ({ quiet: one }) => one);
  const ofKilled = (courses: readonly unknown[]) =>
    pairs.map((pair, at) => asOfKilled(courses[at], pair));
  expect(ofKilled(killed)).toEqual(ofKilled(quiet));
}

async function courseOf(
  { db, batchId, pairs, idOf }: Night,
  ofPair: (pair: Pair) => Pair["killed"],
): Promise<readonly unknown[]> {
  const cases = pairs.map(ofPair);
  const ended = await endsOf(
    db,
    batchId,
    cases,
    cases.map(({ id }) => idOf(id)),
  );
  const courses: unknown[] = [];
  for (const { jobId, one, state, grade, verification, errorCode, answer } of ended) {
    courses.push({
      ...{ id: one.id, state, grade, verification, errorCode, answer },
      checks: await rowsOf(db, CHECKS, [jobId]),
      replies: await rowsOf(db, REPLIES, [jobId]),
    });
  }
  return courses;
}

const CHECKS = `
select c.round, c.ordinal, c.question, c.how, c.state, c.detail, c.reason, g.score, g.given, g.caps
  from nightdesk.checks c left join nightdesk.audits g using (job_id, round)
 where c.job_id = $1 order by c.round, c.ordinal`;
/** How many are kept of each pass of a job and of its checks. */
const REPLIES = `
select j.kind, m.pass, count(*)::int as replies
  from nightdesk_data.model_calls m join nightdesk_data.jobs j using (job_id)
 where j.job_id::text = $1 or j.kind = 'check' and split_part(j.custom_id, '.', 1) = $1
 group by j.kind, m.pass order by 1, 2`;

export async function expectBatchesAddUp({ db, batchId, jobs, pairs }: Night): Promise<void> {
  // A statement behind the last result completes a batch.
  await patiently("its batches are completed", async () => {
    const open = `select count(*) from nightdesk_data.batches
      where (batch_id = $1 or parent_id = $1) and state <> 'completed'`;
    return (await numberOf(db, open, [batchId])) === 0;
  });
  const batches = await rowsOf(
    db,
    `select b.origin, b.state, (select count(*)::int from nightdesk_data.jobs j where j.batch_id = b.batch_id) as jobs,
            c.total, c.ended
       from nightdesk_data.batches b cross join lateral (
         select sum(total)::int as total, sum(succeeded + refused + failed)::int as ended
           from nightdesk_data.batch_counts n where n.batch_id = b.batch_id) c
      where b.batch_id = $1 or b.parent_id = $1 order by b.origin`,
    [batchId],
  );
  const checks = "select count(*) from nightdesk_data.checks where check_job_id is not null";
  const counted = (count: number) => ({
    ...{ state: "completed", jobs: count, total: count, ended: count },
  });
  expect(batches).toEqual([
    { origin: "file", ...counted(jobs.length + 2 * pairs.length) },
    { origin: "verify", ...counted(await numberOf(db, checks)) },
  ]);
}

export async function expectNothingOpen(night: Night): Promise<void> {
  const { db, jobs } = night;
  const count = (what: string, values: readonly unknown[] = []) =>
    numberOf(db, `select count(*) from nightdesk_data.${what}`, values);
  const ofNight = "grants join nightdesk_data.jobs using (job_id) where custom_id = any($1)";
  expect(await count(ofNight, [namesOf(night)])).toBe(jobs.length);
  expect(await count("grants where ended_at is null")).toBe(0);
  expect(await count("approvals where state = 'waiting'")).toBe(0);
  expect(await count("jobs where lease_until is not null or worker_id is not null")).toBe(0);
  // What two workers were lost with may have been carried out, and was: nobody has looked.
  const lost = jobs.filter(({ scenario }) => scenario.name === "lost").length;
  expect(await count("steps where state = 'uncertain'")).toBe(lost);
  expect(await count("steps where state in ('started', 'waiting')")).toBe(0);
  const hits = `select sum(d.hits) from nightdesk_data.decisions d`;
  expect(await numberOf(db, hits)).toBe(await count("approvals where decision_id is not null"));
}
