import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { topologies } from "../../conformance/topologies.ts";
import { numberOf, rowsOf } from "../night/accounts.ts";
import { repeated, wordsOf } from "../night/requests.ts";
import { planKills, STAGES } from "./night-kills.ts";
import type { Kill } from "./night-kills.ts";
import { nightCases, playNight } from "./play-night.ts";
import type { PlayedNight } from "./play-night.ts";

const TOPOLOGY = "redis+postgres";
const JOBS = 200;
/** Jobs that lose their worker at each stage. */
const EACH = 3;
/** On a machine that is busy with other things. */
const LONG_MS = 300_000;

const isPossible = topologies.includes(TOPOLOGY);
(isPossible ? describe : describe.skip)(`a night of ${JOBS} answers on ${TOPOLOGY}`, () => {
  const nights: PlayedNight[] = [];
  let quiet: PlayedNight;
  let killed: PlayedNight;
  let kills: readonly Kill[];

  beforeAll(async () => {
    const cases = nightCases(JOBS);
    const startedAt = performance.now();
    quiet = await playNight(TOPOLOGY, cases);
    nights.push(quiet);
    const { evening, midnight } = await planKills(quiet.desk.db, quiet.batchId, EACH);
    kills = [...evening, ...midnight];
    const halfAt = performance.now();
    killed = await playNight(TOPOLOGY, cases, [evening, midnight]);
    nights.push(killed);
    print(performance.now() - halfAt, halfAt - startedAt);
  }, LONG_MS);
  afterAll(async () => {
    for (const { desk } of nights) await desk.dispose();
  }, LONG_MS);

  const countAt = (name: string): number => kills.filter(({ stage }) => stage.name === name).length;
  function print(killedMs: number, quietMs: number): void {
    const seconds = (ms: number): number => Math.round(ms / 1_000);
    const stages = STAGES.map(({ name }) => `  ${countAt(name)}  ${name}`);
    process.stdout.write(
      `\na night of ${JOBS} answers: ${seconds(killedMs)} s, and ${seconds(quietMs)} s without kills; ` +
        `${killed.lost.length} runs lost their worker, of which were stopped where\n${stages.join("\n")}\n`,
    );
  }

  test("loses workers at every stage, and their runs with them", async () => {
    expect(STAGES.filter(({ name }) => countAt(name) !== EACH)).toEqual([]);
    expect(killed.lost.length).toBeGreaterThanOrEqual(kills.length);
    const lost = "select count(*) from nightdesk_data.runs where state = 'lost'";
    expect(await numberOf(killed.desk.db, lost)).toBe(killed.lost.length);
    expect(await numberOf(quiet.desk.db, lost)).toBe(0);
  });

  test("ends each job once, and each check", async () => {
    for (const { desk } of nights) {
      const wrong = await rowsOf(
        desk.db,
        `select j.custom_id, j.kind, j.state, count(r.run_id)::int as results
           from nightdesk_data.jobs j
           left join nightdesk_data.runs r on r.job_id = j.job_id and r.state in ('succeeded', 'refused')
          group by j.job_id having count(r.run_id) <> 1 or j.state not in ('succeeded', 'refused')`,
      );
      expect(wrong).toEqual([]);
    }
  });

  test("completes its batch, and that of its checks, with counts that add up", async () => {
    for (const { desk, batchId } of nights) {
      const batches = await rowsOf<{ batch_id: string; jobs: number }>(
        desk.db,
        `select b.batch_id, b.origin, b.state, (select count(*)::int from nightdesk_data.jobs j where j.batch_id = b.batch_id) as jobs,
                c.total, c.succeeded + c.refused as ended
           from nightdesk_data.batches b cross join lateral (
             select sum(total)::int as total, sum(succeeded)::int as succeeded, sum(refused)::int as refused
               from nightdesk_data.batch_counts n where n.batch_id = b.batch_id) c
          where b.batch_id = $1 or b.parent_id = $1 order by b.origin`,
        [batchId],
      );
      const asked = "select count(*) from nightdesk_data.checks where check_job_id is not null";
      const counted = (jobs: number) => ({ state: "completed", jobs, total: jobs, ended: jobs });
      expect(batches).toMatchObject([
        { origin: "file", ...counted(JOBS) },
        { origin: "verify", ...counted(await numberOf(desk.db, asked)) },
      ]);
    }
  });

  test("asks each check once, whatever became of the run that asked for it", async () => {
    for (const { desk } of nights) {
      const jobs = await rowsOf(
        desk.db,
        `select j.custom_id from nightdesk_data.jobs j
           left join nightdesk_data.checks c on c.check_job_id = j.job_id
                and j.custom_id = c.job_id || '.' || c.round || '.' || c.ordinal
          where j.kind = 'check' group by j.custom_id having count(*) <> 1 or count(c.job_id) <> 1`,
      );
      expect(jobs).toEqual([]);
    }
    expect(await settledIn(killed)).toEqual(await settledIn(quiet));
  });

  test("keeps as many replies as a night without kills, one of the judge a round", async () => {
    expect(await repliesIn(killed)).toEqual(await repliesIn(quiet));
    const several = await rowsOf(
      killed.desk.db,
      `select j.custom_id from nightdesk_data.jobs j
         join nightdesk_data.model_calls m on m.job_id = j.job_id and m.pass = 'judge'
        group by j.job_id having count(*) > (select count(*) from nightdesk_data.judgements g where g.job_id = j.job_id)`,
    );
    expect(several).toEqual([]);
  });

  test("asks its host again for nothing but what was lost with a worker", async () => {
    const kept = await numberOf(killed.desk.db, "select count(*) from nightdesk_data.model_calls");
    const keptJudge = await numberOf(
      killed.desk.db,
      "select count(*) from nightdesk_data.model_calls where pass = 'judge'",
    );
    const answered = answeredIn(killed);
    const lostAt = kills.filter(({ stage }) => stage.losesReply).length;
    const others = killed.lost.length - kills.length;
    expect(answered.length - kept).toBeGreaterThanOrEqual(lostAt);
    expect(answered.length - kept).toBeLessThanOrEqual(lostAt + others);
    expect(repeated(answered).length).toBeLessThanOrEqual(
      repeated(answeredIn(quiet)).length + lostAt + others,
    );
    const judged = answered.filter((request) => wordsOf(request).includes(JUDGE));
    const lostJudged = kills.filter(
      ({ stage }) => stage.losesReply && stage.stop.modelPass === "judge",
    ).length;
    expect(judged.length - keptJudge).toBeGreaterThanOrEqual(lostJudged);
    expect(judged.length - keptJudge).toBeLessThanOrEqual(lostJudged + others);
    expect(answeredIn(quiet).length).toBe(
      await numberOf(quiet.desk.db, "select count(*) from nightdesk_data.model_calls"),
    );
  });

  test("ends as a night without kills does", () => {
    const shown = ({ ended }: PlayedNight) =>
      ended.map(({ one: { id }, state, grade, verification, errorCode, answer }) => {
        return { id, state, grade, verification, errorCode, answer };
      });
    expect(shown(killed)).toEqual(shown(quiet));
  });
});

