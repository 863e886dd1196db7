import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import OpenAI from "openai";
import type { Config } from "../../../src/shared/config/schema.ts";
import type { Database } from "../../../src/shared/store/connection/database.ts";
import { decideApproval } from "../../../src/shared/store/investigations/approvals.ts";
import {
  completeBatches,
  findOrCreateBatch,
  BATCH_ORIGINS,
  JOBS_CHANNEL,
  openBatch,
} from "../../../src/shared/store/jobs/batches.ts";
import { claimJob } from "../../../src/shared/store/jobs/claim-job.ts";
import { dispatchDueJobs } from "../../../src/shared/store/jobs/dispatch.ts";
import { insertJobs } from "../../../src/shared/store/jobs/insert-jobs.ts";
import { holdBackJobs } from "../../../src/shared/store/jobs/loads.ts";
import { listBatches, selectBatchNames } from "../../../src/shared/views/batches.ts";
import { listRuns } from "../../../src/shared/views/runs.ts";
import { selectOldBatches } from "../../../src/shared/store/jobs/retention.ts";
import { registerHook, selectHookCalls } from "../../../src/shared/store/schedules/hook-calls.ts";
import { waitUntilIdle } from "../../../src/worker/connect.ts";
import { createRunJob } from "../../../src/worker/jobs/run-job.ts";
import { startWorker } from "../../../src/worker/start.ts";
import type { RunningWorker } from "../../../src/worker/start.ts";
import { askJob, countOf, dispatchOf, expireLease, WORKER } from "../../conformance/jobs.ts";
import { eventually } from "../../conformance/signal.ts";
import { startTopology, databases } from "../../conformance/topologies.ts";
import type { Topology } from "../../conformance/topologies.ts";
import { askAbout, investigationsOf } from "../../support/waiting-investigations.ts";

const WORKERS_ENVIRONMENT = {
  PATH: process.env["PATH"],
  LC_ALL: "C",
  NIGHTDESK_LOG_LEVEL: "warn",
  DATABASE_URL: "postgres://night:s3cret@db/nd",
  REDIS_URL_FILE: "/run/secrets/redis",
  HOOK_API_KEY: "s3cret",
  PGPASSWORD: "s3cret",
};

/** Writes down the id that it is told; the first time it does not end after that. */
const ONCE_ASLEEP =
  'echo "$NIGHTDESK_EVENT_ID" >> ids; [ "$(wc -l < ids)" -gt 1 ] || exec sleep 60';

/** The shell makes the file before it writes to it, and may be stopped between the two. */
const hasLine = async (file: string): Promise<boolean> =>
  existsSync(file) && (await readFile(file, "utf8")).endsWith("\n");

type Called = {
  readonly key: unknown;
  readonly body: Record<string, unknown>;
  readonly auth: unknown;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
};
const NOT_CALLED: Called = { key: null, auth: null, body: {}, headers: {}, text: "" };
type Reply = (response: ServerResponse) => void;

const status =
  (code: number, headers: Record<string, string> = {}): Reply =>
  (response) => {
    response.writeHead(code, headers).end("thanks");
  };

