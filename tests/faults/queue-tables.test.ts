import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { readFile, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { parse, stringify } from "yaml";
import { jsonLine, jsonLines, runBin, startBin } from "../support/run-bin.ts";
import type { Ended, Running } from "../support/run-bin.ts";
import { openBatchOf, askJob } from "../conformance/jobs.ts";
import { eventually } from "../conformance/signal.ts";
import { startTopology, topologies } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";

const hasServer = topologies.includes("postgres");

(hasServer ? describe : describe.skip)("a queue that was moved to Postgres", () => {
  let topology: Topology;
  let db: Database;
  const started: Running[] = [];
  beforeEach(async () => {
    topology = await startTopology("postgres", { log: { level: "info" } });
    db = await topology.connect();
    // As `nightdesk migrate` leaves a database whose queue is in Redis.
    await db.query("drop schema bullmq cascade");
  });
  afterEach(async () => {
    for (const running of started.splice(0)) {
      running.kill("SIGKILL");
      await running.ended;
    }
    await db.end();
    await topology.dispose();
  });
  const run = (...words: readonly string[]): Promise<Ended> =>
    runBin(words, { cwd: topology.workroot });
  const start = (...words: readonly string[]): Running => {
    const running = startBin(words, { cwd: topology.workroot });
    started.push(running);
    return running;
  };

  test("stops a worker at once with SCHEMA_OUTDATED, fails the doctor's check, and is mended by migrate", async () => {
    const worker = await run("worker", "--json");
    expect(worker.code).toBe(78);
    const failure = jsonLine(worker);
    expect(failure).toMatchObject({ ok: false, error_code: "SCHEMA_OUTDATED" });
    expect(failure["error_message"]).toMatch(/lacks the queue tables.*Run: nightdesk migrate$/);

    const doctor = await run("doctor", "--json", "--no-ollama");
    expect(doctor.code).toBe(78);
    expect(jsonLine(doctor)["checks"]).toContainEqual(
      expect.objectContaining({
        error_code: "DOCTOR_QUEUE_SCHEMA_VERSION",
        level: "fail",
        message: expect.stringContaining("SCHEMA_OUTDATED"),
        suggested_fix: "Run: nightdesk migrate",
      }),
    );

    const status = jsonLine(await run("migrate", "--status", "--json"));
    expect(status["pending"]).toEqual([expect.stringMatching(/^queue tables /)]);
    const migrated = await run("migrate");
    expect(migrated.code).toBe(0);
    expect(migrated.stdout).toContain("applied queue tables");
    expect(migrated.stderr).not.toContain("nothing to do");
    expect((await run("migrate")).stderr).toContain("nothing to do");

    await openBatchOf(db, [askJob("a")]);
    expect((await run("worker", "--drain")).code).toBe(0);
    expect((await run("doctor", "--json", "--no-ollama")).code).not.toBe(78);
  });

  test("is nothing to a worker whose queue is in Redis", async () => {
    const config = parse(await readFile(topology.configFile, "utf8")) as object;
    const redis = { backend: "redis", redis_url: process.env["TEST_REDIS_URL"] };
    await writeFile(topology.configFile, stringify({ ...config, queue: redis }));
    expect(jsonLine(await run("migrate", "--status", "--json"))).toMatchObject({ pending: [] });
    const doctor = jsonLine(await run("doctor", "--json", "--no-ollama"));
    expect(doctor["checks"]).toContainEqual(
      expect.objectContaining({ error_code: "DOCTOR_QUEUE_OK", level: "ok" }),
    );
  });

  test("that loses its tables under a worker is asked now and then until the worker ends, by itself or by a signal", async () => {
    await run("migrate");
    const worker = start("worker");
    await worker.said(/worker ready/);
    await db.query("drop schema bullmq cascade");
    // It looks for the tables every 5 s: it ends when it has seen that they are gone.
    await worker.said(/a connection to the queue or the database broke|lacks the queue tables/);
    await openBatchOf(db, [askJob("a"), askJob("b")]);
    await worker.said(/jobs could not be dispatched|lacks the queue tables/);
    worker.kill("SIGTERM");
    const { code, stderr } = await worker.ended;
    expect([0, 78]).toContain(code);
    const logged = stderr.split("\n").filter((line) => line.startsWith("{"));
    const faults = jsonLines({ code, stdout: `${logged.join("\n")}\n`, stderr }).map(
      ({ faults = 0 }) => faults,
    );
    // A queue that is asked without a pause fails some hundred thousand times before the signal.
    expect(Math.max(...faults.map(Number))).toBeLessThan(1_000);
  });
});

/** Takes connections, and never says a word. */
async function startSilentServer(): Promise<{ server: Server; port: number; close(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { server, port: (server.address() as AddressInfo).port, close };
}

(hasServer ? describe : describe.skip)("SIGTERM to a worker that is starting", () => {
  test.each([
    ["the database", (port: number) => ({ DATABASE_URL: `postgres://u@127.0.0.1:${port}/d` })],
    ["Redis", (port: number) => ({ REDIS_URL: `redis://127.0.0.1:${port}` })],
  ])("ends it with 0 while it waits for %s", async (_, environment) => {
    const topology = await startTopology("redis+postgres", { log: { level: "info" } });
    const silent = await startSilentServer();
    const asked = once(silent.server, "connection");
    const worker = startBin(["worker"], {
      cwd: topology.workroot,
      env: environment(silent.port),
    });
    await asked;
    worker.kill("SIGTERM");
    let hasEnded = false;
    void worker.ended.then(() => {
      hasEnded = true;
    });
    // Long before the connection would be given up.
    await eventually("it has ended", async () => hasEnded, 8_000);
    expect((await worker.ended).code).toBe(0);
    silent.close();
    await topology.dispose();
  });
});