const JUDGE = "You judge an answer by what checks of it have found";

const answeredIn = ({ desk }: PlayedNight) =>
  desk.host.chats().filter(({ state, status }) => state === "done" && status === 200);

/** Checks and judgements of all jobs, without ids. */
const settledIn = ({ desk, batchId }: PlayedNight) =>
  rowsOf(
    desk.db,
    `select c.custom_id, c.round, c.ordinal, c.question, c.how, c.state, c.detail, c.reason, g.score, g.given, g.caps
       from nightdesk.checks c left join nightdesk.judgements g using (job_id, round)
      where c.batch_id = $1 order by c.custom_id, c.round, c.ordinal`,
    [batchId],
  );

/** How many replies of each pass are kept of each job and of its checks. */
const repliesIn = ({ desk, batchId }: PlayedNight) =>
  rowsOf(
    desk.db,
    `select coalesce(o.custom_id, j.custom_id) as custom_id, j.kind, m.pass, count(*)::int as replies
       from nightdesk_data.model_calls m join nightdesk_data.jobs j using (job_id)
       left join nightdesk_data.jobs o on j.kind = 'check' and o.job_id::text = split_part(j.custom_id, '.', 1)
      where coalesce(o.batch_id, j.batch_id) = $1
      group by coalesce(o.custom_id, j.custom_id), j.kind, m.pass order by 1, 2, 3`,
    [batchId],
  );
