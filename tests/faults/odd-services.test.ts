import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { Redis } from "ioredis";
import { probeQueue } from "../../src/shared/queue/probe-queue.ts";
import { eventually } from "../conformance/signal.ts";
import { startTopology, topologies } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { findFreePort } from "../services/free-port.js";
import { describeOn } from "../support/describe-on.ts";
import { jsonLine, runBin } from "../support/run-bin.ts";
import { queryServer } from "../support/templates.ts";
import { expectWorked } from "./work-batch.ts";

const databaseUrl = process.env["TEST_DATABASE_URL"] ?? "";
const onServer = (statement: string): Promise<void> => queryServer(databaseUrl, statement);

describeOn("postgres", "a database with settings of its own", (name) => {
  let topology: Topology;
  beforeAll(async () => {
    topology = await startTopology(name);
  });
  afterAll(() => topology.dispose());

  test("like a German date style and a path without public is worked like any other", async () => {
    const database = new URL(topology.context.config.database.url).pathname.slice(1);
    for (const setting of ["datestyle = 'German, DMY'", "search_path = 'nowhere'"]) {
      await onServer(`alter database ${database} set ${setting}`);
    }
    const db = await topology.connect();
    await expectWorked(topology.context, db, 2);
    const { rows } = await db.query("select '2027-02-14 10:00Z'::timestamptz as at");
    expect(rows).toEqual([{ at: new Date("2027-02-14T10:00:00Z") }]);
    await db.end();
    const place = { cwd: topology.workroot };
    expect((await runBin(["batch", "list", "--all", "--json"], place)).code).toBe(0);
    await writeFile(join(topology.workroot, "allowed/corpus/pump.md"), "A pump moves water.\n");
    expect((await runBin(["index", "--no-wait"], place)).code).toBe(0);
    expect((await runBin(["worker", "--drain"], place)).code).toBe(0);
    const found = await runBin(["query", "moves water", "--mode", "vector", "--json"], place);
    expect(jsonLine(found)).toMatchObject({ hits: [{ path: "allowed/corpus/pump.md" }] });
  }, 60_000);

  test.each(["SQL_ASCII", "LATIN1"])(
    "is refused by migrate before it writes where its encoding is %s",
    async (encoding) => {
      const odd = `nightdesk_odd_${randomBytes(6).toString("hex")}`;
      await onServer(`create database ${odd} encoding '${encoding}' locale 'C' template template0`);
      const url = Object.assign(new URL(databaseUrl), { pathname: `/${odd}` }).href;
      const place = { cwd: topology.workroot, env: { DATABASE_URL: url } };
      const { code, stdout } = await runBin(["migrate", "--json"], place);
      expect(code).toBe(78);
      expect(stdout).toContain(encoding);
      await onServer(`drop database ${odd} with (force)`);
    },
  );

  test("is not asked for TLS by a mode that would do without", async () => {
    const url = `${topology.context.config.database.url}?sslmode=prefer`;
    const place = { cwd: topology.workroot, env: { DATABASE_URL: url } };
    const { code, stdout } = await runBin(["batch", "list", "--json"], place);
    expect(code).toBe(78);
    expect(stdout).toContain("sslmode=prefer");
  });
});

(topologies.includes("redis+postgres") ? describe : describe.skip)("a Redis of one's own", () => {
  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  /** @param slots which of a cluster it has; undefined: it is none */
  async function startRedis(slots?: readonly [number, number]): Promise<string> {
    const port = await findFreePort();
    const folder = mkdtempSync(join(tmpdir(), "nightdesk-redis-"));
    const cluster = slots === undefined ? [] : ["--cluster-enabled", "yes"];
    const server = spawn(
      "redis-server",
      [
        ...["--bind", "127.0.0.1", "--port", String(port), "--dir", folder, "--save", ""],
        ...cluster,
      ],
      { stdio: "ignore" },
    );
    closers.push(async () => {
      const ended = once(server, "exit");
      server.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    });
    const url = `redis://127.0.0.1:${port}`;
    const client = new Redis(url, { enableReadyCheck: false, lazyConnect: true });
    client.on("error", () => undefined);
    await eventually("it answers", () =>
      client.ping().then(
        () => true,
        () => false,
      ),
    );
    if (slots !== undefined) {
      await client.call("CLUSTER", "ADDSLOTSRANGE", ...slots.map(String));
      if (slots[0] === 0 && slots[1] === 16_383) {
        await eventually("the cluster is whole", async () =>
          String(await client.call("CLUSTER", "INFO")).includes("cluster_state:ok"),
        );
      }
    }
    client.disconnect();
    return url;
  }

  test("in cluster mode, with one node, has a job moved through it and a night worked", async () => {
    const url = await startRedis([0, 16_383]);
    const topology = await startTopology("redis+postgres");
    closers.push(() => topology.dispose());
    const { config } = topology.context;
    const queue = { ...config.queue, redis_url: url };
    const db = await topology.connect();
    closers.push(() => db.end());
    await expectWorked({ ...topology.context, config: { ...config, queue } }, db, 2);
  }, 30_000);

  test("that is a node without the keys is told as one", async () => {
    const url = await startRedis([0, 1]);
    await expect(probeQueue({ backend: "redis", url, prefix: "nightdesk" })).rejects.toMatchObject({
      code: "CONFIG_ERROR",
      message: expect.stringContaining("a node of a cluster"),
    });
  }, 30_000);

  /** @returns the URL of a Redis whose user may do all but INFO */
  async function startWithoutInfo(): Promise<string> {
    const url = new URL(await startRedis());
    const client = new Redis(url.href);
    await client.call("ACL", "SETUSER", "desk", "on", ">secret", "~*", "&*", "+@all", "-info");
    client.disconnect();
    return Object.assign(url, { username: "desk", password: "secret" }).href;
  }

  test("whose user has no INFO is told with the right that is missing", async () => {
    const href = await startWithoutInfo();
    await expect(
      probeQueue({ backend: "redis", url: href, prefix: "nightdesk" }),
    ).rejects.toMatchObject({ code: "CONFIG_ERROR", message: expect.stringMatching(/info.*INFO/) });
  }, 30_000);

  test("has what the libraries of the queue warn of in the log, in its form and by its level", async () => {
    const topology = await startTopology("redis+postgres", { log: { level: "warn" } });
    closers.push(() => topology.dispose());
    const env = { REDIS_URL: await startWithoutInfo() };
    const place = { cwd: topology.workroot, env };
    const warned = await runBin(["doctor", "--json", "--no-ollama"], place);
    expect(warned.stdout).toContain("DOCTOR_QUEUE_UNUSABLE");
    const lines = warned.stderr
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown);
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 40, msg: expect.stringMatching(/INFO command fails/) }),
    );
    const quiet = await runBin(["doctor", "--json", "--no-ollama", "--log-level", "error"], place);
    expect(quiet.stdout).toContain("DOCTOR_QUEUE_UNUSABLE");
    expect(quiet.stderr).toBe("");
  }, 60_000);
});
