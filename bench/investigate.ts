// What an investigation costs: a step beside a whole question on the same worker and database in the same run, memory over
// many of them, and jobs that wait for a person. The host is a double that answers at once.
// node --expose-gc --import ./bench/register.js bench/investigate.ts [investigations, default 200] [waiting jobs, default 10000]
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { JobInput } from "../src/shared/job/job.ts";
import type { Database } from "../src/shared/store/connection/database.ts";
import {
  decideApproval,
  reconcileApprovals,
  requestApproval,
} from "../src/shared/store/investigations/approvals.ts";
import { openGrant } from "../src/shared/store/investigations/grants.ts";
import { beginToolStep } from "../src/shared/store/investigations/steps.ts";
import { claimJob } from "../src/shared/store/jobs/claim-job.ts";
import { dispatchDueJobs } from "../src/shared/store/jobs/dispatch.ts";
import { settleRun } from "../src/shared/store/jobs/settle-run.ts";
import { createRunJob } from "../src/worker/jobs/run-job.ts";
import { startWorker } from "../src/worker/start.ts";
import { askJob, EMPTY_RECORD, MADE_WITH, openBatchOf, WORKER } from "../tests/conformance/jobs.ts";
import { startTopology } from "../tests/conformance/topologies.ts";

const JOBS = Number(process.argv[2] ?? 200);
const WAITING = Number(process.argv[3] ?? 10_000);
const FINGERPRINT = "c".repeat(64);
const FILE = "allowed/corpus/ropes.md";
const CALLS = [
  { name: "list_files", args: {} },
  { name: "search_text", args: { text: "renews" } },
  { name: "read_text_file", args: { path: FILE } },
  { name: "calculate", args: { expression: "2 + 2" } },
];
const MODEL = { name: "instant:latest", model: "instant:latest", digest: "1".repeat(64) };
const IDLE_MS = 20_000;

const host = await startHost();
const topology = await startTopology("postgres", {
  model: { provider: "ollama", name: "instant", base_url: host.url, num_ctx: 8_192 },
  ask: { unsupported: "flag" },
  runs: { reuse: "never" },
});
const db = await topology.connect();
try {
  await mkdir(dirname(join(topology.workroot, FILE)), { recursive: true });
  await writeFile(
    join(topology.workroot, FILE),
    "# Ropes\n\nThe contract with Lind Ropes renews on 14 February 2027.\n",
  );
  const { context } = topology;
  let worker = await startWorker(context, 1, (database) => createRunJob(context, database));
  await work("warm-up", 10, investigation);
  await work("baseline, ask of one file", JOBS, question);
  await work("investigate, four calls of tools", JOBS, investigation);
  console.log("memory over investigations:");
  for (let at = 0; at < 4; at += 1) {
    await work(`  ${JOBS / 4} more`, JOBS / 4, investigation);
    console.log(`    ${memory()}`);
  }
  await idle("baseline, a worker with nothing to do");
  await worker.stop(0);
  await wait();
  worker = await startWorker(context, 1, (database) => createRunJob(context, database));
  await idle(`a worker while ${WAITING} jobs wait for a person`);
  await worker.stop(0);
  await decide();
} finally {
  await db.end();
  await topology.dispose();
  await host.close();
}

function question(at: number): JobInput {
  return { kind: "ask", question: `${at}: when does the contract in ${FILE} renew?` };
}

function investigation(at: number): JobInput {
  return { kind: "investigate", task: `${at}: which contract renews before March 2027?` };
}

type Cost = { readonly activeMs: number; readonly transactions: number; readonly bytes: number };

/** What the database did so far; its sessions tell their figures about once a second. */
async function cost(): Promise<Cost> {
  await sleep(2_500);
  const { rows } = await db.query(
    `select d.active_time::float8 as active, (d.xact_commit + d.xact_rollback)::int as transactions,
            (select sum(pg_total_relation_size(c.oid))::float8 from pg_class c join pg_namespace n on n.oid = c.relnamespace
              where n.nspname = 'nightdesk_data' and c.relkind = 'r') as bytes
       from pg_stat_database d where d.datname = current_database()`,
  );
  const row = rows[0] as { active: number; transactions: number; bytes: number };
  return { activeMs: row.active, transactions: row.transactions, bytes: row.bytes };
}

