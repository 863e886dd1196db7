import { writeFile } from "node:fs/promises";
import { afterEach, describe, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { openContext } from "../../src/shared/command-context.ts";
import { COMMANDS } from "../../src/shared/commands/table.ts";
import { startWorker } from "../../src/worker/runtime/start-worker.ts";
import { askJob, openBatchOf, rowOf } from "../conformance/jobs.ts";
import { eventually, signal } from "../conformance/signal.ts";
import { startTopology, topologies } from "../conformance/topologies.ts";
import type { Topology, TopologyName } from "../conformance/topologies.ts";
import { startProxy } from "./proxy.ts";
import { runBin } from "./worker-fleet.ts";

const servers = topologies.filter((name) => name !== "embedded");
type Away = "database" | "queue";

/** A topology whose database, or Redis, is reached by a proxy. */
async function startBehindProxy(name: TopologyName, away: Away) {
  const topology = await startTopology(name);
  const { database, queue } = topology.context.config;
  const proxy = await startProxy(away === "database" ? database.url : queue.redis_url);
  const configFile = `${topology.workroot}/proxied.yaml`;
  const through =
    away === "database"
      ? { database: { url: proxy.url } }
      : { queue: { redis_url: proxy.url, prefix: queue.prefix } };
  await writeFile(configFile, stringify({ extends: topology.configFile, ...through }));
  return { topology, proxied: { ...topology, configFile }, proxy };
}

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const cases = servers.flatMap((name): [TopologyName, Away][] =>
  name === "postgres"
    ? [[name, "database"]]
    : [
        [name, "database"],
        [name, "queue"],
      ],
);

describe.each(cases)("on %s, with its %s away", (name, away) => {
  test("a worker says so once, and leaves with status 0 soon after SIGTERM", async () => {
    const { topology, proxied, proxy } = await startBehindProxy(name, away);
    closers.push(() => topology.dispose());
    const db = await topology.connect();
    closers.push(() => db.end());
    const worker = runBin(proxied, "worker");
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    await eventually("the worker works", async () => {
      return (await rowOf(db, jobIds[0] ?? ""))["finished_at"] !== null;
    });
    await proxy.cut();
    // Long enough for dozens of attempts of each of its loops.
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    const toldAt = performance.now();
    worker.kill("SIGTERM");
    const { exitCode, stderr } = await worker.ended;
    expect(performance.now() - toldAt).toBeLessThan(15_000);
    expect(exitCode).toBe(0);
    const lines = stderr.trim().split("\n");
    expect(lines.length).toBeGreaterThanOrEqual(1);
    expect(lines.length).toBeLessThanOrEqual(6);
    expect(stderr).not.toContain("uncaught");
  });
});

describe.each(servers.filter((name) => name === "redis+postgres"))("on %s", (name) => {
  test("what runs is handed back while Redis is away", async () => {
    const { topology, proxied, proxy } = await startBehindProxy(name, "queue");
    closers.push(() => topology.dispose());
    const db = await topology.connect();
    closers.push(() => db.end());
    const begun = signal();
    const worker = await startWorker(
      await contextOf(proxied),
      1,
      () => (_job, _trace, aborted) =>
        new Promise((_, reject) => {
          begun.resolve();
          aborted.addEventListener("abort", () => {
            reject(aborted.reason as Error);
          });
        }),
    );
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    await begun.promise;
    await proxy.cut();
    expect(await worker.stop(0)).toBe("left_open");
    expect(await rowOf(db, jobIds[0] ?? "")).toMatchObject({ state: "queued", attempt: 0 });
  });
});

function contextOf({ configFile, workroot, context }: Topology) {
  const [command] = COMMANDS;
  if (command === undefined) throw new Error("no commands");
  return openContext({
    ...context.invocation,
    command,
    cwd: workroot,
    options: { config: configFile, logLevel: "silent" },
  });
}