describe.each(databases)("the hook at the end of a batch, on %s", (name) => {
  let topology: Topology;
  let db: Database;
  let server: Server;
  let url: string;
  let calls: Called[];
  let replies: Reply[];
  const workers: RunningWorker[] = [];

  beforeAll(async () => {
    topology = await startTopology(name);
    db = await topology.connect();
    server = createServer((request, response) => {
      void take(request).then((called) => {
        calls.push(called);
        (replies.shift() ?? status(200))(response);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    calls = [];
    replies = [];
  });
  afterEach(async () => {
    await stopAll();
    await db.query("delete from nightdesk_data.batches");
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await db.end();
    await topology.dispose();
  });

  const stopAll = () => Promise.all(workers.splice(0).map((worker) => worker.stop(0)));

  async function start(settings: Partial<Config["on_batch_end"]>): Promise<void> {
    const { config } = topology.context;
    const onBatchEnd = {
      ...config.on_batch_end,
      allowed_networks: ["127.0.0.1"],
      ...settings,
    };
    const context = {
      ...topology.context,
      config: { ...config, on_batch_end: onBatchEnd },
      invocation: { ...topology.context.invocation, env: WORKERS_ENVIRONMENT },
    };
    workers.push(await startWorker(context, 1, (database) => createRunJob(context, database)));
    await eventually("the hook is registered", async () => {
      const { rows } = await db.query("select targets, origins from nightdesk_data.batch_end_hook");
      const [{ targets, origins }] = rows as [{ targets: string[]; origins: string[] }];
      const wanted = Number(onBatchEnd.command !== null) + Number(onBatchEnd.webhook !== null);
      return targets.length === wanted && isDeepStrictEqual(origins, onBatchEnd.origins);
    });
  }
  const wake = () => db.query(`select pg_notify('${JOBS_CHANNEL}', '')`);
  const loadBatch = async (origin: "file" | "ad_hoc", ...customIds: readonly string[]) => {
    const { batchId } = await findOrCreateBatch(db, `batch ${randomUUID()}`, origin);
    const ids = await insertJobs(
      db,
      batchId,
      customIds.map((customId) => askJob(customId)),
    );
    return { batchId, jobIds: [...ids.values()] };
  };
  /** A batch of two jobs that failed. They end before it is opened: nobody is to run them. */
  async function endBatch(origin: "file" | "ad_hoc" = "file"): Promise<string> {
    const { batchId, jobIds } = await loadBatch(origin, "a", "b");
    await endJobs(jobIds);
    await openBatch(db, batchId);
    return batchId;
  }
  const endJobs = (jobIds: readonly string[]) =>
    db.query(
      `update nightdesk_data.jobs set state = 'failed', error_code = 'MODEL_NOT_FOUND', error_message = 'm',
              started_at = now(), finished_at = now() where job_id = any($1::uuid[])`,
      [jobIds],
    );
  const callOf = async (batchId: string) => (await selectHookCalls(db, batchId))[0];
  const stateIs = (batchId: string, state: string) =>
    eventually(`the call is ${state}`, async () => (await callOf(batchId))?.state === state);
  const triedTimes = (batchId: string, tries: number) =>
    eventually(
      `${tries} tries have ended`,
      async () => (await callOf(batchId))?.tries === tries && (await inHand()) === 0,
    );
  const inHand = async () =>
    Number(
      (
        (
          await db.query(
            "select count(*) as n from nightdesk_data.jobs where kind = 'notify' and state = 'running'",
          )
        ).rows[0] as { n: string }
      ).n,
    );
  const makeDue = async () => {
    await db.query("update nightdesk_data.jobs set due_at = now() where kind = 'notify'");
    await wake();
  };
  /** The job that tells of the end of a batch. */
  const jobOf = async (batchId: string): Promise<string> => {
    const { rows } = await db.query(
      "select job_id from nightdesk_data.jobs where input->>'batch_id' = $1",
      [batchId],
    );
    return (rows as { job_id: string }[])[0]?.job_id ?? "";
  };

  test("of three workers one calls, once, with all that is known and a key", async () => {
    for (let i = 0; i < 3; i += 1) await start({ webhook: `${url}/told` });
    const batchId = await endBatch();
    await stateIs(batchId, "done");
    await wake();
    expect(calls).toHaveLength(1);
    const [{ key, body } = NOT_CALLED] = calls;
    expect(key).toBe(`${batchId}-${String(body["finished_at"])}`);
    expect(body["event_id"]).toBe(key);
    expect(body).toMatchObject({
      event: "batch_end",
      batch_id: batchId,
      origin: "file",
      state: "completed",
      total: 2,
      counts: { failed: 2, succeeded: 0 },
      usage: { prompt_tokens: 0, completion_tokens: 0 },
      problems: [{ state: "failed", error_code: "MODEL_NOT_FOUND", jobs: 2 }],
      report: `nightdesk batch report '${String(body["batch"])}'`,
    });
    expect(await callOf(batchId)).toMatchObject({
      state: "done",
      status: 200,
      tries: 1,
      error: null,
    });
  });

  test("is signed by the secret of the configuration, at each try by the same id", async () => {
    const key = randomBytes(32);
    replies = [status(503)];
    await start({ webhook: url, secret: `whsec_${key.toString("base64")}` });
    const batchId = await endBatch();
    await triedTimes(batchId, 1);
    await makeDue();
    await stateIs(batchId, "done");
    const ids = calls.map(({ headers, text }) => {
      const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signature } = headers;
      // As the specification of Standard Webhooks has it, for symmetric keys.
      const expected = createHmac("sha256", key).update(`${String(id)}.${String(at)}.${text}`);
      expect(signature).toBe(`v1,${expected.digest("base64")}`);
      expect(Math.abs(Number(at) - Date.now() / 1_000)).toBeLessThan(300);
      return id;
    });
    expect(ids).toEqual([expect.stringMatching(/^[\w-]+$/), ids[0]]);
    const openai = new OpenAI({ apiKey: "none" });
    const [{ text, headers } = NOT_CALLED] = calls;
    const secret = `whsec_${key.toString("base64")}`;
    await openai.webhooks.verifySignature(text, headers, secret);
    await expect(
      openai.webhooks.verifySignature(`${text} `, headers as Record<string, string>, secret),
    ).rejects.toThrow();
  });

  test("a batch that is opened again and ends again calls again, with another key", async () => {
    await start({ webhook: url });
    const batchId = await endBatch();
    await stateIs(batchId, "done");
    await db.query(
      "update nightdesk_data.batches set state = 'open', finished_at = null where batch_id = $1",
      [batchId],
    );
    await completeBatches(db, batchId);
    await eventually("it is called again", async () => calls.length === 2);
    expect(new Set(calls.map(({ key }) => key)).size).toBe(2);
  });

  test("an end that nobody was told of before the batch was opened again is not told", async () => {
    await start({ webhook: url });
    await stopAll();
    const batchId = await endBatch();
    const further = await insertJobs(db, batchId, [askJob("c")]);
    await holdBackJobs(db, [...further.values()]);
    await db.query(
      "update nightdesk_data.batches set state = 'open', finished_at = null where batch_id = $1",
      [batchId],
    );
    await start({ webhook: url });
    await stateIs(batchId, "superseded");
    expect(calls).toEqual([]);
  });

  test("a batch of a single job that somebody waited for is not told, unless it is asked for", async () => {
    await start({ webhook: url });
    const silent = await endBatch("ad_hoc");
    const told = await endBatch();
    await stateIs(told, "done");
    expect(await callOf(silent)).toBeUndefined();
    await stopAll();
    await start({ webhook: url, origins: ["ad_hoc"] });
    await eventually("its origin is registered", async () => {
      await stateIs(await endBatch("ad_hoc"), "done");
      return true;
    });
  });

  test("a batch that is empty, and one that is cancelled when its last job has stopped, are told, too", async () => {
    await start({ webhook: url });
    const { batchId: empty } = await findOrCreateBatch(db, "empty", "file");
    await openBatch(db, empty);
    await stateIs(empty, "done");
    const { batchId, jobIds } = await loadBatch("file", "a");
    await db.query(
      `with run as (insert into nightdesk_data.runs (run_id, job_id, attempt, worker_id)
                    values (gen_random_uuid(), $1, 1, gen_random_uuid()) returning run_id, worker_id)
       update nightdesk_data.jobs set state = 'running', run_id = run.run_id, worker_id = run.worker_id, started_at = now(),
              lease_until = now() + interval '1 h' from run where job_id = $1`,
      [jobIds[0]],
    );
    await openBatch(db, batchId);
    await db.query(
      "update nightdesk_data.batches set state = 'cancelled', finished_at = now() where batch_id = $1",
      [batchId],
    );
    const other = await endBatch();
    await stateIs(other, "done");
    expect(await callOf(batchId)).toMatchObject({ state: "pending", tries: 0 });
    await db.query(
      `update nightdesk_data.jobs set state = 'cancelled', cancel_requested = true, lease_until = null, finished_at = now(),
              error_code = 'CANCELLED', error_message = 'm' where batch_id = $1`,
      [batchId],
    );
    await wake();
    await stateIs(batchId, "done");
  });

  test("500 and then 200 is done at the second try, with the same key", async () => {
    replies.push(status(500));
    await start({ webhook: url });
    const batchId = await endBatch();
    await triedTimes(batchId, 1);
    expect(await callOf(batchId)).toMatchObject({ state: "pending", status: 500 });
    await makeDue();
    await stateIs(batchId, "done");
    expect(calls).toHaveLength(2);
    expect(calls[0]?.key).toBe(calls[1]?.key);
  });

  test("who does not answer in time is tried three times, and a secret of the URL is nowhere", async () => {
    const hangs: Reply = () => undefined;
    replies.push(hangs, hangs, hangs);
    await start({ webhook: `${url}/services/T0/s3cret?token=s3cret`, timeout_s: 0.2 });
    const batchId = await endBatch();
    for (const tries of [1, 2]) {
      await triedTimes(batchId, tries);
      await makeDue();
    }
    await stateIs(batchId, "failed");
    const { error } = (await callOf(batchId)) ?? {};
    expect(error).toBe(`${url}/*** did not answer within 0.2 s (on_batch_end.timeout_s)`);
    expect(calls).toHaveLength(3);
  });

  test.each([
    [
      "a redirect is not followed",
      () => status(302, { location: `${url}/elsewhere` }),
      "302, a redirect",
    ],
    ["a refusal is final", () => status(404), "answered 404"],
  ])("%s", async (_, reply, error) => {
    replies.push(reply());
    await start({ webhook: url });
    const batchId = await endBatch();
    await stateIs(batchId, "failed");
    expect(calls).toHaveLength(1);
    expect((await callOf(batchId))?.error).toContain(error);
  });

  test("a user in the URL is sent as such", async () => {
    await start({ webhook: url.replace("//", "//night:s%3Acret@") });
    await stateIs(await endBatch(), "done");
    expect(calls[0]?.auth).toBe(`Basic ${Buffer.from("night:s:cret").toString("base64")}`);
  });

  test("a host that nobody is at is tried again", async () => {
    await start({ webhook: "http://127.0.0.1:1/" });
    const batchId = await endBatch();
    await triedTimes(batchId, 1);
    expect(await callOf(batchId)).toMatchObject({
      state: "pending",
      status: null,
      error: expect.stringMatching(/^http:\/\/127\.0\.0\.1:1\/ could not be reached/),
    });
  });

  test("a command gets the same as one line on stdin, in the work root", async () => {
    await start({ command: ["sh", "-c", "cat > told.json"] });
    const batchId = await endBatch();
    await stateIs(batchId, "done");
    const told = await readFile(join(topology.workroot, "told.json"), "utf8");
    expect(JSON.parse(told)).toMatchObject({ event: "batch_end", batch_id: batchId });
    expect(told.trimEnd()).not.toContain("\n");
  });

  test("a command gets the id that a webhook gets, and an environment without secrets", async () => {
    await start({ webhook: url, command: ["sh", "-c", "cat > event.json; env > env.txt"] });
    const batchId = await endBatch();
    await eventually("both are told", async () =>
      (await selectHookCalls(db, batchId)).every(({ state }) => state === "done"),
    );
    const event: unknown = JSON.parse(
      await readFile(join(topology.workroot, "event.json"), "utf8"),
    );
    expect(event).toMatchObject({ event_id: calls[0]?.key });
    const variables = (await readFile(join(topology.workroot, "env.txt"), "utf8"))
      .trimEnd()
      .split("\n")
      .filter((line) => !/^(?:PWD|OLDPWD|SHLVL|_)=/.test(line));
    expect(variables.sort()).toEqual([
      "LC_ALL=C",
      `NIGHTDESK_EVENT_ID=${String(calls[0]?.key)}`,
      "NIGHTDESK_LOG_LEVEL=warn",
      `PATH=${process.env["PATH"] ?? ""}`,
    ]);
  });

  test("a command that is told again after a kill gets the same id", async () => {
    // The first time it is as with a worker that dies after it has told, and before it has written so.
    await start({ command: ["sh", "-c", ONCE_ASLEEP] });
    const batchId = await endBatch();
    const ids = join(topology.workroot, "ids");
    await eventually("it is told", () => hasLine(ids));
    await expireLease(db, await jobOf(batchId));
    await stateIs(batchId, "done");
    const [first, second] = (await readFile(ids, "utf8")).split("\n");
    expect(first).toMatch(new RegExp(`^${batchId}-`));
    expect(second).toBe(first);
    await rm(ids);
  });

  test.each([
    ["this machine", "http://127.0.0.1:1/hook", "127.0.0.1 is a loopback address"],
    ["the metadata of a cloud", "http://169.254.169.254/latest", "is a link-local address"],
    [
      "a name of this machine",
      "http://localhost:1/hook",
      "localhost leads to the loopback address",
    ],
  ])(
    "a webhook that leads to %s is not called unless it is configured",
    async (_, webhook, why) => {
      await start({ webhook, allowed_networks: [] });
      const batchId = await endBatch();
      await stateIs(batchId, "failed");
      const { tries, error } = (await callOf(batchId)) ?? {};
      expect(tries).toBe(1);
      expect(error).toContain(why);
      expect(error).toContain("add its network to on_batch_end.allowed_networks");
      expect(error).not.toMatch(/\/(?:hook|latest)/);
    },
  );

  test.each([
    [
      "that fails",
      ["sh", "-c", "echo no printer >&2; exit 9"],
      9,
      "ended with exit code 9; its last line: no printer",
    ],
    ["that is not there", ["/nowhere/tell"], null, "could not be started"],
    [
      "that does not end",
      ["sh", "-c", "sleep 60"],
      null,
      "did not end within 1 s (on_batch_end.timeout_s)",
    ],
  ])("a command %s is not repeated, and its end is kept", async (_, command, exit, error) => {
    await start({ command, timeout_s: 1 });
    const batchId = await endBatch();
    await stateIs(batchId, "failed");
    expect(await callOf(batchId)).toMatchObject({
      tries: 1,
      status: exit,
      error: expect.stringContaining(error),
    });
  });

  test("a command that a worker which stops had to end is told again by the next one, with the same id", async () => {
    await start({ command: ["sh", "-c", ONCE_ASLEEP] });
    const batchId = await endBatch();
    const ids = join(topology.workroot, "ids");
    await eventually("the command runs", () => hasLine(ids));
    await stopAll();
    expect(await callOf(batchId)).toMatchObject({ state: "pending", tries: 0, error: null });
    await start({ command: ["sh", "-c", ONCE_ASLEEP] });
    await stateIs(batchId, "done");
    const [first, second] = (await readFile(ids, "utf8")).split("\n");
    expect(second).toBe(first);
    await rm(ids);
  });

  test("a call of a worker that died is made by another", async () => {
    await start({ webhook: url });
    await stopAll();
    const batchId = await endBatch();
    const jobId = await jobOf(batchId);
    await claimJob(db, { jobId, dispatch: await dispatchOf(db, jobId) }, WORKER);
    await expireLease(db, jobId);
    await start({ webhook: url });
    await stateIs(batchId, "done");
    expect(calls).toHaveLength(1);
  });

  test("a worker that is not configured for a target leaves it to one that is", async () => {
    await start({ webhook: url });
    await stopAll();
    const batchId = await endBatch();
    await start({ command: ["true"] });
    const other = await endBatch();
    await stateIs(other, "done");
    expect(await callOf(batchId)).toMatchObject({ state: "pending", tries: 0 });
    await stopAll();
    await start({ webhook: url });
    await stateIs(batchId, "done");
  });

  test("a worker that drains tells what it can before it ends, and leaves the rest to others", async () => {
    await start({ webhook: url });
    await stopAll();
    const left = await endBatch();
    await start({ command: ["sleep", "1"] });
    const batchId = await endBatch();
    const [worker] = workers;
    if (worker === undefined) throw new Error("no worker");
    await waitUntilIdle(worker, new AbortController().signal);
    expect(await callOf(batchId)).toMatchObject({ target: "command", state: "done" });
    expect(await callOf(left)).toMatchObject({ target: "webhook", state: "pending" });
  });

  test("a program that hangs keeps neither a job of the queue nor the webhook waiting", async () => {
    await start({ webhook: url, command: ["sleep", "60"], timeout_s: 30 });
    const batchId = await endBatch();
    await eventually("the program runs", async () => (await inHand()) > 0);
    const { batchId: later, jobIds } = await loadBatch("file", "a");
    await openBatch(db, later);
    await eventually("the job has ended", async () => {
      const { rows } = await db.query(
        "select finished_at from nightdesk_data.jobs where job_id = $1",
        [jobIds[0]],
      );
      return (rows[0] as { finished_at: Date | null }).finished_at !== null;
    });
    await eventually("the webhook is told", async () => calls.length > 0);
    expect(calls[0]?.body["batch_id"]).toBe(batchId);
    expect(await inHand()).toBeGreaterThan(0);
  });

  test("what tells of a batch is in no list, view or count, is held by nothing, and goes with the batch", async () => {
    await start({ webhook: "http://127.0.0.1:1/" });
    const batchId = await endBatch();
    await triedTimes(batchId, 1);
    const visible = async (view: string) =>
      countOf(db, `nightdesk.${view} where to_jsonb(${view}) ->> 'batch_id' is distinct from $1`, [
        batchId,
      ]);
    for (const view of ["results", "failures", "runs", "run_events", "batch_progress"]) {
      expect([view, await visible(view)]).toEqual([view, 0]);
    }
    expect(await countOf(db, "nightdesk.throughput where kind = 'notify'")).toBe(0);
    expect(await listBatches(db, BATCH_ORIGINS, 10)).toHaveLength(1);
    expect(await listRuns(db, null, 10)).toEqual([]);
    expect(await selectBatchNames(db, 10)).toHaveLength(1);
    const retention = { olderThanMs: -60_000, only: "any" } as const;
    expect(await selectOldBatches(db, retention, 10)).toMatchObject([{ batchId, jobs: 2 }]);
    await db.query("delete from nightdesk_data.batches where batch_id = $1", [batchId]);
    expect(await countOf(db, "nightdesk_data.jobs")).toBe(0);
  });

  describe("a batch that waits for a person", () => {
    const GIT = { fingerprint: "d".repeat(64) };
    /** Jobs of a batch that ask at the same moment. */
    const askAtOnce = async (jobs: number) => {
      await registerHook(db, ["webhook"], topology.context.config.on_batch_end.origins);
      const batch = await investigationsOf(db, `batch ${randomUUID()}`, jobs);
      // One dispatcher at a time: all that began at once would not find theirs dispatched.
      await dispatchDueJobs(db, 10_000);
      await Promise.all(batch.jobIds.map((jobId) => askAbout(db, jobId, GIT)));
      return batch;
    };
    const answer = async (batchId: string) => {
      const { rows } = await db.query(
        "select approval_id from nightdesk.approvals where batch_id = $1 and state = 'waiting' limit 1",
        [batchId],
      );
      await decideApproval(db, (rows[0] as { approval_id: string }).approval_id, {
        verdict: "deny",
        scope: "once",
        reason: "No.",
        decidedBy: "Ada",
        expiresInSeconds: null,
      });
    };

    test("is told of once, whichever workers park its jobs and tell", async () => {
      const { batchId, jobIds } = await askAtOnce(4);
      for (let at = 0; at < 3; at += 1) await start({ webhook: url });
      await eventually("it is told", async () => calls.length > 0);
      const { key, body } = calls[0] ?? NOT_CALLED;
      expect(key).toBe(`${batchId}-approval_needed`);
      expect(body).toMatchObject({
        event: "approval_needed",
        batch_id: batchId,
        total: 4,
        counts: { parked: 4 },
        waiting: [{ tool: "shell", risks: [], runs: 4 }],
        uncertain: 0,
        review: expect.stringContaining("nightdesk approvals review --batch 'batch "),
      });
      expect(JSON.stringify(body)).not.toContain("git log");
      // Another job that comes to wait tells nothing: it is once a batch.
      await stopAll();
      await answer(batchId);
      await db.query(
        "update nightdesk_data.steps set state = 'denied', ended_at = now() where job_id = $1",
        [jobIds[0]],
      );
      expect(await askAbout(db, jobIds[0] ?? "", { ...GIT, step: 1 })).toBe("waiting");
      const { rows } = await db.query(
        "select event, state from nightdesk.hooks where batch_id = $1",
        [batchId],
      );
      expect(rows).toEqual([{ event: "approval_needed", state: "done" }]);
      expect(calls).toHaveLength(1);
    });

    test("is not told of where somebody has answered first", async () => {
      const { batchId } = await askAtOnce(1);
      await answer(batchId);
      await start({ webhook: url });
      await eventually("it is seen", async () => {
        const { rows } = await db.query("select state from nightdesk.hooks where batch_id = $1", [
          batchId,
        ]);
        return (rows[0] as { state: string } | undefined)?.state === "superseded";
      });
      expect(calls.filter(({ body }) => body["event"] === "approval_needed")).toEqual([]);
    });
  });

  test("without a hook nothing is kept", async () => {
    await start({});
    expect(await callOf(await endBatch())).toBeUndefined();
  });
});

async function take(request: IncomingMessage): Promise<Called> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  const { "idempotency-key": key, authorization: auth } = request.headers;
  return { key, auth, body: JSON.parse(text) as Called["body"], headers: request.headers, text };
}
