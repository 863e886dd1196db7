import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import pg from "pg";
import { formatBroken } from "../../src/embedded/open-database.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";
import type { Outcome } from "../../src/shared/job/run-result.ts";
import { exitCodeOf } from "../../src/shared/commands/report-failure.ts";
import { settleError } from "../../src/shared/job/settlement.ts";
import { storageFaultOf } from "../../src/shared/store/connection/errors.ts";
import { ensureEmbedded, isDiskFull } from "../../src/shared/store/embedded/embedded-process.ts";
import { startWorker } from "../../src/worker/start.ts";
import type { RunningWorker } from "../../src/worker/start.ts";
import { jsonLine, runBin } from "../support/run-bin.ts";
import { answered, askJob, countOf, openBatchOf, rowOf } from "../conformance/jobs.ts";
import { eventually, signal } from "../conformance/signal.ts";
import { startTopology, topologies } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";

const FIRST = { attempt: 1, maxAttempts: 1, parks: 0, brokenCalls: 0 };
const FULL = 'could not extend file "base/5/1249": No space left on device';
const errorWith = (code: string, message: string) => Object.assign(new Error(message), { code });

test.each([
  ["a server's disk_full", errorWith("53100", FULL), "DISK_FULL"],
  ["a file's ENOSPC", errorWith("ENOSPC", "ENOSPC: no space left on device, write"), "DISK_FULL"],
  ["a quota", errorWith("EDQUOT", "EDQUOT: disk quota exceeded, write"), "DISK_FULL"],
  [
    "a server that takes no writes",
    errorWith("25006", "cannot execute UPDATE in a read-only transaction"),
    "DATABASE_READ_ONLY",
  ],
])("%s parks a job, and is 69 to a command", (_, error, code) => {
  expect(settleError(error, FIRST)).toMatchObject({ kind: "parked", code, host: null });
  expect(exitCodeOf(error)).toBe(69);
});

test("no other error is one", () => {
  for (const error of [errorWith("42P01", "no such table"), new Error("full"), "ENOSPC", null]) {
    expect(storageFaultOf(error)).toBeUndefined();
  }
});

test("an embedded database on a full disk is not called broken", () => {
  const words = formatBroken(
    "/desk/.nightdesk",
    `could not write to file "pg_wal/xlogtemp.7": No space left on device`,
  );
  expect(words).toMatch(/^The disk is full\. .*nothing has to be restored\.$/);
  expect(words).not.toContain("nightdesk restore");
});

test.each([
  `could not open file "pg_wal/000000010000000000000001": Permission denied`,
  "EACCES: permission denied, scandir '/desk/.nightdesk/pgdata'",
])("an embedded database of another user is not called broken: %s", (reason) => {
  const words = formatBroken("/desk/.nightdesk", reason);
  expect(words).toContain(`is closed to this user: ${reason}. Give this user`);
  expect(words).not.toContain("nightdesk restore");
});

