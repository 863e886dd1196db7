import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { MAX_FRAME_BYTES, message, query, SYNC } from "../../src/embedded/wire-protocol.ts";
import { until } from "./deadline.ts";
import { startServer } from "./embedded-server.ts";
import type { EmbeddedServer } from "./embedded-server.ts";
import {
  bind,
  execute,
  flush,
  openRaw,
  openSession,
  packet,
  parse,
  startup,
} from "./raw-connection.ts";

let server: EmbeddedServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.dispose());

describe("the protocol, with the stock driver", () => {
  test("gives the types that a PostgreSQL server gives", async () => {
    const client = await server.connect();
    const { rows } = await client.query(
      "select 1::int8 as big, 1.50::numeric as exact, 2::int4 as int, true as yes, '{\"a\":1}'::jsonb as json, " +
        "'2026-01-02T03:04:05Z'::timestamptz as at, array['a','b'] as list, $1::bytea as bytes, null as nothing",
      [Buffer.from([1, 2])],
    );
    expect(rows).toEqual([
      {
        big: "1",
        exact: "1.50",
        int: 2,
        yes: true,
        json: { a: 1 },
        at: new Date("2026-01-02T03:04:05Z"),
        list: ["a", "b"],
        bytes: Buffer.from([1, 2]),
        nothing: null,
      },
    ]);
  });

  test("looks names up in nightdesk, bullmq and public, also after RESET ALL", async () => {
    const client = await server.connect();
    await client.query("reset all");
    const { rows } = await client.query("show search_path");
    expect(rows).toEqual([{ search_path: "nightdesk, bullmq, public" }]);
  });

  test("gives an error with its SQLSTATE and goes on", async () => {
    const client = await server.connect();
    await expect(client.query("select nope")).rejects.toMatchObject({ code: "42703" });
    await expect(client.query("select $1::int", ["x"])).rejects.toMatchObject({ code: "22P02" });
    expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });

  test("carries values and rows of 20 MB", async () => {
    const client = await server.connect();
    const long = "x".repeat(20_000_000);
    const { rows } = await client.query<{ it: string }>("select $1::text as it", [long]);
    expect(rows[0]?.it === long).toBe(true);
  });

  test.each([
    ["copy pg_class from stdin", "COPY"],
    ["/* first */ select 1; -- then\n copy (select 1) to stdout", "COPY"],
  ])("refuses %s and goes on", async (sql, what) => {
    const client = await server.connect();
    await expect(client.query(sql)).rejects.toMatchObject({
      code: "0A000",
      message: expect.stringContaining(what),
    });
    expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });

  test("refuses COPY in the extended form", async () => {
    const client = await server.connect();
    const copy = { text: "copy pg_class from stdin", queryMode: "extended" };
    await expect(client.query(copy)).rejects.toMatchObject({ code: "0A000" });
    expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });

  test("prepares a named statement once for all clients", async () => {
    const [one, other] = [await server.connect(), await server.connect()];
    const statement = { name: "kept", text: "select $1::int + 1 as next" };
    for (const client of [one, other, one]) {
      expect((await client.query({ ...statement, values: [1] })).rows).toEqual([{ next: 2 }]);
    }
    const { rows } = await one.query(
      "select count(*)::int as n from pg_prepared_statements where name = 'kept'",
    );
    expect(rows).toEqual([{ n: 1 }]);
  });

  test("refuses another text under a name that is taken, and goes on", async () => {
    const [one, other] = [await server.connect(), await server.connect()];
    await one.query({ name: "taken", text: "select 1 as one" });
    await expect(other.query({ name: "taken", text: "select 2 as two" })).rejects.toMatchObject({
      code: "42P05",
    });
    expect((await other.query({ name: "taken", text: "select 1 as one" })).rows).toEqual([
      { one: 1 },
    ]);
  });

  test("does not take a statement with a mistake for one that is prepared", async () => {
    const [one, other] = [await server.connect(), await server.connect()];
    const statement = { name: "early", text: "select n from public.made_later" };
    await expect(one.query(statement)).rejects.toMatchObject({ code: "42P01" });
    await one.query("create table public.made_later as select 1 as n");
    expect((await other.query(statement)).rows).toEqual([{ n: 1 }]);
  });

  test.each(["discard all", "deallocate all", "deallocate of_others"])(
    "gives others their named statements back after %s",
    async (forget) => {
      const [one, other] = [await server.connect(), await server.connect()];
      const statement = { name: "of_others", text: "select 3 as three" };
      await one.query(statement);
      await other.query(forget);
      expect((await one.query(statement)).rows).toEqual([{ three: 3 }]);
    },
  );

  test("plans a named statement anew when its table has grown", async () => {
    const client = await server.connect();
    await client.query("create table public.grown (n int primary key)");
    await client.query("analyze public.grown");
    const statement = { name: "grown", text: "select n from public.grown where n = $1" };
    const planned = async () => {
      for (let n = 0; n < 10; n += 1) await client.query({ ...statement, values: [n] });
      const { rows } = await client.query<object>("explain execute grown (1)");
      return JSON.stringify(rows);
    };
    expect(await planned()).not.toContain("Index");
    await client.query("insert into public.grown select generate_series(1, 50000)");
    await until("an index scan", async () => (await planned()).includes("Index"));
  });

  test("refuses one named statement too many and goes on", async () => {
    const own = await startServer();
    try {
      const client = await own.connect();
      for (let n = 0; n < 200; n += 1) {
        await client.query({ name: `of_many_${n}`, text: `select ${n} as n` });
      }
      await expect(client.query({ name: "too_many", text: "select 1" })).rejects.toMatchObject({
        code: "0A000",
        message: expect.stringContaining("more than 200 named statements"),
      });
      expect((await client.query({ name: "of_many_7", text: "select 7 as n" })).rows).toEqual([
        { n: 7 },
      ]);
    } finally {
      await own.dispose();
    }
  });

  test("ends the transaction in which something was refused", async () => {
    const client = await server.connect();
    await client.query("begin");
    await expect(client.query("copy pg_class from stdin")).rejects.toMatchObject({ code: "0A000" });
    await expect(client.query("select 1")).rejects.toMatchObject({ code: "25P02" });
    await client.query("rollback");
    expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });
});

