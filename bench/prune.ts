// What deleting an old batch costs, and what it costs the jobs that run meanwhile:
//
//   node --import ./bench/register.js bench/prune.ts [JOBS] [--embedded | --queue]
//
// JOBS (100,000) of kind ask with what each leaves behind, made by generate_series, in a database of its own: the first tenth
// deleted by a role that is no superuser, by foreign keys, the rest a table at a time. With --queue `batch prune` comes and goes
// while a worker summarises files, and jobs that end a second are counted with it and without. Needs a build, and the services.
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Database, Queryable } from "../src/shared/store/connection/database.ts";
import { deleteOldSlice } from "../src/shared/store/jobs/retention.ts";
import { startTopology } from "../tests/conformance/topologies.ts";
import type { Topology } from "../tests/conformance/topologies.ts";
import { marksOf, runCommand } from "./batch-command.ts";
import { describeUsage, measure } from "./process-usage.ts";

const args = process.argv.slice(2);
const jobs = Number(args.find((arg) => /^\d+$/.test(arg)) ?? 100_000);
const SLICE_JOBS = 2_000;
const PORTION_JOBS = 20_000;

/** Ids by number, spread as random ones are. $1 is the first number, $2 the last. */
const NUMBERS = "generate_series($1::bigint, $2::bigint) i";
const JOB = "md5('job' || i)::uuid";
const RUN = "md5('run' || i)::uuid";
const SHA256 = "md5('sha' || i % 5000) || md5('256' || i % 5000)";

const ROWS: readonly string[] = [
  `insert into nightdesk_data.jobs (job_id, batch_id, custom_id, kind, input, input_sha256, state, run_id, attempt, started_at, finished_at)
   select ${JOB}, (select batch_id from nightdesk_data.batches where name = 'old'), 'job ' || i, 'ask',
          jsonb_build_object('question', 'What do the notes say about day ' || i || '?'), ${SHA256}, 'succeeded', ${RUN}, 1, now(), now()
     from ${NUMBERS}`,
  `insert into nightdesk_data.runs (run_id, job_id, attempt, worker_id, state, answer, scope, run_ms, finished_at)
   select ${RUN}, ${JOB}, 1, md5('w')::uuid, 'succeeded', repeat('The ferry left at dusk. ', 12), 'Scope: 6 passages', 100, now()
     from ${NUMBERS}`,
  `insert into nightdesk_data.run_events (run_id, ordinal, step, duration_ms)
   select ${RUN}, n, 'step ' || n, 1 from ${NUMBERS}, generate_series(0, 6) n`,
  `insert into nightdesk_data.model_calls (job_id, run_id, pass, request_sha256, model, prompt_template, prompt_sha256, prompt, reply, done_reason, duration_ms)
   select ${JOB}, ${RUN}, pass, md5(pass || i) || md5(i || pass), 'm', 't', ${SHA256}, '{"question": "What?"}', repeat('word ', 60), 'stop', 50
     from ${NUMBERS}, unnest(array['first', 'second']) pass`,
  `insert into nightdesk_data.run_calls (run_id, ordinal, pass, call_id, origin)
   select run_id, row_number() over (partition by run_id order by call_id), pass, call_id, 'asked'
     from nightdesk_data.model_calls where job_id = any (select ${JOB} from ${NUMBERS})`,
  `insert into nightdesk_data.evidence (run_id, ordinal, kind, admitted, path, sha256, text_sha256, chars_full, chars_returned, truncated, chunk_key,
          start_char, end_char, line_start, line_end, preview)
   select ${RUN}, n, 'chunk', true, 'corpus/' || i % 5000 || '.md', ${SHA256}, ${SHA256}, 900, 900, false, md5(i || ' ' || n), 0, 900, 1, 9,
          repeat('It came back at dawn. ', 10)
     from ${NUMBERS}, generate_series(0, 5) n`,
  `insert into nightdesk_data.claims (run_id, draft, ordinal, text, grade, fate, reason, stands, number, path, start_char, end_char, line_start, line_end)
   select ${RUN}, 0, n, 'The ferry left at dusk.', 'supported', 'kept', 'verbatim', true, 1, 'corpus/1.md', 0, 9, 1, 1
     from ${NUMBERS}, generate_series(0, 1) n`,
  `insert into nightdesk_data.claim_checks (run_id, draft, claim, ordinal, rule, verdict, detail)
   select ${RUN}, 0, n, 0, 'verbatim', 'pass', 'stands there' from ${NUMBERS}, generate_series(0, 1) n`,
  `insert into nightdesk_data.figures (run_id, ordinal, kind, figure, stands_in, flagged)
   select ${RUN}, 0, 'number', '12', 'question', false from ${NUMBERS}`,
];

async function makeOldBatch(db: Database): Promise<void> {
  await db.query("insert into nightdesk_data.batches (name, state) values ('old', 'open')");
  for (let first = 1; first <= jobs; first += PORTION_JOBS) {
    const values = [first, Math.min(jobs, first + PORTION_JOBS - 1)];
    await db.transaction(async (transaction) => {
      // Neither foreign keys nor counts are at work: making the rows would take several times as long.
      await transaction.query("set local session_replication_role = replica");
      for (const statement of ROWS) await transaction.query(statement, values);
    });
  }
  await db.query(
    "update nightdesk_data.batches set state = 'completed', finished_at = now() - interval '40 days'",
  );
  await db.query(
    `insert into nightdesk_data.batch_counts (batch_id, shard, total, succeeded)
     select batch_id, 0, $1, $1 from nightdesk_data.batches`,
    [jobs],
  );
  await db.query("vacuum analyze");
}

