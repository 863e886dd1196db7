import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type pg from "pg";
import { query } from "../../src/embedded/wire-protocol.ts";
import { until } from "./deadline.ts";
import { startServer } from "./embedded-server.ts";
import type { EmbeddedServer } from "./embedded-server.ts";
import { openSession } from "./raw-connection.ts";

let server: EmbeddedServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.dispose());

const listener = async (listen: string): Promise<{ client: pg.Client; heard: string[] }> => {
  const client = await server.connect();
  const heard: string[] = [];
  client.on("notification", ({ payload }) => heard.push(payload ?? ""));
  await client.query(listen);
  return { client, heard };
};

describe("notifications", () => {
  test("reach every client that listens, and the one that sent it", async () => {
    const one = await listener("listen news");
    const other = await listener("/* after a comment */ listen news");
    await one.client.query("select pg_notify('news', 'first')");
    await until("both hear it", () => one.heard.length + other.heard.length === 2);
    expect([one.heard, other.heard]).toEqual([["first"], ["first"]]);
  });

  test("of a transaction come when it commits, and not when it rolls back", async () => {
    const { heard } = await listener("listen commits");
    const sender = await server.connect();
    await sender.query("begin; notify commits, 'undone'; rollback");
    await sender.query("begin; notify commits, 'done'; commit");
    await until("it is heard", () => heard.length > 0);
    expect(heard).toEqual(["done"]);
  });

  test.each([
    ["unlisten *", "simple"],
    ["-- comment\nunlisten kept", "extended"],
    ["select 1; unlisten kept", "simple"],
    ["discard all", "simple"],
  ])("go on for others after %j of one client (%s)", async (sql, queryMode) => {
    const { client, heard } = await listener('listen kept; listen "Odd "" name"');
    const other = await server.connect();
    await other.query({ text: sql, queryMode } as pg.QueryConfig);
    await other.query("notify kept, 'still'");
    await other.query('notify "Odd "" name", \'there\'');
    await until("both are heard", () => heard.length === 2);
    expect(heard).toEqual(["still", "there"]);
    await client.end();
  });

  test("are not sent to clients that never listened", async () => {
    const { heard } = await listener("listen only_there");
    const quiet = await openSession(await server.address());
    const sender = await server.connect();
    await sender.query("notify only_there, 'x'");
    await until("the listener hears it", () => heard.length === 1);
    quiet.write(query("select 1"));
    await quiet.ends("TDCZ");
    expect(quiet.types()).not.toContain("A");
    quiet.socket.destroy();
  });

  test("never stand inside a reply", async () => {
    const connection = await openSession(await server.address());
    connection.write(query("listen inside"));
    await connection.ends("CZ");
    connection.write(query("notify inside; select generate_series(1, 3)"));
    await until("it is heard", () => connection.types().includes("A"));
    await connection.ends("CTDDDCZ");
    expect(connection.types()).toMatch(/CZACTDDDCZ$/);
    connection.socket.destroy();
  });
});
