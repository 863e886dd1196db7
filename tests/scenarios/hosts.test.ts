import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { pino } from "pino";
import { stringify } from "yaml";
import { loadConfig } from "../../src/shared/config/load-config.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";
import type { NewJob } from "../../src/shared/store/jobs/insert-jobs.ts";
import { createRunJob } from "../../src/worker/jobs/run-job.ts";
import { startWorker } from "../../src/worker/start.ts";
import type { RunningWorker } from "../../src/worker/start.ts";
import { countOf, openBatchOf } from "../conformance/jobs.ts";
import { eventually, signal } from "../conformance/signal.ts";
import type { Signal } from "../conformance/signal.ts";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { startOllamaDouble } from "../doubles/ollama-server.ts";
import type { OllamaDouble } from "../doubles/ollama-server.ts";
import { startOpenAiDouble } from "../doubles/openai-server.ts";
import type { OpenAiDouble } from "../doubles/openai-server.ts";
import { describeOn } from "../support/describe-on.ts";
import { startGatedHost } from "../support/gated-host.ts";
import type { GatedHost } from "../support/gated-host.ts";
import { runBin } from "../support/run-bin.ts";
import { runCommand } from "../support/run-command.ts";

const KEY = "sk-scenario-0123456789";
const HEADER = "header-secret-9876";

const chat = (customId: string, model?: string): NewJob => ({
  customId,
  input: {
    kind: "chat",
    prompt: `Say ${customId}`,
    max_tokens: 20,
    ...(model === undefined ? {} : { model }),
  },
  inputSha256: randomUUID().replaceAll("-", "").repeat(2),
  priority: 0,
});
const chats = (count: number, model?: string) =>
  Array.from({ length: count }, (_, i) => chat(`${i}`, model));

/** What a batch has spent by its budget, and by its hosts. */
type Held = {
  readonly money_used: number;
  readonly money_reserved: number;
  readonly spent: number;
};