test("an embedded database that can't start on a full disk says to free some space", async () => {
  const directory = await mkdtemp(join(tmpdir(), "nightdesk-full-"));
  const bin = join(directory, "bin.js");
  const failing = async (words: string) => {
    await writeFile(bin, `process.stderr.write(${JSON.stringify(words)}); process.exit(1);`);
    return ensureEmbedded({ directory, create: "create", bin }).catch((error: unknown) => error);
  };
  try {
    expect(await failing("ENOSPC: no space left on device, write")).toMatchObject({
      code: "DISK_FULL",
      message: expect.stringMatching(/write\. Free some space there\. Its log is /),
    });
    expect(await failing("")).toMatchObject({ code: "DATABASE_UNREACHABLE" });
    // No byte is free there, to any user.
    expect([await isDiskFull("/proc"), await isDiskFull(directory)]).toEqual([true, false]);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test("an embedded database whose package is being installed is not called broken", () => {
  const words = formatBroken(
    "/desk/.nightdesk",
    "Cannot find module '/n/pglite/dist/fs/nodefs.js' imported from /n/pglite/dist/chunk.js",
  );
  expect(words).toMatch(
    /^A package that it needs is not there: .*npm ci.*nothing has to be restored\.$/,
  );
  expect(words).not.toContain("nightdesk restore");
});

const hasServer = topologies.includes("postgres");

(hasServer ? describe : describe.skip)("a server that can't store anything", () => {
  let topology: Topology;
  let db: Database;
  let maintenance: pg.Client;
  let worker: RunningWorker | undefined;
  beforeAll(async () => {
    topology = await startTopology("postgres");
    db = await topology.connect();
    maintenance = new pg.Client({ connectionString: process.env["TEST_DATABASE_URL"] ?? "" });
    await maintenance.connect();
  });
  afterEach(async () => {
    await beReadOnly("off");
    await worker?.stop(0);
    worker = undefined;
    await db.query("delete from nightdesk_data.batches");
    await db.query("delete from nightdesk_data.workers");
  });
  afterAll(async () => {
    await maintenance.end();
    await db.end();
    await topology.dispose();
  });

  /** As a primary is that became a standby: what is connected has to connect again. */
  async function beReadOnly(how: "on" | "off"): Promise<void> {
    const name = new URL(topology.context.config.database.url).pathname.slice(1);
    await maintenance.query(`alter database ${name} set default_transaction_read_only = ${how}`);
    await topology.breakConnections();
    await eventually("it is connected again", async () =>
      db.query("select 1").then(
        () => true,
        () => false,
      ),
    );
  }
  const start = async (work: () => Promise<Outcome>): Promise<void> => {
    worker = await startWorker(topology.context, 2, () => work);
  };
  const stateIs = (jobId: string, state: string) =>
    eventually(`it is ${state}`, async () => (await rowOf(db, jobId))["state"] === state);

  test("has results wait for as long as it is read-only, and costs no attempt", async () => {
    const [begun, reply] = [signal(), signal()];
    await start(async () => {
      begun.resolve();
      await reply.promise;
      return answered("yes");
    });
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    await begun.promise;
    await beReadOnly("on");
    reply.resolve();
    // Longer than a lease, and than a database that is away is waited for.
    await sleep(20_000);
    expect((await rowOf(db, jobIds[0] ?? ""))["state"]).toBe("running");
    await beReadOnly("off");
    await stateIs(jobIds[0] ?? "", "succeeded");
    expect(await rowOf(db, jobIds[0] ?? "")).toMatchObject({ attempt: 1, losses: 0 });
    expect(await countOf(db, "nightdesk_data.runs")).toBe(1);
  });

  test("has a result wait that its full disk does not take, and costs no attempt", async () => {
    await db.query(
      `create function public.full_disk() returns trigger language plpgsql as
         $$ begin raise exception '${FULL.replaceAll("'", "''")}' using errcode = '53100'; end $$`,
    );
    await db.query(
      "create trigger full_disk before update of state on nightdesk_data.runs for each row execute function public.full_disk()",
    );
    const done = signal();
    await start(async () => {
      done.resolve();
      return answered("yes");
    });
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    await done.promise;
    await sleep(1_000);
    expect((await rowOf(db, jobIds[0] ?? ""))["state"]).toBe("running");
    await db.query("drop function public.full_disk cascade");
    await stateIs(jobIds[0] ?? "", "succeeded");
    expect(await rowOf(db, jobIds[0] ?? "")).toMatchObject({ attempt: 1, losses: 0 });
  });

  test("parks a job whose work meets the full disk, and names it in batch show", async () => {
    await start(async () => {
      throw errorWith("53100", FULL);
    });
    const { batchId, jobIds } = await openBatchOf(db, [askJob("a")]);
    await stateIs(jobIds[0] ?? "", "parked");
    expect(await rowOf(db, jobIds[0] ?? "")).toMatchObject({ error_code: "DISK_FULL", attempt: 0 });
    const shown = await runBin(["batch", "show", batchId], { cwd: topology.workroot });
    expect(shown.stdout).toContain("DISK_FULL, 1 job parked");
    expect(shown.stdout).toContain("The disk is full");
  });

  test("is named by batch show and by a command that writes", async () => {
    const { batchId } = await openBatchOf(db, [askJob("a")]);
    const show = (...more: readonly string[]) =>
      runBin(["batch", "show", batchId, ...more], { cwd: topology.workroot });
    expect((await show()).stdout).toContain(
      "stopped   no worker alive: start one with: nightdesk worker\n",
    );
    await beReadOnly("on");
    expect((await show()).stdout).toContain("stopped   database read-only: ");
    expect(jsonLine(await show("--json"))["obstacles"]).toMatchObject([
      { what: "database_read_only", error_code: "DATABASE_READ_ONLY" },
      { what: "no_worker", error_code: null },
    ]);
    const asked = await runBin(["ask", "What?", "--wait", "--json"], { cwd: topology.workroot });
    expect(asked.code).toBe(69);
    expect(jsonLine(asked)).toMatchObject({ ok: false, error_code: "DATABASE_READ_ONLY" });
  });
});

(topologies.includes("redis+postgres") ? describe : describe.skip)("without its Redis", () => {
  let topology: Topology;
  beforeAll(async () => {
    topology = await startTopology("redis+postgres");
  });
  afterAll(() => topology.dispose());

  test("a single question ends with QUEUE_UNREACHABLE and stays queued, and batch show says so", async () => {
    const env = { REDIS_URL: "redis://127.0.0.1:1" };
    const asked = await runBin(["ask", "What?", "--wait", "--json"], {
      cwd: topology.workroot,
      env,
    });
    expect(asked.code).toBe(69);
    const failure = jsonLine(asked);
    expect(failure).toMatchObject({ ok: false, error_code: "QUEUE_UNREACHABLE" });
    const [, batch = ""] =
      /nightdesk batch wait "([^"]+)"$/.exec(String(failure["error_message"])) ?? [];
    const shown = await runBin(["batch", "show", batch, "--json"], { cwd: topology.workroot, env });
    expect(jsonLine(shown)).toMatchObject({
      queued: 1,
      obstacles: [{ what: "no_queue", error_code: "QUEUE_UNREACHABLE" }, { what: "no_worker" }],
    });
  });
});
