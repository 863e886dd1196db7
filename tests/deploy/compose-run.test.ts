import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import pg from "pg";
import { findPostgres, makePostgres } from "../faults/own-postgres.ts";
import { findFreePort } from "../services/free-port.js";
import { waitUntil } from "../services/wait-until.js";
import { checkout, findService, resolveCommand, resolveHealthcheck } from "./compose-file.ts";
import { start } from "./spawned.ts";
import type { Ended, Spawned } from "./spawned.ts";

const databaseUrl = process.env["TEST_DATABASE_URL"];
const redisUrl = process.env["TEST_REDIS_URL"];
const here = databaseUrl === undefined || redisUrl === undefined ? describe.skip : describe;

// Skipped where there is no Redis or no Postgres; npm test says so at its end.
here("the containers of our image", () => {
  const database = `nightdesk_compose_${randomBytes(6).toString("hex")}`;
  let scratch: string;
  let workroot: string;

  beforeAll(async () => {
    scratch = mkdtempSync(join(tmpdir(), "nightdesk-compose-"));
    workroot = join(scratch, "work");
    await administer(`create database ${database}`);
    for (const source of ["corpus", "scratch"]) {
      mkdirSync(join(workroot, "allowed", source), { recursive: true });
    }
    writeFileSync(
      join(workroot, "allowed/corpus/boiler.md"),
      "# Boiler\n\nThe boiler is serviced in May.\n",
    );
    writeFileSync(join(scratch, "database_url"), urlOf(database));
    writeFileSync(join(scratch, "redis_url"), privateRedisUrl());
  });

  afterAll(async () => {
    await administer(`drop database ${database} with (force)`);
    rmSync(scratch, { recursive: true, force: true });
  });

  test("migrate prepares an empty database, and does nothing the second time", async () => {
    expect(summarize(await run("migrate", []))).toBe("exit 0");
    expect(summarize(await run("migrate", []))).toBe("exit 0");
    expect(await count("nightdesk.results")).toBe(0);
  });

  test("the worker works what the same container enqueued, and drains", async () => {
    const queued = await startAs(["index", "--no-wait"]);
    expect(summarize(await queued.ended)).toBe("exit 0");
    expect(summarize(await run("worker", ["--drain"]))).toBe("exit 0");
    expect(await count("nightdesk.documents where path = 'allowed/corpus/boiler.md'")).toBe(1);
  });

  test("the worker is healthy while it runs, and ends with 0 on SIGTERM", async () => {
    const worker = await startAs(findService("worker").command ?? []);
    const healthy = await waitUntil(async () => (await checkHealth()).exitCode === 0, 30_000);
    worker.kill("SIGTERM");
    expect(summarize(await worker.ended)).toBe("exit 0");
    expect(healthy).toBe(true);
    expect((await checkHealth()).exitCode).not.toBe(0);
  });

  async function run(service: string, extra: readonly string[]): Promise<Ended> {
    const spawned = await startAs([...(findService(service).command ?? []), ...extra]);
    return spawned.ended;
  }

  async function startAs(command: string[]): Promise<Spawned> {
    return launch(resolveCommand({ ...findService("worker"), command }));
  }

  async function checkHealth(): Promise<Ended> {
    const check = await launch(resolveHealthcheck(findService("worker")));
    return check.ended;
  }

  /** A process of the worker's container: its words, its environment and nothing of ours. */
  async function launch(words: string[]): Promise<Spawned> {
    const env = await rewrite(findService("worker").environment);
    return start(words.map(toCheckout), {
      cwd: checkout,
      env: { PATH: process.env["PATH"] ?? "", ...env },
    });
  }

  /** Only places change: the services' hosts and ports, the mounted folder and the mounted secret. */
  async function rewrite(environment: Record<string, string>): Promise<Record<string, string>> {
    const nobody = `127.0.0.1:${String(await findFreePort())}`;
    const replacements: [string, string][] = [
      ["ollama:11434", nobody],
      ["/run/secrets", scratch],
      ["/work", workroot],
    ];
    const place = (value: string): string => {
      const [from = "", to = ""] = replacements.find(([inside]) => value.includes(inside)) ?? [];
      return value.replace(from, to);
    };
    return Object.fromEntries(
      Object.entries(environment).map(([key, value]) => [key, place(value)]),
    );
  }

  async function count(what: string): Promise<number> {
    const { rows } = await query(urlOf(database), `select count(*)::int as n from ${what}`);
    return (rows[0] as { n: number }).n;
  }
});

