import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { query } from "../../src/embedded/wire-protocol.ts";
import { startServer } from "./embedded-server.ts";
import type { EmbeddedServer } from "./embedded-server.ts";
import { bind, execute, flush, openSession, parse } from "./raw-connection.ts";

let server: EmbeddedServer;
beforeAll(async () => {
  server = await startServer();
  const client = await server.connect();
  await client.query("create table public.counter (id int primary key, value int not null)");
  await client.query("insert into public.counter values (1, 0)");
});
afterAll(() => server.dispose());

const count = async (): Promise<number> => {
  const client = await server.connect();
  const { rows } = await client.query<{ value: number }>("select value from public.counter");
  return rows[0]?.value ?? -1;
};

describe("turns", () => {
  test("50 transactions at once that read, then write, all count", async () => {
    const pool = await server.pool(10);
    const before = await count();
    const add = async () => {
      const client = await pool.connect();
      await client.query("begin");
      const { rows } = await client.query<{ value: number }>("select value from public.counter");
      await client.query("update public.counter set value = $1", [(rows[0]?.value ?? 0) + 1]);
      await client.query("commit");
      client.release();
    };
    await Promise.all(Array.from({ length: 50 }, add));
    expect(await count()).toBe(before + 50);
  });

  test("clients that ask at the same time get their turns in order", async () => {
    const blocker = await server.connect();
    await blocker.query("create table public.turns (ordinal serial, client int not null)");
    const address = await server.address();
    const clients = await Promise.all(Array.from({ length: 5 }, () => openSession(address)));
    await blocker.query("begin");
    for (const [index, client] of clients.entries()) {
      const turn = query(`insert into public.turns (client) values (${index})`);
      client.write(turn, turn, turn);
    }
    // All is written to the sockets: when the server answers this, it has read what came before.
    await blocker.query("select 1");
    await blocker.query("commit");
    await Promise.all(clients.map((client) => client.ends("CZCZCZ")));
    const { rows } = await blocker.query<{ client: number }>(
      "select client from public.turns order by ordinal",
    );
    const order = rows.map(({ client }) => client);
    const round = order.slice(0, 5);
    expect([...round].sort()).toEqual([0, 1, 2, 3, 4]);
    expect(order).toEqual([...round, ...round, ...round]);
  });

  test("a client that vanishes in a transaction is rolled back", async () => {
    const before = await count();
    const connection = await openSession(await server.address());
    connection.write(query("begin"), query("update public.counter set value = -1"));
    await connection.ends("CZCZ");
    const waiting = count();
    connection.socket.destroy();
    expect(await waiting).toBe(before);
  });

  test("a client that vanishes between Flush and Sync is rolled back", async () => {
    const before = await count();
    const connection = await openSession(await server.address());
    connection.write(parse("update public.counter set value = -1"), bind, execute(0), flush);
    await connection.ends("12C");
    connection.socket.destroy();
    expect(await count()).toBe(before);
  });

  test("a client that sits in a transaction is cut off", async () => {
    // A server of its own: on a busy machine a client of another test is that slow, too.
    const impatient = await startServer({ idleInTransactionSeconds: 1 });
    try {
      const connection = await openSession(await impatient.address());
      connection.write(query("begin"), query("create table public.unfinished ()"));
      await connection.ends("CZCZ");
      const other = await impatient.connect();
      const after = other.query("select to_regclass('public.unfinished') as found");
      await connection.closed();
      expect(connection.text()).toContain("C25P03");
      expect((await after).rows).toEqual([{ found: null }]);
    } finally {
      await impatient.dispose();
    }
  });

  test("settings of one client end with its turn", async () => {
    const [one, other] = [await server.connect(), await server.connect()];
    await one.query("set search_path to pg_temp");
    await one.query("set role pg_monitor");
    const { rows } = await other.query(
      "select current_setting('search_path') as path, current_user::text as role",
    );
    expect(rows).toEqual([{ path: "nightdesk, bullmq, public", role: "postgres" }]);
  });

  test("settings inside a transaction hold until its end", async () => {
    const client = await server.connect();
    await client.query("begin; set local statement_timeout = '7s'");
    expect((await client.query("show statement_timeout")).rows).toEqual([
      { statement_timeout: "7s" },
    ]);
    await client.query("commit");
    expect((await client.query("show statement_timeout")).rows).toEqual([
      { statement_timeout: "0" },
    ]);
  });

  test("a client that reads nothing does not stop the others", async () => {
    const connection = await openSession(await server.address());
    connection.socket.pause();
    for (let at = 0; at < 40; at++) connection.write(query("select repeat('x', 2000000)"));
    expect(await count()).toBeGreaterThanOrEqual(0);
    connection.socket.destroy();
  });

  test("a dump leaves nothing of the copy that it was made of, also where it can't be written", async () => {
    const client = await server.connect();
    const file = join(server.directory, "evening.tar.gz");
    const copies = async () =>
      (await readdir(server.directory)).filter((name) => name.startsWith(".pgdata-copy-"));
    await client.query("nightdesk checkpoint");
    await client.query(`nightdesk backup '${file}'`);
    await expect(client.query(`nightdesk backup '${file}'`)).rejects.toThrow("is kept");
    expect(await copies()).toEqual([]);
  });
});