async function work(what: string, count: number, input: (at: number) => JobInput): Promise<void> {
  const before = await cost();
  const [cpu, startedAt] = [process.cpuUsage(), performance.now()];
  const { batchId } = await openBatchOf(
    db,
    Array.from({ length: count }, (_, at) => askJob(`job-${at}`, { input: input(at) })),
  );
  while ((await open(batchId)) > 0) await sleep(100);
  const ms = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  const after = await cost();
  const { rows } = await db.query(
    `select count(*) filter (where j.state = 'succeeded')::int as good,
            (select count(*)::int from nightdesk_data.steps s join nightdesk_data.jobs k using (job_id) where k.batch_id = $1) as steps
       from nightdesk_data.jobs j where j.batch_id = $1`,
    [batchId],
  );
  const { good, steps } = rows[0] as { good: number; steps: number };
  const units = [["a job", count] as const, ...(steps === 0 ? [] : [["a step", steps] as const])];
  console.log(`${what}: ${count} jobs, ${good} succeeded, ${steps} steps`);
  for (const [unit, of] of units) {
    const each = (value: number, digits = 1) => (value / of).toFixed(digits);
    console.log(
      `  ${unit}: ${each(ms)} ms, ${each((user + system) / 1_000)} ms of processor (worker and double), ` +
        `${each(after.activeMs - before.activeMs, 2)} ms in the database, ${each(after.transactions - before.transactions)} transactions, ` +
        `${each(after.bytes - before.bytes, 0)} bytes of tables and indexes`,
    );
  }
}

async function open(batchId: string): Promise<number> {
  const { rows } = await db.query(
    "select count(*)::int as n from nightdesk_data.jobs where batch_id = $1 and finished_at is null",
    [batchId],
  );
  return (rows[0] as { n: number }).n;
}

function memory(): string {
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  return `resident ${(rss / 1e6).toFixed(0)} MB, heap in use ${(heapUsed / 1e6).toFixed(1)} MB`;
}

/** Less what the measurement asks itself. */
async function idle(what: string): Promise<void> {
  await sleep(10_000);
  const before = await cost();
  await sleep(IDLE_MS);
  const after = await cost();
  const perMinute = ((after.transactions - before.transactions) * 60_000) / (IDLE_MS + 2_500);
  const active = ((after.activeMs - before.activeMs) * 60_000) / (IDLE_MS + 2_500);
  console.log(
    `${what}: ${perMinute.toFixed(0)} transactions a minute, ${active.toFixed(0)} ms of them in the database; ${memory()}`,
  );
}

/** Parks jobs on the same call, each as a worker would. */
async function wait(): Promise<void> {
  const [before, startedAt] = [await cost(), performance.now()];
  await openBatchOf(
    db,
    Array.from({ length: WAITING }, (_, at) => askJob(`wait-${at}`, { input: investigation(at) })),
  );
  let parked = 0;
  const park = async (delivery: Parameters<typeof claimJob>[1]): Promise<void> => {
    const run = await claimJob(db, delivery, WORKER);
    if (run === undefined) return;
    await parkRun(db, run);
    parked += 1;
  };
  for (;;) {
    const due = [...(await dispatchDueJobs(db, 200))];
    if (due.length === 0) break;
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        for (let next = due.shift(); next !== undefined; next = due.shift()) await park(next);
      }),
    );
  }
  const ms = performance.now() - startedAt;
  const after = await cost();
  console.log(
    `parked: ${parked} jobs, ${(ms / parked).toFixed(1)} ms each, ${((after.bytes - before.bytes) / parked).toFixed(0)} bytes of tables and indexes each`,
  );
  const { rows } = await db.query(
    `select (select count(*) from nightdesk_data.jobs where state = 'parked')::int as jobs,
            (select count(*) from nightdesk_data.approvals)::int as approvals, (select count(*) from nightdesk_data.steps where state = 'waiting')::int as steps,
            (select count(*) from nightdesk_data.grants where ended_at is null)::int as grants`,
  );
  console.log(`  rows: ${JSON.stringify(rows[0])}`);
}

