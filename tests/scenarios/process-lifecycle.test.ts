import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, test } from "@jest/globals";
import {
  ensureEmbedded,
  sharedEnsure,
  stopEmbedded,
} from "../../src/shared/store/embedded/embedded-process.ts";
import { isAlive, until } from "../embedded/deadline.ts";
import { embeddedDirectory, launcher, serverOn, set } from "../embedded/embedded-server.ts";
import type { EmbeddedServer, TestSettings } from "../embedded/embedded-server.ts";

const opened: EmbeddedServer[] = [];
afterEach(async () => {
  for (const server of opened.splice(0)) await server.dispose();
});

async function server(settings: TestSettings = {}, ...below: string[]): Promise<EmbeddedServer> {
  const directory = await embeddedDirectory(...below);
  await set(directory, settings);
  const made = serverOn(directory);
  opened.push(made);
  return made;
}

/** Runs the process in the foreground until it ends. */
async function launch(...args: string[]): Promise<{ status: number | null; messages: string }> {
  const child = spawn(process.execPath, [launcher, "database", ...args]);
  let output = "";
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const [status] = (await once(child, "close")) as [number | null];
  return { status, messages: output };
}

describe("the database process", () => {
  test("is started once, however many ask at the same time", async () => {
    const it = await server();
    const { directory } = it;
    const options = { directory, create: "must-exist", bin: launcher } as const;
    const asked = await Promise.all(Array.from({ length: 8 }, () => ensureEmbedded(options)));
    expect(new Set(asked.map(({ host }) => host))).toEqual(new Set([directory]));
    const listens = async () => {
      const log = await readFile(path.join(directory, "database.log"), "utf8");
      return log.split("\n").filter((line) => line.includes("listens"));
    };
    // Its socket answers before it has said so.
    await until("it has said that it listens", async () => (await listens()).length > 0);
    expect(await listens()).toHaveLength(1);
  });

  test("who starts it is told, and who comes while it starts waits for that one", async () => {
    const { directory } = await server();
    const pidFile = path.join(directory, "pid");
    let starts = 0;
    const onStart = (): void => void (starts += 1);
    const options = { directory, create: "must-exist", bin: launcher, onStart } as const;
    await rm(pidFile, { force: true });
    const first = ensureEmbedded(options);
    await until("it holds its directory", async () => existsSync(pidFile));
    await Promise.all([first, ensureEmbedded(options)]);
    await ensureEmbedded(options);
    expect(starts).toBe(1);
  });

  test("one process that asks many times shares one attempt", async () => {
    const { directory } = await server();
    const ensure = sharedEnsure({ directory, create: "must-exist", bin: launcher });
    const [one, other] = [ensure(), ensure()];
    expect(one).toBe(other);
    expect((await one).port).toBe(5432);
  });

  test("that can't start is started less and less often, however often it is asked for", async () => {
    const directory = await embeddedDirectory();
    const starts = path.join(directory, "starts");
    const bin = path.join(directory, "fails.cjs");
    await writeFile(
      bin,
      `require("node:fs").appendFileSync(${JSON.stringify(starts)}, "x"); process.exit(1);`,
    );
    const ensure = sharedEnsure({ directory, create: "create", bin });
    const until = performance.now() + 7_000;
    while (performance.now() < until) await ensure().catch(() => delay(50));
    // At 0, 2 and 6 s.
    expect((await readFile(starts, "utf8")).length).toBeLessThanOrEqual(3);
    await rm(directory, { recursive: true });
  });

  test("keeps directory and socket from other users", async () => {
    const it = await server();
    await it.address();
    const modeOf = async (file: string) => (await stat(file)).mode & 0o777;
    expect(await modeOf(it.directory)).toBe(0o700);
    // The folder keeps others out before the socket does.
    const socket = path.join(it.directory, ".s.PGSQL.5432");
    await until("the socket is its own", async () => (await modeOf(socket)) === 0o600);
  });

  test("a second one on the same directory ends with 75 and says nothing", async () => {
    const it = await server();
    const client = await it.connect();
    expect(await launch("--directory", it.directory)).toEqual({ status: 75, messages: "" });
    expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });

  test("after kill -9 every acknowledged row is there", async () => {
    const it = await server();
    const client = await it.connect();
    await client.query("create table public.kept (id int primary key)");
    let acknowledged = 0;
    const insert = async () => {
      for (;;) {
        await client.query("insert into public.kept values ($1)", [acknowledged + 1]);
        acknowledged += 1;
      }
    };
    const inserting = insert().catch(() => "cut");
    await until("500 rows", () => acknowledged >= 500);
    process.kill(await it.pid(), "SIGKILL");
    await inserting;
    const again = await it.connect();
    const { rows } = await again.query<{ rows: string; last: number }>(
      "select count(*) as rows, max(id) as last from public.kept",
    );
    expect(Number(rows[0]?.rows)).toBe(rows[0]?.last);
    expect(rows[0]?.last).toBeGreaterThanOrEqual(acknowledged);
  });

  test("ends by itself when its last client has gone", async () => {
    const it = await server({ idleSeconds: 1 });
    const client = await it.connect();
    const pid = await it.pid();
    await client.query("select pg_sleep(1.2)");
    expect(isAlive(pid)).toBe(true);
    await client.end();
    await until("it ends", () => !isAlive(pid));
    expect(existsSync(path.join(it.directory, ".s.PGSQL.5432"))).toBe(false);
    expect((await (await it.connect()).query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });

  test("on SIGTERM finishes the statement, tells its clients and rolls back", async () => {
    const it = await server();
    const [busy, idle] = [await it.connect(), await it.connect()];
    await busy.query("create table public.unfinished (id int)");
    const told = once(idle, "error");
    await busy.query("begin");
    await busy.query("insert into public.unfinished values (1)");
    const running = busy.query(
      "copy (select 1) to '/pglite/data/started'; select 'done' as it from pg_sleep(0.5)",
    ) as unknown as Promise<{ rows: unknown[] }[]>;
    await until("it runs", () => existsSync(path.join(it.directory, "pgdata/started")));
    const pid = await it.pid();
    await stopEmbedded(it.directory, 30_000);
    expect((await running).at(-1)?.rows).toEqual([{ it: "done" }]);
    expect(existsSync(path.join(it.directory, "pid"))).toBe(false);
    expect(await told).toMatchObject([{ code: "57P01" }]);
    expect(isAlive(pid)).toBe(false);
    expect((await (await it.connect()).query("select * from public.unfinished")).rows).toEqual([]);
  });

  test("ends, and is started again, when PostgreSQL ends inside it", async () => {
    const it = await server();
    const client = await it.connect();
    const pid = await it.pid();
    // Hides the COPY from the server, which reads texts as the standard has them.
    await client.query("begin; set local standard_conforming_strings = off");
    const hidden = String.raw`select 'a\''; copy pg_class from stdin; --'`;
    await expect(client.query(hidden)).rejects.toThrow();
    await until("it ends", () => !isAlive(pid));
    expect((await (await it.connect()).query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    const log = await readFile(path.join(it.directory, "database.log"), "utf8");
    expect(log).toContain("has to start again");
    expect(log).not.toContain("copy pg_class");
  });

  test("is killed when a statement outlasts the grace time", async () => {
    const it = await server();
    const client = await it.connect();
    const pid = await it.pid();
    const cut = client.query("select pg_sleep(30)").catch(() => "cut");
    await stopEmbedded(it.directory, 200);
    expect(isAlive(pid)).toBe(false);
    expect(await cut).toBe("cut");
  });

  test("stopping what does not run leaves a stranger with the same number alone", async () => {
    const it = await server();
    const stranger = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    await writeFile(path.join(it.directory, "pid"), String(stranger.pid));
    await stopEmbedded(it.directory);
    expect(isAlive(stranger.pid ?? 0)).toBe(true);
    stranger.kill("SIGKILL");
  });

  test("serves a directory whose path is too long for a socket", async () => {
    const it = await server({}, "long".repeat(30), "path".repeat(10));
    expect((await it.address()).host.length).toBeLessThan(it.directory.length);
    expect((await (await it.connect()).query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });
});

describe("starting the database process", () => {
  test("says that nothing is there yet, and makes nothing", async () => {
    const directory = path.join(tmpdir(), "nightdesk-embedded-none");
    await expect(
      ensureEmbedded({ directory, create: "must-exist", bin: launcher }),
    ).rejects.toMatchObject({ code: "NOT_FOUND", message: expect.stringContaining(directory) });
    expect(existsSync(directory)).toBe(false);
  });

  test("makes a database where there is none", async () => {
    const root = await mkdtemp(path.join(tmpdir(), "nightdesk-embedded-"));
    const directory = path.join(root, "new", "database");
    await ensureEmbedded({ directory, create: "create", bin: launcher });
    const made = serverOn(directory);
    opened.push(made);
    const { rows } = await (await made.connect()).query("select '[1,2]'::vector as it");
    expect(rows).toEqual([{ it: "[1,2]" }]);
    await made.dispose();
    await rm(root, { recursive: true });
  });

  test("begins anew when the first start was cut off half-way", async () => {
    const directory = await halfMadeDatabase();
    await ensureEmbedded({ directory, create: "create", bin: launcher });
    const made = serverOn(directory);
    opened.push(made);
    expect((await (await made.connect()).query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });

  /** Begun again where this process was not given its turn before all was there. */
  async function halfMadeDatabase(): Promise<string> {
    const directory = await mkdtemp(path.join(tmpdir(), "nightdesk-embedded-"));
    const has = (name: string): boolean => existsSync(path.join(directory, name));
    const first = spawn(process.execPath, [launcher, "database", "--directory", directory]);
    const isBegun = () => has("pgdata.new/base") || has("pgdata");
    await until("half a database", isBegun, 30_000).finally(() => first.kill("SIGKILL"));
    await once(first, "exit");
    return has("pgdata") ? halfMadeDatabase() : directory;
  }

  test("gives the reason when the migration fails", async () => {
    const it = await server({ migrationFails: true });
    await expect(it.address()).rejects.toMatchObject({
      code: "DATABASE_UNREACHABLE",
      message: expect.stringContaining("the test's migration fails"),
    });
  });

  test.each(["pgdata/global/pg_control", "pgdata/PG_VERSION"])(
    "says what is broken and how to restore when %s is empty",
    async (file) => {
      const it = await server();
      const client = await it.connect();
      await client.query("nightdesk checkpoint");
      await stopEmbedded(it.directory);
      await truncate(path.join(it.directory, file), 0);
      const message = await it.address().catch((error: unknown) => String(error));
      expect(message).toContain(`${it.directory}/pgdata does not open: `);
      expect(message).toMatch(/Restore one with: nightdesk restore --force \S+\.tar\.gz/);
    },
  );

  test("does not make an empty database in place of one that lost its files", async () => {
    const it = await server();
    await rm(path.join(it.directory, "pgdata/PG_VERSION"));
    await expect(it.address()).rejects.toMatchObject({
      message: expect.stringContaining("There are no dumps"),
    });
  });
});