const say = (what: string): void => {
  console.log(`${what}, load ${loadavg()[0]?.toFixed(1)}`);
};

/** Deletes `limit` jobs at most. @returns how many */
async function deleteJobs(db: Queryable, limit: number): Promise<number> {
  let deleted = 0;
  while (deleted < limit) {
    const retention = { olderThanMs: 86_400_000, only: "any" } as const;
    const slice = await deleteOldSlice(db, retention, SLICE_JOBS);
    if (slice.kind === "busy" || slice.of === null) break;
    deleted += slice.jobs;
  }
  return deleted;
}

async function measureDeletion(db: Database, topology: Topology): Promise<void> {
  const measured = async (how: string, run: () => Promise<number>) => {
    const { value, ms, usage } = await measure(marksOf(topology), run);
    const each = `${((ms * 1e3) / value).toFixed(0)} µs each`;
    say(`${value} jobs ${how}: ${(ms / 1e3).toFixed(1)} s, ${each}; ${describeUsage(usage)}`);
  };
  const role = `bench_${process.pid}`;
  await db.query(`create role ${role}`);
  await db.query(`grant usage on schema nightdesk_data to ${role}`);
  await db.query(`grant all on all tables in schema nightdesk_data to ${role}`);
  await measured("by foreign keys", () =>
    db.transaction(async (transaction) => {
      await transaction.query(`set local role ${role}`);
      return deleteJobs(transaction, jobs / 10);
    }),
  );
  await db.query(`drop owned by ${role}; drop role ${role}`);
  await measured("a table at a time", () => deleteJobs(db, jobs));
}

const bin = resolve(import.meta.dirname, "..", "bin", "nightdesk.js");
const WINDOW_MS = 10_000;
const WINDOWS = 6;
const FILES = 100;

async function measureQueue(db: Database, topology: Topology): Promise<void> {
  const { workroot, configFile } = topology;
  const folder = join(workroot, "allowed", "corpus");
  mkdirSync(folder, { recursive: true });
  for (let i = 0; i < FILES; i += 1) {
    writeFileSync(join(folder, `${i}.md`), `# Note ${i}\n\nThe ferry of day ${i} left at dusk.\n`);
  }
  const lines = Array.from({ length: 40_000 }, (_, i) => {
    const line = { kind: "summarize", path: `allowed/corpus/${i % FILES}.md` };
    return `${JSON.stringify(line)}\n`;
  });
  writeFileSync(join(workroot, "jobs.jsonl"), lines.join(""));
  await runCommand(topology, "enqueue", join(workroot, "jobs.jsonl"), "--batch-name", "new");
  const start = (...words: readonly string[]) =>
    spawn(process.execPath, [bin, ...words, "--config", configFile], {
      cwd: workroot,
      stdio: "ignore",
    });
  const end = async (child: ChildProcess) => {
    child.kill("SIGTERM");
    if (child.exitCode === null) await once(child, "exit");
  };
  const worker = start("worker", "--concurrency", "4");
  await setTimeout(WINDOW_MS);
  const rates: Record<"with" | "without", number[]> = { with: [], without: [] };
  const before = await countJobs(db);
  for (let window = 0; window < 2 * WINDOWS; window += 1) {
    const prune = window % 2 === 0 ? start("batch", "prune", "--older-than", "1d") : undefined;
    if (prune !== undefined) await setTimeout(3_000);
    const [from, startedAt] = [await countJobs(db), performance.now()];
    await setTimeout(WINDOW_MS);
    const ended = (await countJobs(db)).ended - from.ended;
    const rate = (ended * 1e3) / (performance.now() - startedAt);
    rates[prune === undefined ? "without" : "with"].push(rate);
    if (prune !== undefined) await end(prune);
  }
  await end(worker);
  const deleted = before.old - (await countJobs(db)).old;
  const median = (of: number[]) => of.sort((a, b) => a - b)[of.length >> 1]?.toFixed(1);
  const all = (of: number[]) => of.map((rate) => rate.toFixed(0)).join(" ");
  say(
    `jobs that end a second, with prune ${median(rates.with)} (${all(rates.with)}), without ${median(rates.without)} ` +
      `(${all(rates.without)}); ${deleted} jobs deleted meanwhile`,
  );
}

async function countJobs(db: Database): Promise<{ ended: number; old: number }> {
  const { rows } = await db.query(
    `select coalesce(sum(succeeded) filter (where name = 'new'), 0)::int as ended,
            coalesce(sum(total) filter (where name = 'old'), 0)::int as old
       from nightdesk_data.batch_counts join nightdesk_data.batches using (batch_id)`,
  );
  return rows[0] as { ended: number; old: number };
}

const isQueue = args.includes("--queue");
const services = isQueue ? "redis+postgres" : "postgres";
const topology = await startTopology(args.includes("--embedded") ? "embedded" : services);
const db = await topology.connect();
try {
  const startedAt = performance.now();
  await makeOldBatch(db);
  const { rows } = await db.query(
    "select pg_size_pretty(pg_database_size(current_database())) as size",
  );
  const [{ size }] = rows as [{ size: string }];
  say(`${jobs} jobs, ${size}, made in ${((performance.now() - startedAt) / 1e3).toFixed(1)} s`);
  await (isQueue ? measureQueue : measureDeletion)(db, topology);
} finally {
  await db.end();
  await topology.dispose();
}