// Its queue keeps jobs in tables beside ours, which are searched for keys as well.
describeOn("postgres", "hosts", (name) => {
  let topology: Topology;
  let db: Database;
  let attic: OllamaDouble;
  let keyed: OpenAiDouble;
  let gate: GatedHost;
  /** While it is there, the attic replies to nobody. */
  let held: Signal | undefined;
  let refusals: { status: number; headers: Record<string, string>; body: object }[] = [];
  const workers: RunningWorker[] = [];
  const said: string[] = [];

  beforeAll(async () => {
    topology = await startTopology(name);
    db = await topology.connect();
    attic = await startOllamaDouble({
      models: [
        { name: "small", respond: () => ({ text: "done", ...(held && { after: held.promise }) }) },
        { name: "only-attic", respond: () => "done" },
      ],
      numParallel: 64,
    });
    keyed = await startOpenAiDouble({
      models: [{ name: "weights.gguf", respond: () => ({ text: "done" }) }],
      numParallel: 64,
    });
    gate = await startGatedHost(keyed.url, {
      key: KEY,
      answer: (path) => (path.endsWith("/completions") ? refusals.shift() : undefined),
    });
  });
  afterEach(async () => {
    held?.resolve();
    held = undefined;
    await Promise.all(workers.splice(0).map((worker) => worker.stop(0)));
    await db.query("delete from nightdesk_data.batches");
    await db.query("delete from nightdesk_data.hosts");
    await db.query("delete from nightdesk_data.nights");
    refusals = [];
    await attic.comeBack().catch(() => undefined);
  });
  afterAll(async () => {
    await Promise.all([attic.close(), gate.close(), keyed.close()]);
    await db.end();
    await topology.dispose();
  });

  const atticHost = { name: "attic", kind: "ollama" };
  const rentedHost = {
    name: "rented",
    kind: "openai",
    key_env: "RENTED_KEY",
    headers: { "X-Team": HEADER },
    models: { small: "weights.gguf" },
  };
  type Changes = {
    readonly attic?: object;
    readonly rented?: object;
    readonly more?: object;
    readonly env?: Record<string, string>;
  };
  async function start({ attic: a, rented: r, more, env }: Changes = {}): Promise<void> {
    const file = `${topology.configFile}.${workers.length}.yaml`;
    const hosts = [
      { ...atticHost, url: attic.url, ...a },
      { ...rentedHost, url: gate.url, ...r },
    ];
    await writeFile(
      file,
      stringify({
        extends: topology.configFile,
        model: { provider: "hosts", name: "small", parallel: 4, breaker_failures: 2 },
        hosts,
        runs: { reuse: "never" },
        log: { level: "debug" },
        ...more,
      }),
    );
    const { packageRoot } = topology.context.invocation;
    const flags = { config: file, workroot: topology.workroot };
    const config = await loadConfig({ flags, env: {}, cwd: topology.workroot, packageRoot });
    const invocation = { ...topology.context.invocation, env: env ?? { RENTED_KEY: KEY } };
    const logger = pino({ level: "debug" }, { write: (line: string) => said.push(line) });
    const context = { ...topology.context, invocation, config, logger };
    workers.push(
      await startWorker(context, 4, (database) =>
        createRunJob(context, database, { sleep: async () => undefined }),
      ),
    );
  }
  const batchIs = (batchId: string, what: string, expected: Readonly<Record<string, unknown>>) =>
    eventually(what, async () => {
      const { rows } = await db.query(
        "select * from nightdesk.batch_progress where batch_id = $1",
        [batchId],
      );
      const batch = rows[0] as Record<string, unknown>;
      return Object.entries(expected).every(([key, value]) => batch[key] === value);
    });
  const callsAt = async (host: string): Promise<number> => {
    const { rows } = await db.query(
      "select coalesce(sum(calls), 0)::int as calls from nightdesk.host_nights where name = $1",
      [host],
    );
    return (rows[0] as { calls: number }).calls;
  };

  test("of one priority share the work, each by its own name of the model and with its own key", async () => {
    await start();
    const { batchId } = await openBatchOf(db, chats(40));
    await batchIs(batchId, "all are done", { state: "completed", succeeded: "40" });
    expect((await callsAt("attic")) + (await callsAt("rented"))).toBe(40);
    expect(await callsAt("attic")).toBeGreaterThan(0);
    expect(await callsAt("rented")).toBeGreaterThan(0);
    expect(keyed.chats()[0]?.body).toMatchObject({ model: "weights.gguf" });
    expect(gate.calls.every(({ headers }) => headers["x-team"] === HEADER)).toBe(true);
    // Results name the model as jobs do.
    expect(await countOf(db, "nightdesk.results where model = 'small'")).toBe(40);
  });

  test("a model that one host has goes there alone", async () => {
    await start({ rented: { priority: 0 }, attic: { priority: 5 } });
    const { batchId } = await openBatchOf(db, chats(6, "only-attic"));
    await batchIs(batchId, "all are done", { state: "completed", succeeded: "6" });
    expect(await callsAt("attic")).toBe(6);
    expect(await callsAt("rented")).toBe(0);
  });

  test.each([1, 2])(
    "jobs of %i workers overflow to the next while all slots of the first are in use",
    async (count) => {
      held = signal();
      // Of four jobs of each worker one is at the first host, and the next has a slot for each of the others.
      const rented = { priority: 10, parallel: 4 * count - 1 };
      for (let at = 0; at < count; at += 1) await start({ attic: { parallel: 1 }, rented });
      const { batchId } = await openBatchOf(db, chats(20));
      await batchIs(batchId, "all but one are done", { succeeded: "19", running: "1" });
      held.resolve();
      await batchIs(batchId, "all are done", { state: "completed", succeeded: "20" });
      expect([await callsAt("attic"), await callsAt("rented")]).toEqual([1, 19]);
    },
  );

  test.each([
    ["has a price", { price_in: 0.3, price_out: 0.9 }],
    ["is told not to", { overflow: false }],
  ])("jobs wait for the first where the next %s", async (_, rented) => {
    held = signal();
    const before = completions();
    await start({ attic: { parallel: 1 }, rented: { priority: 10, ...rented } });
    const { batchId } = await openBatchOf(db, chats(6));
    await eventually("one is asked and the others of the worker wait", async () => {
      const waiting = await countOf(db, "nightdesk_data.host_waiters");
      return waiting === 3 && (await callsInUse()) === 1;
    });
    expect(completions()).toBe(before);
    held.resolve();
    await batchIs(batchId, "all are done", { state: "completed", succeeded: "6" });
    expect([await callsAt("attic"), await callsAt("rented")]).toEqual([6, 0]);
  });
  const completions = () => gate.calls.filter(({ path }) => path.endsWith("/completions")).length;
  const callsInUse = () => countOf(db, "nightdesk_data.host_slots where ticket is not null");

  test("a host that goes down moves its jobs to the next, and none of them fails", async () => {
    await start({ attic: { priority: 0 }, rented: { priority: 1, overflow: false } });
    const first = await openBatchOf(db, chats(8));
    await batchIs(first.batchId, "all are done", { state: "completed", succeeded: "8" });
    expect(await callsAt("rented")).toBe(0);
    await attic.goDown();
    const second = await openBatchOf(db, chats(30));
    await batchIs(second.batchId, "all are done elsewhere", {
      state: "completed",
      succeeded: "30",
    });
    expect(await callsAt("rented")).toBe(30);
    expect(await countOf(db, "nightdesk_data.jobs where attempt > 1")).toBe(0);
  });

  test("a key that is refused, or missing, moves the jobs too, and no message holds it", async () => {
    await start({
      attic: { priority: 3 },
      env: { RENTED_KEY: "sk-wrong-key-0000000000" },
    });
    const { batchId } = await openBatchOf(db, chats(10));
    await batchIs(batchId, "all are done", { state: "completed", succeeded: "10" });
    const { rows } = await db.query(
      "select error_message from nightdesk.hosts where name = 'rented'",
    );
    expect((rows[0] as { error_message: string }).error_message).toContain("hosts: rented");
    await holdsNoSecret("sk-wrong-key-0000000000");
  });

  test("one that asks to be left alone is, and its jobs go to the next", async () => {
    refusals = [
      {
        status: 429,
        headers: { "retry-after": "120" },
        body: { error: { message: "Rate limit reached" } },
      },
    ];
    await start({ attic: { priority: 3 } });
    const { batchId } = await openBatchOf(db, chats(12));
    await batchIs(batchId, "all are done", { state: "completed", succeeded: "12" });
    const { rows } = await db.query(
      "select state, failures, extract(epoch from next_call_at - now())::int as seconds from nightdesk.hosts where name = 'rented'",
    );
    const [rented] = rows as { state: string; failures: number; seconds: number }[];
    expect(rented).toMatchObject({ state: "closed", failures: 0 });
    expect(rented?.seconds).toBeGreaterThan(60);
    expect(await callsAt("attic")).toBeGreaterThan(0);
  });

  test("calls of all workers together keep to the calls of a minute", async () => {
    const only = { attic: { requests_per_minute: 120, models: ["small"] } };
    await start({ ...only, rented: { models: ["other"] } });
    await start({ ...only, rented: { models: ["other"] } });
    const { batchId } = await openBatchOf(db, chats(7));
    await batchIs(batchId, "all are done", { state: "completed", succeeded: "7" });
    const { rows } = await db.query(
      `select extract(epoch from max(begun) - min(begun))::float as seconds
         from (select created_at - duration_ms * interval '1 ms' as begun from nightdesk_data.model_calls) call`,
    );
    // Seven calls, half a second apart.
    expect((rows[0] as { seconds: number }).seconds).toBeGreaterThan(2.5);
  });

  test("a budget of money holds the batch before it is passed", async () => {
    await start({
      attic: { price_in: 1_000, price_out: 2_000 },
      rented: { models: ["other"] },
      more: { budgets: { money: 0.3 } },
    });
    const { batchId } = await openBatchOf(db, chats(30));
    // The first calls cost less than was reserved for them: it is held and goes on many times before it is held for good.
    let budget: Held | undefined;
    await eventually("it is held", async () => {
      const { rows } = await db.query(
        `select money_used, money_reserved, (select sum(money) from nightdesk.host_nights) as spent
           from nightdesk.budgets join nightdesk.batch_progress using (batch_id)
          where batch_id = $1 and hold_reason = 'budget' and running = 0`,
        [batchId],
      );
      [budget] = rows as Held[];
      return budget !== undefined;
    });
    expect(budget?.money_used).toBeGreaterThan(0);
    expect(budget?.money_used).toBeLessThanOrEqual(0.3);
    expect(budget?.money_reserved).toBeCloseTo(0);
    expect(budget?.spent).toBeCloseTo(budget?.money_used ?? -1);
    const raised = await runCommand(["batch", "budget", batchId, "--money", "50"], {
      cwd: topology.workroot,
    });
    expect(raised).toMatchObject({ code: 0 });
    await batchIs(batchId, "it goes on", { state: "completed" });
  });

  /** Rows of every table, what was logged, and what commands print. */
  async function holdsNoSecret(...secrets: readonly string[]): Promise<void> {
    const { rows: tables } = await db.query(
      "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('nightdesk_data', 'bullmq')",
    );
    const texts = [...said];
    for (const { name: table } of tables as { name: string }[]) {
      const { rows } = await db.query(`select to_jsonb(t)::text as row from ${table} t`);
      texts.push(...(rows as { row: string }[]).map(({ row }) => row));
    }
    const file = `${topology.configFile}.0.yaml`;
    const place = { cwd: topology.workroot, env: { RENTED_KEY: KEY } };
    for (const words of [
      ["config", "show"],
      ["config", "show", "--json"],
      ["hosts", "list"],
      ["hosts", "list", "--json"],
      ["doctor"],
      ["sql", "select * from hosts", "--format", "json"],
    ]) {
      const { stdout, stderr } = await runCommand([...words, "--config", file], place);
      texts.push(stdout, stderr);
    }
    // What a process logs goes past its streams.
    const { stdout, stderr } = await runBin(["doctor", "--json", "--config", file], place);
    texts.push(stdout, stderr);
    expect(await readFile(file, "utf8")).toContain(HEADER);
    expect(texts.length).toBeGreaterThan(20);
    for (const secret of secrets) {
      expect(texts.filter((text) => text.includes(secret))).toEqual([]);
    }
  }

  test("keys and headers stand in no row, log, listing or report of a fault", async () => {
    await start();
    const { batchId } = await openBatchOf(db, chats(8));
    await batchIs(batchId, "all are done", { state: "completed", succeeded: "8" });
    await holdsNoSecret(KEY, HEADER);
  });
});
