import { randomInt } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, test } from "@jest/globals";
import { Redis } from "ioredis";
import type { Database } from "../../src/shared/db/database.ts";
import { askJob, countOf, openBatchOf } from "../conformance/jobs.ts";
import { eventually } from "../conformance/signal.ts";
import { startTopology, topologies } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { startLocalRedis } from "../services/local-redis.js";
import { randomOf } from "./random.ts";
import { runBin, startFleet } from "./worker-fleet.ts";
import type { WorkerFleet } from "./worker-fleet.ts";

const WORKERS = 3;
const ASKS = 300;
const FILES = 20;
const CHAOS_MS = Number(process.env["CHAOS_SECONDS"] ?? 10) * 1_000;
const CALM_MS = 60_000;
const seed = Number(process.env["CHAOS_SEED"] ?? randomInt(2 ** 31));

type Strike = (place: number) => void | Promise<void>;

/** Strikes at random until the time is up, and says what it did. */
async function rage(strikes: Readonly<Record<string, Strike>>): Promise<string[]> {
  const random = randomOf(seed);
  const choose = (limit: number) => Math.floor(random() * limit);
  const names = Object.keys(strikes);
  const done: string[] = [];
  const end = performance.now() + CHAOS_MS;
  while (performance.now() < end) {
    const name = names[choose(names.length)] ?? "";
    const place = choose(WORKERS);
    await strikes[name]?.(place);
    done.push(`${name} ${place}`);
    await pause(300 + choose(1_500));
  }
  return done;
}

describe.each(topologies)(`with random faults of seed ${seed} on %s`, (name) => {
  const closers: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  async function prepare(): Promise<{ topology: Topology; db: Database; flush?: Strike }> {
    const redis = name === "redis+postgres" ? await startLocalRedis() : null;
    if (redis !== null) closers.push(() => redis.stop());
    const topology = await startTopology(
      name,
      redis === null ? {} : { queue: { backend: "redis", redis_url: redis.url } },
    );
    closers.push(() => topology.dispose());
    await Promise.all(
      Array.from({ length: FILES }, (_, i) =>
        writeFile(join(topology.workroot, "allowed", "corpus", `note-${i}.md`), noteOf(i)),
      ),
    );
    const db = await topology.connect();
    closers.push(() => db.end());
    const drain = runBin(topology, "worker", "--drain");
    expect(await runBin(topology, "index", "--no-embed").ended).toMatchObject({ exitCode: 0 });
    await drain.ended;
    if (redis === null) return { topology, db };
    return { topology, db, flush: () => flushAll(redis.url) };
  }

  const strikesOf = (
    topology: Topology,
    fleet: WorkerFleet,
    flush: Strike | undefined,
  ): Record<string, Strike> => ({
    kill: (place) => fleet.kill(place),
    pause: (place) => {
      fleet.pause(place);
    },
    resume: (place) => {
      fleet.resume(place);
    },
    cut: () => topology.breakConnections().catch(() => undefined),
    ...(flush === undefined ? {} : { flush }),
  });

  test("every job ends once, and nothing is left behind", async () => {
    const { topology, db, flush } = await prepare();
    const { batchId } = await openBatchOf(db, jobs);
    await spreadOver(db, batchId, CHAOS_MS);
    const fleet = startFleet(topology, WORKERS);
    closers.push(() => fleet.destroy());
    const done = await rage(strikesOf(topology, fleet, flush));
    for (let place = 0; place < WORKERS; place += 1) fleet.resume(place);

    const open = "nightdesk_data.jobs where batch_id = $1 and finished_at is null";
    await eventually(
      `no job is open after ${done.join(", ")}`,
      async () => (await countOf(db, open, [batchId]).catch(() => -1)) === 0,
      CALM_MS,
    );
    await expectExactlyOneEnd(db, batchId);
    await expectCountsToEqualRows(db, batchId);
    const ended = await fleet.stop();
    expect(ended.map(({ exitCode, stderr }) => exitCode === 0 || stderr)).toEqual([
      true,
      true,
      true,
    ]);
    await expectNothingHeld(db);
  }, 240_000);
});

