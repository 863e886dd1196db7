// What the slot of a host, a reservation and its settlement add to a call of a model: two statements, beside two bare
// round trips to the same server in the same run.
// node --import ./bench/register.js bench/pacing.ts [calls, default 2000]
import { randomUUID } from "node:crypto";
import { findOrCreateBatch, openBatch } from "../src/shared/store/jobs/batches.ts";
import { claimJob } from "../src/shared/store/jobs/claim-job.ts";
import { dispatchDueJobs } from "../src/shared/store/jobs/dispatch.ts";
import { insertJobs } from "../src/shared/store/jobs/insert-jobs.ts";
import { endCall, takeCall } from "../src/shared/store/hosts/calls.ts";
import type { CallCost } from "../src/shared/store/hosts/calls.ts";
import { enterHost } from "../src/shared/store/hosts/hosts.ts";
import { createFreshDatabase } from "./fresh-database.ts";

const HOST = "http://bench:11434";
const SLOTS = 4;
const calls = Number(process.argv[2] ?? 2_000);
const limits = { tokens: 10 ** 12, calls: 10 ** 9, seconds: null };
const cost: CallCost = {
  tokens: 1_500,
  night: { date: "2026-11-21", endsAt: new Date("2026-11-22T11:00:00Z") },
  perBatch: limits,
  perNight: limits,
};
const fresh = await createFreshDatabase();
const { db } = fresh;

try {
  await enterHost(db, { host: HOST, provider: "ollama", parallel: SLOTS });
  const runs = await claimRuns(SLOTS);
  const trip = async () => {
    await db.query("select 1");
    await db.query("select 1");
  };
  const update = async () => {
    await db.query("update bare set n = n + 1");
    await db.query("update bare set n = n + 1");
  };
  await db.query("create table bare (n bigint)");
  await db.query("insert into bare values (0)");
  const call = async (runId: string) => {
    const ticket = randomUUID();
    const { outcome } = await takeCall(db, { ticket, runId, host: HOST }, cost);
    if (outcome !== "taken") throw new Error(`no slot: ${outcome}`);
    await endCall(db, ticket, { answer: "answered", calls: 1, tokens: 900, seconds: 2 });
  };
  const [first = ""] = runs;
  await measure("warm-up", 1, () => call(first));
  await measure("baseline, two bare round trips, one after another", 1, trip);
  await measure("baseline, one row updated twice, one after another", 1, update);
  await measure("slot and reservation, one after another", 1, () => call(first));
  await measure(`baseline, ${SLOTS} at once`, SLOTS, trip);
  await measure(`slot and reservation, ${SLOTS} at once`, SLOTS, (lane) => call(runs[lane] ?? ""));
} finally {
  await fresh.drop();
}

async function claimRuns(count: number): Promise<string[]> {
  const { batchId } = await findOrCreateBatch(db, "bench", "file");
  const jobs = Array.from({ length: count }, (_, i) => ({
    customId: `${i}`,
    input: { kind: "chat" as const, prompt: "Hi" },
    inputSha256: "a".repeat(64),
    priority: 0,
  }));
  await insertJobs(db, batchId, jobs);
  await openBatch(db, batchId);
  const runIds: string[] = [];
  for (const delivery of await dispatchDueJobs(db, count)) {
    const job = await claimJob(db, delivery, randomUUID());
    if (job !== undefined) runIds.push(job.runId);
  }
  // A claim lasts 15 s without renewal, and this is not a worker.
  await db.query(
    "update nightdesk_data.jobs set lease_until = now() + interval '1 h' where state = 'running'",
  );
  return runIds;
}

async function measure(
  what: string,
  lanes: number,
  body: (lane: number) => Promise<void>,
): Promise<void> {
  const took: number[] = [];
  const run = async (lane: number) => {
    for (let done = 0; done < calls / lanes; done += 1) {
      const startedAt = performance.now();
      await body(lane);
      took.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, lane) => run(lane)));
  took.sort((a, b) => a - b);
  const at = (part: number) => (took[Math.floor(took.length * part)] ?? 0).toFixed(2);
  console.log(`${what}: least ${at(0)} ms, median ${at(0.5)} ms, p95 ${at(0.95)} ms`);
}