async function parkRun(
  database: Database,
  run: { readonly jobId: string; readonly runId: string },
): Promise<void> {
  await openGrant(database, run, {
    preset: "bench",
    presetSha256: "a".repeat(64),
    tools: ["shell"],
    roots: [],
    limits: { maxSteps: 60, maxCalls: 30, maxTokens: 500_000, maxSeconds: 3_600 },
  });
  await beginToolStep(database, run, {
    ordinal: 0,
    name: "shell",
    effect: "exec",
    state: "waiting",
    args: { command: "git log" },
    argsSha256: "b".repeat(64),
    detail: { move: "other" },
  });
  await requestApproval(database, run, {
    step: 0,
    fingerprint: FINGERPRINT,
    tool: "shell",
    executor: "bubblewrap",
    args: { command: "git log" },
    risks: [],
    preview: "git log",
    expiresInSeconds: 259_200,
  });
  await settleRun(
    database,
    { runId: run.runId, runMs: 1, ...MADE_WITH },
    {
      kind: "parked",
      code: "APPROVAL_PENDING",
      message: "Somebody has to approve it.",
      delayMs: 0,
      host: null,
      waitingFor: "approval",
    },
    EMPTY_RECORD,
  );
}

/** How long the upkeep takes, and one decision that answers all of them. */
async function decide(): Promise<void> {
  const timed = async <T>(what: string, run: () => Promise<T>): Promise<T> => {
    const startedAt = performance.now();
    const value = await run();
    console.log(
      `${what}: ${(performance.now() - startedAt).toFixed(1)} ms ${JSON.stringify(value)}`,
    );
    return value;
  };
  await timed("baseline, a bare round trip", () => db.query("select 1").then(() => null));
  await timed("reconcileApprovals", () => reconcileApprovals(db));
  await timed("reconcileApprovals again", () => reconcileApprovals(db));
  const { rows } = await db.query(
    "select approval_id from nightdesk_data.approvals where state = 'waiting' limit 1",
  );
  const [first] = rows as { approval_id: string }[];
  await timed("one decision", () =>
    decideApproval(db, first?.approval_id ?? "", {
      verdict: "approve",
      scope: "once",
      reason: null,
      decidedBy: "bench",
      expiresInSeconds: null,
    }),
  );
}

/** A host of Ollama's protocol: it makes the next of the calls, then ends; any other prompt it answers. */
async function startHost(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      response.setHeader("content-type", "application/json");
      response.end(`${JSON.stringify(replyTo(request.url ?? "", body))}\n`);
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections();
        server.close(() => {
          closed();
        });
      }),
  };
}

function replyTo(url: string, body: string): object {
  switch (url) {
    case "/api/version":
      return { version: "0.32.15" };
    case "/api/tags":
    case "/api/ps":
      return { models: [MODEL] };
    case "/api/show":
      return {
        capabilities: ["completion"],
        details: { quantization_level: "Q4_K_M" },
        model_info: { "general.architecture": "x", "x.context_length": 8_192 },
      };
    default:
      return {
        model: MODEL.name,
        created_at: "2026-01-01T00:00:00Z",
        message: { role: "assistant", content: contentFor(body) },
        done: true,
        done_reason: "stop",
        prompt_eval_count: 500,
        eval_count: 20,
      };
  }
}

function contentFor(body: string): string {
  if (body.includes("You look into a question with tools")) {
    const done = body.match(/Step \d+: /g)?.length ?? 0;
    const next = CALLS[done];
    return next === undefined ? '{"type":"end"}' : JSON.stringify({ type: "tool_call", ...next });
  }
  if (!/<<<EVIDENCE [0-9a-f]{32} \[1\]/.test(body)) {
    return JSON.stringify({ type: "tool_call", name: "read_text_file", args: { path: FILE } });
  }
  return body.includes('"claims"')
    ? JSON.stringify({
        claims: [
          {
            text: "The contract with Lind Ropes renews on 14 February 2027.",
            cites: [1],
            quote: "renews on 14 February 2027",
          },
        ],
      })
    : "The contract with Lind Ropes renews on 14 February 2027 [1].";
}