const noteOf = (i: number): string =>
  `# Machine ${i}\n\nMachine ${i} is oiled every ${i + 2} days by crew ${i % 4}.\n\n` +
  `## Faults\n\nWhen machine ${i} stops, crew ${i % 4} calls extension ${100 + i}.\n`;

const jobs = [
  ...Array.from({ length: ASKS }, (_, i) =>
    askJob(`ask ${i}`, {
      input: { kind: "ask", question: `How often is machine ${i % FILES} oiled?` },
    }),
  ),
  ...Array.from({ length: FILES }, (_, i) =>
    askJob(`summary ${i}`, {
      input: { kind: "summarize", path: `allowed/corpus/note-${i}.md` },
    }),
  ),
];

/** Extractive answers are quick: the jobs become due little by little, so that there is work as long as faults come. */
async function spreadOver(db: Database, batchId: string, durationMs: number): Promise<void> {
  await db.query(
    `update nightdesk_data.jobs j set due_at = now() + make_interval(secs => place * $2::double precision)
       from (select job_id, row_number() over (order by seq) as place
               from nightdesk_data.jobs where batch_id = $1) placed
      where j.job_id = placed.job_id`,
    [batchId, durationMs / 1_000 / jobs.length],
  );
}

async function flushAll(url: string): Promise<void> {
  const redis = new Redis(url);
  await redis.flushall();
  await redis.quit();
}

/** One result, or two lost runs in a row, which is a job's own end. */
async function expectExactlyOneEnd(db: Database, batchId: string): Promise<void> {
  const { rows } = await db.query(
    `select custom_id, j.state, j.error_code,
            count(*) filter (where r.state in ('succeeded', 'refused')) as results,
            count(*) filter (where r.state = 'lost') as lost
       from nightdesk_data.jobs j left join nightdesk_data.runs r using (job_id)
      where batch_id = $1 group by job_id
     having not (j.state in ('succeeded', 'refused')
                 and count(*) filter (where r.state in ('succeeded', 'refused')) = 1
              or j.state = 'failed' and j.error_code = 'WORKER_LOST'
                 and count(*) filter (where r.state in ('succeeded', 'refused')) = 0
                 and count(*) filter (where r.state = 'lost') >= 2)`,
    [batchId],
  );
  expect(rows).toEqual([]);
  expect(await countOf(db, "nightdesk_data.jobs where batch_id = $1", [batchId])).toBe(jobs.length);
}

async function expectCountsToEqualRows(db: Database, batchId: string): Promise<void> {
  const count = (state: string) => `count(*) filter (where state = '${state}')::int as ${state}`;
  const sum = (state: string) => `${state}::int`;
  const ends = ["queued", "running", "parked", "succeeded", "refused", "failed"];
  const [counted, shown] = await Promise.all([
    db.query(`select ${ends.map(count).join(", ")} from nightdesk_data.jobs where batch_id = $1`, [
      batchId,
    ]),
    db.query(
      `select ${ends.map(sum).join(", ")} from nightdesk.batch_progress where batch_id = $1`,
      [batchId],
    ),
  ]);
  expect(shown.rows).toEqual(counted.rows);
  const completed = "nightdesk_data.batches where batch_id = $1 and state = 'completed'";
  await eventually(
    "the batch is completed",
    async () => (await countOf(db, completed, [batchId])) === 1,
  );
}

async function expectNothingHeld(db: Database): Promise<void> {
  expect(await countOf(db, "nightdesk_data.runs where state = 'running'")).toBe(0);
  expect(await countOf(db, "nightdesk_data.jobs where lease_until is not null")).toBe(0);
  expect(await countOf(db, "nightdesk_data.jobs where dispatched_at is not null")).toBe(0);
  const ours = "(select oid from pg_database where datname = current_database())";
  expect(await countOf(db, `pg_locks where locktype = 'advisory' and database = ${ours}`)).toBe(0);
}
