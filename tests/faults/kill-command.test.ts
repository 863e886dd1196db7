import { execFile } from "node:child_process";
import { open, writeFile } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { hasCode } from "../../src/shared/store/connection/errors.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { JOBS_CHANNEL } from "../../src/shared/store/jobs/batches.ts";
import { queueScheduleRun } from "../../src/shared/store/schedules/schedule-runs.ts";
import { describeOn } from "../support/describe-on.ts";
import { startBin } from "../support/run-bin.ts";
import type { Running } from "../support/run-bin.ts";
import { countOf, expireLease, rowOf } from "../conformance/jobs.ts";
import { eventually } from "../conformance/signal.ts";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";

/** Less than what is left of the lease of a worker that died. */
const BEFORE_THE_LEASE_ENDS_MS = 9_000;

// Commands never go through the queue.
describeOn("postgres", "the command of a schedule", (name) => {
  const closers: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  async function startWorker({ workroot }: Topology, env = {}): Promise<Running> {
    const worker = startBin(["worker", "--log-level", "info"], { cwd: workroot, env });
    closers.push(() => {
      worker.kill("SIGKILL");
      return worker.ended;
    });
    await worker.said(/worker ready/);
    return worker;
  }

  async function queueCommand(db: Database, ...command: string[]): Promise<string> {
    const made = await queueScheduleRun(
      db,
      { name: "nightly", timezone: "UTC", command },
      new Date(),
      "by_hand",
    );
    const { rows } = await db.query("select job_id from nightdesk_data.jobs where batch_id = $1", [
      made?.batchId,
    ]);
    return (rows as { job_id: string }[])[0]?.job_id ?? "";
  }

  const makeDue = async (db: Database, jobId: string) => {
    await db.query("update nightdesk_data.jobs set due_at = now() where job_id = $1", [jobId]);
    await db.query(`select pg_notify('${JOBS_CHANNEL}', '')`);
  };

  test("reaches the database that only the environment of its worker names", async () => {
    const topology = await startTopology(name);
    closers.push(() => topology.dispose());
    const db = await topology.connect();
    closers.push(() => db.end());
    const { config } = topology.context;
    const elsewhere = { url: "postgres://nobody@127.0.0.1:1/none" };
    await writeFile(
      topology.configFile,
      stringify({ extends: "nightdesk:embedded", database: elsewhere }),
    );
    await startWorker(topology, { DATABASE_URL: config.database.url });
    const jobId = await queueCommand(db, "batch", "list");
    await makeDue(db, jobId);
    const state = async () => (await rowOf(db, jobId))["state"];
    await eventually("the command has ended", async () =>
      ["succeeded", "failed"].includes(String(await state())),
    );
    expect(await state()).toBe("succeeded");
  });

  test("ends with a worker that is killed, before another one runs it again", async () => {
    const topology = await startTopology(name);
    closers.push(() => topology.dispose());
    const db = await topology.connect();
    closers.push(() => db.end());
    // Opened by the command as it starts, and closed by the system when it ends.
    const pipe = join(topology.workroot, "jobs.jsonl");
    await promisify(execFile)("mkfifo", [pipe]);
    const jobId = await queueCommand(db, "enqueue", pipe, "--batch-name", "tonight");

    const first = await startWorker(topology);
    const toFirst = await open(pipe, "w");
    first.kill("SIGKILL");
    await first.ended;
    await eventually(
      "the first command has ended",
      () => isUnread(toFirst),
      BEFORE_THE_LEASE_ENDS_MS,
    );
    await toFirst.close();
    expect(await rowOf(db, jobId)).toMatchObject({ state: "running", attempt: 1 });

    await expireLease(db, jobId);
    await startWorker(topology);
    // It may be taken again before anybody sees it queued.
    await eventually(
      "it is taken back",
      async () =>
        (await countOf(db, "nightdesk_data.runs where job_id = $1 and state = 'lost'", [jobId])) ===
        1,
    );
    await makeDue(db, jobId);
    const toSecond = await open(pipe, "w");
    await toSecond.write('{"kind":"ask","question":"Who mends the brakes?"}\n');
    await toSecond.close();
    await eventually("it is done", async () => (await rowOf(db, jobId))["state"] === "succeeded");
    expect(await rowOf(db, jobId)).toMatchObject({ attempt: 2 });
    expect(await countOf(db, "nightdesk.results where batch = 'tonight'")).toBe(1);
  }, 60_000);
});

/** Whether nobody reads a pipe any more; a blank line says nothing to who does. */
async function isUnread(pipe: FileHandle): Promise<boolean> {
  try {
    await pipe.write("\n");
    return false;
  } catch (error) {
    if (hasCode(error, "EPIPE")) return true;
    throw error;
  }
}