describe("the Redis service", () => {
  const server = spawnSync("redis-server", ["--version"]);
  const installed = server.status === 0 ? test : test.skip;

  installed(
    "keeps an append-only file, never evicts, wants its password, and passes its own healthcheck",
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "nightdesk-compose-redis-"));
      writeFileSync(join(folder, "redis_password"), "of-redis");
      const here = (word: string): string => word.replaceAll("/run/secrets", folder);
      const port = String(await findFreePort());
      const service = findService("redis");
      const place = { cwd: tmpdir(), env: { PATH: process.env["PATH"] ?? "" } };
      const command = (service.command ?? []).map(here);
      const redis = start([...command, "--port", port, "--dir", folder], place);
      const check = resolveHealthcheck(service).map((word) =>
        here(word).replace("redis-cli", `redis-cli -p ${port}`),
      );
      const ask = async (words: string[]): Promise<Ended> => start(words, place).ended;
      try {
        expect(await waitUntil(async () => (await ask(check)).exitCode === 0, 10_000)).toBe(true);
        const cli = ["redis-cli", "-p", port];
        expect((await ask([...cli, "ping"])).stdout).toContain("NOAUTH");
        const given = ["--no-auth-warning", "-a", "of-redis"];
        const settings = await ask([
          ...cli,
          ...given,
          "config",
          "get",
          "append*",
          "maxmemory-policy",
        ]);
        expect(settings.stdout).toMatch(/appendonly\nyes/);
        expect(settings.stdout).toMatch(/maxmemory-policy\nnoeviction/);
      } finally {
        redis.kill("SIGTERM");
        await redis.ended;
        rmSync(folder, { recursive: true, force: true });
      }
      expect((await ask(check)).exitCode).not.toBe(0);
    },
  );
});

const place = findPostgres();

(place === undefined ? describe.skip : describe)("the Postgres service", () => {
  test("makes a role for Nightdesk that is no superuser, migrates its database, and reads as another", async () => {
    if (place === undefined) throw new Error("unreachable: skipped");
    const server = await makePostgres(place);
    const folder = mkdtempSync(join(tmpdir(), "nightdesk-compose-postgres-"));
    try {
      await server.start();
      const [, mounted = ""] = findService("postgres").volumes;
      const script = join(checkout, mounted.split(":")[0] ?? "");
      writeFileSync(join(folder, "password"), "it's of-nightdesk");
      const env = {
        PATH: process.env["PATH"] ?? "",
        PGHOST: "127.0.0.1",
        PGPORT: new URL(server.url).port,
        POSTGRES_USER: "postgres",
        NIGHTDESK_PASSWORD_FILE: join(folder, "password"),
      };
      expect(summarize(await start([script], { cwd: folder, env }).ended)).toBe("exit 0");
      const url = Object.assign(new URL(server.url), {
        username: "nightdesk",
        password: "it's of-nightdesk",
        pathname: "/nightdesk",
      }).href;
      const bin = [process.execPath, join(checkout, "bin/nightdesk.js")];
      const config = {
        NIGHTDESK_CONFIG: join(checkout, "configs/default.yaml"),
        DATABASE_URL: url,
      };
      const run = (...words: string[]): Promise<Ended> =>
        start([...bin, ...words], { cwd: folder, env: { ...env, ...config } }).ended;
      expect(summarize(await run("migrate"))).toBe("exit 0");
      const who = await run("sql", "select current_user as reader", "--json");
      expect(JSON.parse(who.stdout)).toEqual([{ reader: "nightdesk_reader" }]);
      expect((await run("doctor", "--no-ollama")).stdout).toContain("DOCTOR_SQL_ROLE_OK");
      const { rows } = await query(
        url,
        "select rolsuper, rolcreaterole, rolcreatedb, rolreplication from pg_roles where rolname = current_user",
      );
      expect(rows).toEqual([
        { rolsuper: false, rolcreaterole: false, rolcreatedb: false, rolreplication: false },
      ]);
    } finally {
      await server.dispose();
      rmSync(folder, { recursive: true, force: true });
    }
  }, 90_000);
});

/** Of a failure also what it said, so that the test's report shows it. */
const summarize = ({ exitCode, stderr }: Ended): string =>
  exitCode === 0 ? "exit 0" : `exit ${String(exitCode)}: ${stderr}`;

const toCheckout = (word: string): string => word.replace(/^\/app\//, checkout);

function urlOf(database: string): string {
  const url = new URL(databaseUrl ?? "");
  url.pathname = database;
  return url.href;
}

/** A numbered database of its own, where no delivery of another test waits. */
function privateRedisUrl(): string {
  const url = new URL(redisUrl ?? "");
  url.pathname = "/15";
  return url.href;
}

const administer = (statement: string): Promise<pg.QueryResult> =>
  query(databaseUrl ?? "", statement);

async function query(connectionString: string, statement: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return await client.query(statement);
  } finally {
    await client.end();
  }
}
