import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { stopEmbedded } from "../../src/shared/store/embedded/embedded-process.ts";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { findFreePort } from "../services/free-port.js";
import { describeOn } from "../support/describe-on.ts";
import { jsonLine, jsonLines, runBin, startBin } from "../support/run-bin.ts";
import type { Ended, Place, Running } from "../support/run-bin.ts";
import { queryServer } from "../support/templates.ts";

const QUESTION = "How much diesel does the Bear burn?";
const LINGER_MS = 3_000;

describeOn("redis+postgres", "processes", (name) => {
  let topology: Topology;
  let place: Place;
  let worker: Running;
  beforeAll(async () => {
    topology = await startTopology(name, { log: { level: "info" } });
    place = { cwd: topology.workroot };
    await mkdir(join(topology.workroot, "allowed", "scratch"));
    const file = join(topology.workroot, "allowed", "corpus", "bear.md");
    await writeFile(file, "# The Bear\n\nThe Bear burns 4.2 litres of diesel an hour.\n");
    worker = startBin(["worker"], place);
    await worker.said(/worker ready/);
  });
  afterAll(() => topology.dispose());

  const run = (...words: readonly string[]): Promise<Ended> => runBin(words, place);

  test("three terminals at once: index, ask and query", async () => {
    const ended = await Promise.all([
      run("index", "--json"),
      run("ask", QUESTION, "--wait", "--json"),
      run("query", "diesel", "--json"),
    ]);
    expect(ended.map(({ code }) => code)).toEqual([0, expect.any(Number), 0]);
    for (const each of ended) expect(jsonLine(each)).toHaveProperty("ok");
    expect((await run("ask", QUESTION, "--wait")).stdout).toContain("4.2 litres");
  });

  test("a reader that leaves early ends the command without a word", async () => {
    const statement = "select n, repeat('x', 200) from generate_series(1, 50000) n";
    const early: Place = { ...place, reader: "leaves" };
    for (const words of [["sql", statement, "--format", "csv"], ["--help"], ["config", "show"]]) {
      const { code, stderr } = await runBin(words, early);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    }
  });

  test("the doctor finds everything in order", async () => {
    const doctor = await run("doctor", "--json", "--require-embeddings");
    expect(jsonLine(doctor)).toMatchObject({ ok: true });
    expect(doctor.code).toBe(0);
    expect((await run("worker", "--health")).code).toBe(0);
  });

  test("SIGTERM ends an idle worker with 0, and its logs never reach stdout", async () => {
    worker.kill("SIGTERM");
    const { code, stdout, stderr } = await worker.ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    const messages = jsonLines({ code, stdout: stderr, stderr }).map(({ msg }) => msg);
    expect(messages).toContain("stopping: no new jobs; what runs may finish");
    expect(messages.at(-1)).toBe("worker stopped");
    expect((await run("worker", "--health")).code).toBe(1);
  });

  test("what is queued while no worker is there waits, and a drain works it and ends", async () => {
    const queued = await run("ask", QUESTION, "--json");
    expect(queued.code).toBe(0);
    expect(queued.stderr).toContain("No worker is alive");
    const { job_id: jobId, batch_id: batchId } = jsonLine(queued);

    const draining = startBin(["worker", "--drain"], place);
    await draining.said(/worker stopped/);
    const saidAt = performance.now();
    expect((await draining.ended).code).toBe(0);
    expect(performance.now() - saidAt).toBeLessThan(LINGER_MS);

    const waited = await run("batch", "wait", String(batchId), "--json");
    expect(waited.code).toBe(0);
    expect(jsonLine(waited)).toMatchObject({ total: 1, succeeded: 1 });
    const [shown] = JSON.parse((await run("runs", "show", String(jobId), "--json")).stdout) as {
      state: string;
    }[];
    expect(shown?.state).toBe("succeeded");
  });

  test("a command that waits says that no worker is alive; Ctrl-C leaves the job queued", async () => {
    const asking = startBin(["ask", QUESTION, "--wait"], place);
    await asking.said(/No worker is alive; start one with: nightdesk worker/);
    asking.kill("SIGINT");
    const { code, stdout, stderr } = await asking.ended;
    expect({ code, stdout }).toEqual({ code: 130, stdout: "" });
    const [, batch = ""] = /nightdesk batch wait "([^"]+)"/.exec(stderr) ?? [];
    expect(jsonLine(await run("batch", "show", batch, "--json"))).toMatchObject({ queued: 1 });
  });

  test("an empty database is 78, with the command that helps, and a failed check", async () => {
    const { url, drop } = await emptyDatabase();
    const here: Place = { ...place, env: { DATABASE_URL: url } };
    const listed = await runBin(["batch", "list", "--json"], here);
    expect(listed.code).toBe(78);
    const failure = jsonLine(listed);
    expect(failure).toMatchObject({ error_code: "SCHEMA_OUTDATED" });
    expect(failure["error_message"]).toContain("nightdesk migrate");
    const doctor = await runBin(["doctor", "--json", "--no-ollama"], here);
    expect(doctor.code).toBe(1);
    expect(jsonLine(doctor)["checks"]).toContainEqual(
      expect.objectContaining({ error_code: "DOCTOR_INDEX_SCHEMA_VERSION", level: "fail" }),
    );
    await drop();
  });

  test("SIGTERM ends a worker with 0 although its Redis has gone away", async () => {
    const redis = await startRelay(process.env["TEST_REDIS_URL"] ?? "");
    const orphan = startBin(["worker"], { ...place, env: { REDIS_URL: redis.url } });
    await orphan.said(/worker ready/);
    redis.cut();
    await orphan.said(/a connection to the queue or the database broke/);
    orphan.kill("SIGTERM");
    expect((await orphan.ended).code).toBe(0);
  });

  test("a worker that starts while its Redis is down waits for it", async () => {
    const url = new URL(process.env["TEST_REDIS_URL"] ?? "");
    const port = await findFreePort();
    const env = { REDIS_URL: `redis://127.0.0.1:${port}` };
    const early = startBin(["worker"], { ...place, env });
    await early.said(/the database or the queue was away while the worker started; trying again/);
    const relay = await startRelay(url.href, port);
    await early.said(/worker ready/);
    early.kill("SIGTERM");
    expect((await early.ended).code).toBe(0);
    relay.cut();
  });

  test("and is stopped while it waits", async () => {
    const env = { REDIS_URL: `redis://127.0.0.1:${await findFreePort()}` };
    const early = startBin(["worker"], { ...place, env });
    await early.said(/trying again/);
    early.kill("SIGTERM");
    expect((await early.ended).code).toBe(0);
  });

  test("one that ends with the work ends with 69 without its Redis, and the doctor says why", async () => {
    const redis = `redis://127.0.0.1:${await findFreePort()}`;
    const here: Place = { ...place, env: { REDIS_URL: redis } };
    const ended = await runBin(["worker", "--drain", "--json"], here);
    expect(ended.code).toBe(69);
    expect(jsonLine(ended)).toMatchObject({ ok: false, error_code: "QUEUE_UNREACHABLE" });
    const doctor = await runBin(["doctor", "--json"], here);
    expect(jsonLine(doctor)["checks"]).toContainEqual(
      expect.objectContaining({ error_code: "DOCTOR_QUEUE_UNREACHABLE", level: "fail" }),
    );
  });
});

