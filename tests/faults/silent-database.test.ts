import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { connectDatabase } from "../../src/shared/store/connection/connect.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { STATEMENT_LIMITS_MS } from "../../src/shared/store/connection/limited-client.ts";
import { openResources } from "../../src/worker/resources.ts";
import { eventually } from "../conformance/signal.ts";
import { databases } from "../conformance/topologies.ts";
import { startFaultyTopology } from "./faulty-topology.ts";
import type { FaultyTopology } from "./faulty-topology.ts";

// Redis holds nothing that these ask for. A limit that is over is another matter with each of the two: only the embedded
// process is asked whether it has a statement in hand.
describe.each(databases)("a database that goes silent on %s", (name) => {
  let faulty: FaultyTopology;
  const closers: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    faulty = await startFaultyTopology(name);
  });
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
    faulty.database.pass();
  });
  afterAll(async () => {
    await faulty.dispose();
  });

  async function connect(): Promise<FaultyTopology & { readonly db: Database }> {
    const { config, invocation } = faulty.context;
    const db = await connectDatabase({
      config,
      packageRoot: invocation.packageRoot,
      create: "must-exist",
      onError: () => undefined,
    });
    closers.push(() => db.end());
    return { ...faulty, db };
  }

  test("is given up within the limit of a statement, and asked over a new connection", async () => {
    const { db, database } = await connect();
    await db.query("select 1");
    database.muteExisting();
    const askedAt = performance.now();
    await expect(db.within("lease").query("select 1")).rejects.toMatchObject({
      code: "DATABASE_UNREACHABLE",
    });
    const waitedMs = performance.now() - askedAt;
    expect(waitedMs).toBeGreaterThan(STATEMENT_LIMITS_MS.lease - 100);
    expect(waitedMs).toBeLessThan(STATEMENT_LIMITS_MS.lease + 4_000);
    expect((await db.within("lease").query("select 2 as two")).rows).toEqual([{ two: 2 }]);
  });

  if (name === "embedded") {
    test("because of a long statement of somebody else is waited for", async () => {
      const { db, onlooker } = await connect();
      const { lease } = STATEMENT_LIMITS_MS;
      const long = onlooker.query("select pg_sleep($1)", [(lease + 2_000) / 1_000]);
      const startedAt = performance.now();
      const [answer] = await Promise.all([db.within("lease").query("select 2 as two"), long]);
      expect(answer.rows).toEqual([{ two: 2 }]);
      expect(performance.now() - startedAt).toBeGreaterThan(lease);
    });
    return;
  }

  test("in the middle of a transaction leaves nothing locked", async () => {
    const { db, database, onlooker } = await connect();
    await onlooker.query("create table public.counted (n int)");
    await onlooker.query("insert into public.counted values (0)");
    const increase = "update public.counted set n = n + 1";
    const transaction = db.within("lease").transaction(async (tx) => {
      await tx.query(increase);
      database.muteExisting();
      await tx.query("select 1");
    });
    await expect(transaction).rejects.toMatchObject({ code: "DATABASE_UNREACHABLE" });
    await onlooker.within("claim").query(increase);
    expect((await onlooker.query("select n from public.counted")).rows).toEqual([{ n: 1 }]);
  });

  test("costs a run that searches 20 s, and its next search nothing", async () => {
    const { context, db, database } = await connect();
    const find = await openResources(context, db).search();
    const search = () =>
      find({ text: "diesel", limit: 1, mode: "lexical" }, new AbortController().signal);
    await search();
    database.muteExisting();
    const askedAt = performance.now();
    await expect(search()).rejects.toMatchObject({ code: "DATABASE_UNREACHABLE" });
    expect(performance.now() - askedAt).toBeLessThan(STATEMENT_LIMITS_MS.lookup + 4_000);
    expect(await search()).toEqual([]);
  });

  test("is missed by who only listens, who connects and hears again", async () => {
    const { db, database, onlooker } = await connect();
    const heard: string[] = [];
    let gaps = 0;
    await db.listen(
      ["fault"],
      (_, payload) => heard.push(payload),
      () => (gaps += 1),
    );
    database.muteExisting();
    await eventually("it listens again", async () => gaps === 2);
    await onlooker.query("select pg_notify('fault', 'still there')");
    await eventually("it hears", async () => heard.includes("still there"));
  });

  test("does not keep who leaves", async () => {
    const { db, database } = await connect();
    await db.query("select 1");
    database.muteExisting();
    const askedAt = performance.now();
    closers.pop();
    await db.end();
    expect(performance.now() - askedAt).toBeLessThan(5_000);
  });

  test("by a fatal error in the packet that lets a client in is told to who asked, and ends no process", async () => {
    const { db, database } = await connect();
    database.answerFatal({ code: "57P01", message: "terminating connection" });
    database.cut();
    const tries = Array.from({ length: 20 }, (_, i) =>
      i % 2 === 0 ? db.query("select 1") : db.transaction((tx) => tx.query("select 1")),
    );
    for (const tried of await Promise.allSettled(tries)) {
      expect(tried).toMatchObject({ reason: { code: "DATABASE_UNREACHABLE" } });
    }
    database.pass();
    expect((await db.query("select 2 as two")).rows).toEqual([{ two: 2 }]);
  });

  test("by a fatal error over and over does not end who listens", async () => {
    const { db, database, onlooker } = await connect();
    let gaps = 0;
    const heard: string[] = [];
    await db.listen(
      ["fault"],
      (_, payload) => heard.push(payload),
      () => (gaps += 1),
    );
    const before = database.accepted();
    database.answerFatal({ code: "57P03", message: "the database system is shutting down" });
    for (let round = 1; round <= 5; round += 1) {
      database.cut();
      await eventually("it tried again", async () => database.accepted() > before + round);
    }
    database.pass();
    await eventually("it listens again", async () => gaps > 1);
    await onlooker.query("select pg_notify('fault', 'still there')");
    await eventually("it hears", async () => heard.includes("still there"));
  });
});