describe("the protocol, byte by byte", () => {
  test("answers N to requests for encryption", async () => {
    const connection = openRaw(await server.address());
    connection.write(packet(80_877_103));
    await connection.ends("N");
    connection.write(startup({ user: "postgres" }));
    await connection.ends("KZ");
    connection.socket.destroy();
  });

  test("closes a request to cancel without a word", async () => {
    const connection = openRaw(await server.address());
    connection.write(packet(80_877_102));
    await connection.closed();
    expect(connection.text()).toBe("");
  });

  test("takes a newer minor version down to 3.0", async () => {
    const connection = openRaw(await server.address());
    connection.write(startup({ user: "postgres" }, 196_610));
    await connection.ends("KZ");
    expect(connection.types()).toMatch(/^vR/);
    connection.socket.destroy();
  });

  test.each([
    [{ user: "nightdesk_reader", database: "postgres" }, "28000"],
    [{ user: "postgres", database: "other" }, "3D000"],
    [{ user: "postgres", options: "-c search_path=x" }, "0A000"],
  ])("turns away a connection as %j", async (parameters, code) => {
    const connection = openRaw(await server.address());
    connection.write(startup(parameters));
    await connection.closed();
    expect(connection.types()).toBe("E");
    expect(connection.text()).toContain(`C${code}`);
  });

  test("puts messages together that arrive one byte at a time", async () => {
    const connection = await openSession(await server.address());
    for (const byte of query("select 1")) connection.socket.write(Buffer.of(byte));
    await connection.ends("ZTDCZ");
    connection.socket.destroy();
  });

  test("takes many messages of one packet apart", async () => {
    const connection = await openSession(await server.address());
    const extended = [parse("select 2"), bind, execute(0), SYNC];
    connection.write(query("select 1"), ...extended, query("select 3"));
    await connection.ends("ZTDCZ12DCZTDCZ");
    connection.socket.destroy();
  });

  test("answers to Flush and lets others in only after Sync", async () => {
    const connection = await openSession(await server.address());
    connection.write(parse("select generate_series(1, 3)"), bind, execute(2), flush);
    await connection.ends("Z12DDs");
    const other = await server.connect();
    const waiting = other.query("select 1 as one");
    connection.write(execute(2), flush);
    await connection.ends("Z12DDsDC");
    connection.write(SYNC);
    await connection.ends("CZ");
    expect((await waiting).rows).toEqual([{ one: 1 }]);
    connection.socket.destroy();
  });

  test("skips to Sync after a refusal that was flushed", async () => {
    const connection = await openSession(await server.address());
    connection.write(parse("select 1"), parse("select 1", "second"), flush);
    await connection.ends("ZE");
    connection.write(bind, execute(0), SYNC);
    await connection.ends("ZEZ");
    connection.socket.destroy();
  });

  test("runs what was asked before the goodbye", async () => {
    const connection = await openSession(await server.address());
    connection.write(query("select 1"), message("X"));
    await connection.closed();
    expect(connection.types()).toMatch(/TDCZ$/);
  });

  const tooLong = Buffer.from("Q....");
  tooLong.writeUInt32BE(MAX_FRAME_BYTES + 1, 1);
  test.each([
    ["an oversized message", tooLong],
    ["a message shorter than its length", Buffer.from([0x51, 0, 0, 0, 1])],
    ["a message of an unknown type", message("?")],
    ["text without an end", message("Q", Buffer.from("select 1"))],
  ])("cuts off only the client that sends %s", async (_what, bytes) => {
    const other = await server.connect();
    const connection = await openSession(await server.address());
    connection.write(bytes);
    await connection.closed();
    expect(connection.text()).toContain("C08P01");
    expect((await other.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });
});
