import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join, resolve } from "node:path";
import type { Database } from "../src/shared/store/connection/database.ts";
import { startTopology } from "../tests/conformance/topologies.ts";
import type { Topology, TopologyName } from "../tests/conformance/topologies.ts";
import { marksOf, runCommand } from "./batch-command.ts";
import { startInstantHost } from "./batch-instant-host.ts";
import { describeUsage, measure } from "./process-usage.ts";
import type { Measured } from "./process-usage.ts";

const bin = resolve(import.meta.dirname, "..", "bin", "nightdesk.js");
const register = resolve(import.meta.dirname, "register.js");
const bareQueue = resolve(import.meta.dirname, "batch-bare-queue.ts");
const CONCURRENCY = 4;
const FILES = 100;
/** Calls that the instant host takes at once: as many as the most workers of a measurement make. */
const SLOTS = 4 * CONCURRENCY;

/** Jobs a second from the first that starts to the last that ends, of extractive summaries and of chats. */
export async function measureDelivery(name: TopologyName, jobs: number): Promise<void> {
  const host = await startInstantHost();
  const topology = await startTopology(name, {
    // Said, not found: what makes a host slower or faster that answers at once is this machine.
    model: { provider: "ollama", name: "instant", base_url: host.url, parallel: SLOTS },
  });
  const db = await topology.connect();
  try {
    await db.query("create table nightdesk_data.bare (at timestamptz default clock_timestamp())");
    writeFiles(topology.workroot);
    for (const workers of [1, 4]) {
      await db.query("truncate nightdesk_data.bare");
      console.log(`${name}, ${workers} × ${CONCURRENCY}, load ${loadavg()[0]?.toFixed(1)}:`);
      for (const kind of ["summarize", "chat"] as const) {
        const batch = `${kind} by ${workers}`;
        await enqueue(topology, kind, { batch, jobs });
        const worked = await measure(marksOf(topology), () => work(topology, workers, kind));
        console.log(`  ${kind}: ${await rateOf(db, batch)} jobs/s; ${describeUsage(worked.usage)}`);
      }
      const worked = await bare(topology, workers, jobs);
      console.log(
        `  the bare queue, one INSERT a job: ${await bareRateOf(db)} jobs/s; ${describeUsage(worked.usage)}`,
      );
    }
  } finally {
    await db.end();
    await topology.dispose();
    await host.close();
  }
}

function writeFiles(workroot: string): void {
  const folder = join(workroot, "allowed", "corpus");
  mkdirSync(folder, { recursive: true });
  for (let i = 0; i < FILES; i += 1) {
    writeFileSync(
      join(folder, `${i}.md`),
      `# Note ${i}\n\nThe ferry of day ${i} left at dusk. It came back at dawn. Nobody was late.\n`,
    );
  }
}

type Kind = "summarize" | "chat";

async function enqueue(
  topology: Topology,
  kind: Kind,
  { batch, jobs }: { readonly batch: string; readonly jobs: number },
): Promise<void> {
  const lines = Array.from({ length: jobs }, (_, i) =>
    kind === "chat"
      ? { kind, prompt: `${batch}: word ${i}` }
      : { kind, path: `allowed/corpus/${i % FILES}.md`, options: { model: "extractive" } },
  );
  const file = join(topology.workroot, "jobs.jsonl");
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  await runCommand(topology, "enqueue", file, "--batch-name", batch);
}

/** Runs workers until nothing is left. */
async function work(topology: Topology, workers: number, kind: Kind): Promise<void> {
  // What a summary needs is the model without language, which no other provider gives.
  const config = kind === "chat" ? topology.configFile : extractiveConfig(topology);
  const words = ["worker", "--drain", "--concurrency", String(CONCURRENCY), "--config", config];
  await untilEnded(
    Array.from({ length: workers }, () =>
      spawn(process.execPath, [bin, ...words], { cwd: topology.workroot, stdio: "ignore" }),
    ),
  );
}

function extractiveConfig({ workroot, configFile }: Topology): string {
  const file = join(workroot, "extractive.yaml");
  writeFileSync(file, `extends: ${configFile}\nmodel: { provider: extractive, name: null }\n`);
  return file;
}

async function untilEnded(children: readonly ChildProcess[]): Promise<void> {
  await Promise.all(children.map((child) => once(child, "exit")));
  const failed = children.find(({ exitCode }) => exitCode !== 0);
  if (failed !== undefined) throw new Error(`a process ended with ${String(failed.exitCode)}`);
}

async function bare(
  topology: Topology,
  workers: number,
  jobs: number,
): Promise<Measured<undefined>> {
  const run = (mode: string) => {
    const words = [topology.configFile, mode, String(jobs), String(CONCURRENCY)];
    return spawn(process.execPath, ["--import", register, bareQueue, ...words], {
      cwd: topology.workroot,
      stdio: ["ignore", "ignore", "inherit"],
    });
  };
  await untilEnded([run("add")]);
  return measure(marksOf(topology), async () => {
    await untilEnded(Array.from({ length: workers }, () => run("work")));
    return undefined;
  });
}

async function rateOf(db: Database, batch: string): Promise<number> {
  const { rows } = await db.query(
    `select round(count(*) / extract(epoch from max(j.finished_at) - min(j.started_at))) as rate,
            count(*) filter (where j.state <> 'succeeded') as bad
       from nightdesk_data.jobs j join nightdesk_data.batches b using (batch_id) where b.name = $1`,
    [batch],
  );
  const [{ rate, bad }] = rows as [{ rate: string; bad: string }];
  if (bad !== "0") throw new Error(`${bad} jobs of ${batch} did not succeed`);
  return Number(rate);
}

async function bareRateOf(db: Database): Promise<number> {
  const { rows } = await db.query(
    "select round(count(*) / extract(epoch from max(at) - min(at))) as rate from nightdesk_data.bare",
  );
  return Number((rows as [{ rate: string }])[0].rate);
}
