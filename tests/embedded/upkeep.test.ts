import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type pg from "pg";
import { until } from "./deadline.ts";
import { startServer } from "./embedded-server.ts";
import type { EmbeddedServer } from "./embedded-server.ts";

let server: EmbeddedServer;
let client: pg.Client;
beforeAll(async () => {
  server = await startServer();
  client = await server.connect();
});
afterAll(() => server.dispose());

const DEADLINE_MS = 20_000;

test("rows that were deleted give their place back, also while the database is never quiet", async () => {
  const busy = await server.connect();
  const ended = new AbortController();
  const statements = (async () => {
    while (!ended.signal.aborted) await busy.query("select pg_sleep(0.02)");
  })();
  await client.query(`create table public."Filled, then" as
    select n, repeat('x', 500) as text from generate_series(1, 5000) n`);
  await client.query("create table public.kept as select n from generate_series(1, 5000) n");
  await client.query(`delete from public."Filled, then"`);
  await until("the place is free", async () => (await size()) === 0, DEADLINE_MS);
  ended.abort();
  await statements;
  const { rows } = await client.query(
    "select relname from pg_stat_user_tables where last_vacuum is not null",
  );
  expect(rows).toEqual([{ relname: "Filled, then" }]);
});

test("a transaction that is open keeps its turn", async () => {
  await client.query("begin");
  await client.query("create table public.open as select n from generate_series(1, 5000) n");
  await client.query("rollback");
  expect((await client.query("select to_regclass('public.open') as open")).rows).toEqual([
    { open: null },
  ]);
});

async function size(): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>(
    `select pg_relation_size('public."Filled, then"') as bytes`,
  );
  return Number(rows[0]?.bytes);
}
