import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { connectDatabase } from "../../src/shared/store/connection/connect.ts";
import { askJob, countOf, openBatchOf } from "../conformance/jobs.ts";
import { startTopology, topologies } from "../conformance/topologies.ts";
import type { Topology, TopologyName } from "../conformance/topologies.ts";
import { jsonLine, runBin } from "../support/run-bin.ts";
import { hasPooler, startPooler } from "./pooler.ts";
import type { Pooler } from "./pooler.ts";
import { expectWorked } from "./work-batch.ts";

const JOBS = 20;

/** Through the real PgBouncer, which has no more sessions than five for all. */
function describeBehind(
  mode: "transaction" | "session",
  name: TopologyName,
  tests: (world: () => World) => void,
): void {
  const block = hasPooler() && topologies.includes(name) ? describe : describe.skip;
  block(`behind PgBouncer in ${mode} mode on ${name}`, () => {
    let world: World;
    beforeAll(async () => {
      const topology = await startTopology(name);
      const { url } = topology.context.config.database;
      const pooler = await startPooler(url, mode);
      world = { topology, pooler, direct: url, onlooker: await topology.connect() };
    });
    afterAll(async () => {
      await world.onlooker.end();
      await world.pooler.close();
      await world.topology.dispose();
    });
    tests(() => world);
  });
}

type World = {
  readonly topology: Topology;
  readonly pooler: Pooler;
  readonly direct: string;
  /** Past the pooler. */
  readonly onlooker: Database;
};

/** The context of who knows the pooler, and past it what is given. */
const contextOf = ({ topology, pooler }: World, directUrl: string | null) => {
  const { context } = topology;
  const database = { ...context.config.database, url: pooler.url, direct_url: directUrl };
  return { ...context, config: { ...context.config, database } };
};

describeBehind("transaction", "redis+postgres", (world) => {
  test("a worker does its jobs, and hears by asking what is queued later", async () => {
    await expectWorked(contextOf(world(), null), world().onlooker, JOBS);
  }, 60_000);

  test("sessions are told as shared, and a statement of a job has no name there", async () => {
    const { context } = world().topology;
    const database = await connectDatabase({
      config: contextOf(world(), null).config,
      packageRoot: context.invocation.packageRoot,
      create: "must-exist",
      onError: () => undefined,
    });
    expect(await database.sharesSessions()).toBe(true);
    await Promise.all(
      Array.from({ length: 30 }, () => database.query("select $1::int", [1], "named")),
    );
    await database.end();
    const named = "select count(*)::int as named from pg_prepared_statements";
    expect((await world().onlooker.query(named)).rows).toEqual([{ named: 0 }]);
    expect(await world().onlooker.sharesSessions()).toBe(false);
  });

  test("a question is worked from the command line, and the doctor finds the queue", async () => {
    const { topology, pooler } = world();
    const place = { cwd: topology.workroot, env: { DATABASE_URL: pooler.url } };
    expect((await runBin(["ask", "What does the Bear burn?"], place)).code).toBe(0);
    expect((await runBin(["worker", "--drain"], place)).code).toBe(0);
    const left = "nightdesk_data.jobs where finished_at is null";
    expect(await countOf(world().onlooker, left, [])).toBe(0);
    const doctor = await runBin(["doctor", "--json", "--no-ollama"], place);
    expect(doctor.stdout).toContain("DOCTOR_QUEUE_OK");
  }, 60_000);
});

describeBehind("transaction", "postgres", (world) => {
  test("worker, doctor and batch show name the pooler and the key", async () => {
    const { topology, pooler, onlooker } = world();
    const { batchId } = await openBatchOf(onlooker, [askJob("waits")]);
    const place = { cwd: topology.workroot, env: { DATABASE_URL: pooler.url } };
    const [worker, doctor, shown] = await Promise.all([
      runBin(["worker", "--json"], place),
      runBin(["doctor", "--json", "--no-ollama"], place),
      runBin(["batch", "show", batchId, "--json"], place),
    ]);
    expect(worker.code).toBe(78);
    expect(jsonLine(worker)).toMatchObject({ ok: false, error_code: "CONFIG_ERROR" });
    expect(jsonLine(doctor)["checks"]).toContainEqual(
      expect.objectContaining({ error_code: "DOCTOR_QUEUE_UNUSABLE", level: "fail" }),
    );
    expect(jsonLine(shown)["obstacles"]).toContainEqual(
      expect.objectContaining({ what: "no_queue", error_code: "CONFIG_ERROR" }),
    );
    for (const { stdout } of [worker, doctor, shown]) {
      expect(stdout).toContain("pooler");
      expect(stdout).toContain("database.direct_url");
    }
    await onlooker.query("delete from nightdesk_data.batches");
  }, 60_000);

  test("with the address past it, a worker does its jobs", async () => {
    await expectWorked(contextOf(world(), world().direct), world().onlooker, JOBS);
  }, 60_000);
});

describeBehind("session", "postgres", (world) => {
  test("a worker does its jobs without a second address", async () => {
    expect(world().pooler.url).toContain("127.0.0.1");
    await expectWorked(contextOf(world(), null), world().onlooker, JOBS);
  }, 60_000);
});
