import { closeSync, openSync, writeSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import type { Database } from "../src/shared/store/connection/database.ts";
import { dispatchDueJobs } from "../src/shared/store/jobs/dispatch.ts";
import { countHeldBackJobs } from "../src/shared/store/jobs/loads.ts";
import { findBatch, selectProblems } from "../src/shared/views/batches.ts";
import { startTopology } from "../tests/conformance/topologies.ts";
import type { TopologyName } from "../tests/conformance/topologies.ts";
import { describeRun, runCommand } from "./batch-command.ts";

const PORTION_LINES = 10_000;

/** What a batch of so many jobs costs beside the work itself: to queue, look at, cancel, repeat and delete it. */
export async function measureScale(name: TopologyName, rows: number): Promise<void> {
  const topology = await startTopology(name);
  const { workroot } = topology;
  const db = await topology.connect();
  const run = (...words: readonly string[]) => runCommand(topology, ...words);
  const say = (what: string, result: string) => {
    console.log(`${name}, ${rows.toLocaleString("en-US")} jobs: ${what}: ${result}`);
  };
  try {
    console.log(`load before: ${loadavg()[0]?.toFixed(1)}`);
    const file = join(workroot, "jobs.jsonl");
    writeLines(file, rows);
    const enqueued = await run("enqueue", file, "--batch-name", "many");
    say("enqueue", `${Math.round(rows / (enqueued.ms / 1_000))} jobs/s, ${describeRun(enqueued)}`);
    await db.query("analyze");

    say("batch show, queued, SQL", await timed(() => showBatch(db)));
    say("batch show, queued, command", describeRun(await run("batch", "show", "many")));
    say("batch list, command", describeRun(await run("batch", "list")));
    say("one dispatch of 1,000", await timed(() => dispatchOnce(db)));
    for (const [what, statement] of QUERIES) say(what, await timed(() => db.query(statement)));

    say("cancel", describeRun(await run("batch", "cancel", "many")));
    await untilClosed(db);
    await db.query("analyze");
    say("batch show, all cancelled, SQL", await timed(() => showBatch(db)));
    for (const [what, statement] of QUERIES) {
      say(`${what}, ended`, await timed(() => db.query(statement)));
    }
    const where = ["--where", "state=cancelled"] as const;
    say("rerun --dry-run", describeRun(await run("batch", "rerun", "many", ...where, "--dry-run")));
    say(
      "rerun",
      describeRun(await run("batch", "rerun", "many", ...where, "--batch-name", "again")),
    );
    await db.query(
      "update nightdesk_data.batches set finished_at = now() - interval '40 days' where name = 'many'",
    );
    say("prune", describeRun(await run("batch", "prune", "--older-than", "30d")));
  } finally {
    await db.end();
    await topology.dispose();
  }
}

function writeLines(file: string, rows: number): void {
  const descriptor = openSync(file, "w");
  for (let from = 0; from < rows; from += PORTION_LINES) {
    const lines = Array.from({ length: Math.min(PORTION_LINES, rows - from) }, (_, index) => {
      const number = from + index;
      const custom_id = `job ${number}`;
      return number % 2 === 0
        ? { custom_id, kind: "ask", question: `What do the notes say about day ${number}?` }
        : { custom_id, kind: "summarize", path: `allowed/corpus/notes/${number}.md` };
    });
    writeSync(descriptor, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  }
  closeSync(descriptor);
}

/** What `batch show` asks of the database. */
async function showBatch(db: Database): Promise<void> {
  const batch = await findBatch(db, "many");
  if (batch === undefined) throw new Error("the batch is not there");
  await selectProblems(db, batch.batchId);
  await countHeldBackJobs(db, batch.batchId);
}

async function dispatchOnce(db: Database): Promise<void> {
  await dispatchDueJobs(db, 1_000);
  await db.query(
    "update nightdesk_data.jobs set dispatched_at = null where dispatched_at is not null",
  );
}

const QUERIES: readonly (readonly [string, string])[] = [
  ["results, newest 50", "select * from nightdesk.results order by finished_at desc limit 50"],
  [
    "results, newest 50 that ended",
    "select * from nightdesk.results where finished_at is not null order by finished_at desc limit 50",
  ],
  [
    "results by batch and state",
    "select * from nightdesk.results where batch = 'many' and state = 'failed' limit 50",
  ],
  ["results by custom_id", "select * from nightdesk.results where custom_id = 'job 4711'"],
  [
    "results by batch and custom_id",
    "select * from nightdesk.results where batch = 'many' and custom_id = 'job 4711'",
  ],
  [
    "results by kind and state",
    "select * from nightdesk.results where kind = 'ask' and state = 'refused' order by finished_at desc limit 50",
  ],
  ["batch_progress", "select * from nightdesk.batch_progress where batch = 'many'"],
];

/** A large batch is closed at once, and its jobs are ended in slices: by the command, or by a worker. */
async function untilClosed(db: Database): Promise<void> {
  await db.query(
    `update nightdesk_data.jobs set state = 'cancelled', cancel_requested = true, finished_at = clock_timestamp(),
            error_code = 'CANCELLED', error_message = 'Cancelled before it ran.', dispatched_at = null
      where state = 'queued'`,
  );
}

const TIMES = 5;

/** Median of several times, in ms. */
async function timed(body: () => Promise<unknown>): Promise<string> {
  const times: number[] = [];
  for (let i = 0; i < TIMES; i += 1) {
    const startedAt = performance.now();
    await body();
    times.push(performance.now() - startedAt);
  }
  times.sort((a, b) => a - b);
  return `${(times[Math.floor(TIMES / 2)] ?? 0).toFixed(1)} ms`;
}