describeOn("embedded", "a database process", (name) => {
  let topology: Topology;
  beforeAll(async () => {
    topology = await startTopology(name);
  });
  afterAll(() => topology.dispose());

  const run = (...words: readonly string[]): Promise<Ended> =>
    runBin(words, { cwd: topology.workroot });

  test("migrate replaces the functions that a running process has of another build", async () => {
    const database = await topology.connect();
    await database.query(
      "update nightdesk_migrations.applied set sha256 = repeat('0', 64) where name = 'pacing functions'",
    );
    await database.end();
    expect((await run("batch", "list")).stderr).toContain("Run: nightdesk migrate");
    expect((await run("migrate")).stdout).toBe("applied pacing functions\n");
    expect((await run("batch", "list")).code).toBe(0);
  });

  test("a database of another version is said at once, and leaves no process behind", async () => {
    const database = await topology.connect();
    await database.query("update nightdesk_migrations.applied set sha256 = repeat('0', 64)");
    await database.end();
    const directory = topology.context.config.roots.databaseDirectory;
    await stopEmbedded(directory);
    const ended = await run("batch", "list", "--json");
    expect(jsonLine(ended)["error_message"]).toMatch(
      /did not start \(status 1\): The database was made by another build/,
    );
    expect(ended.code).toBe(69);
    const pid = Number(await readFile(join(directory, "pid"), "utf8"));
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });
});

/** Stands before a Redis until it is cut. */
async function startRelay(target: string, at = 0): Promise<{ readonly url: string; cut(): void }> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const server = createServer((incoming) => {
    const outgoing = connect(Number(port), hostname);
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
    }
    incoming.pipe(outgoing).pipe(incoming);
  });
  server.listen(at, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function emptyDatabase(): Promise<{
  readonly url: string;
  readonly drop: () => Promise<void>;
}> {
  const name = `nightdesk_empty_${randomBytes(6).toString("hex")}`;
  await onServer(`create database ${name}`);
  return {
    url: Object.assign(new URL(process.env["TEST_DATABASE_URL"] ?? ""), { pathname: `/${name}` })
      .href,
    drop: () => onServer(`drop database ${name} with (force)`),
  };
}

const onServer = (statement: string): Promise<void> =>
  queryServer(process.env["TEST_DATABASE_URL"] ?? "", statement);
