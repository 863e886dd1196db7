// What a user waits for on Redis + Postgres: enqueue 100,000 lines, index 2,000 files cold and unchanged, and an
// extractive ask inside the worker. Needs TEST_DATABASE_URL and TEST_REDIS_URL, and a build.
// node --import ./bench/register.js bench/commands.ts [files, default 2000] [lines, default 100000]
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { stringify } from "yaml";
import { createFreshDatabase } from "./fresh-database.ts";
import { seededRandom, syntheticWords, writeSyntheticCorpus } from "./synthetic-corpus.ts";

const [files = 2_000, lines = 100_000] = process.argv.slice(2).map(Number);
const bin = resolve(import.meta.dirname, "..", "bin", "nightdesk.js");
const workroot = mkdtempSync(join(tmpdir(), "nightdesk-bench-"));
const scratch = await createFreshDatabase();
const name = `${new URL(scratch.url).pathname.slice(1)}_cli`;
await scratch.db.query(`create database ${name}`);
const url = Object.assign(new URL(scratch.url), { pathname: `/${name}` }).href;
const config = join(workroot, "nightdesk.yaml");
writeFileSync(
  config,
  stringify({
    extends: "nightdesk:default",
    workroot: ".",
    model: { provider: "extractive" },
    database: { url },
    queue: {
      redis_url: process.env["TEST_REDIS_URL"] ?? "redis://127.0.0.1:6379",
      prefix: "bench",
    },
    security: { auto_create_allowed_roots: true },
  }),
);

/** Runs a command as a user would. @returns seconds and what it printed */
function run(...words: string[]): { seconds: number; stdout: string; peakMiB: number } {
  const startedAt = performance.now();
  const { status, stdout, stderr } = spawnSync(
    "/usr/bin/env",
    ["time", "-f", "peak %M", process.execPath, bin, ...words, "--config", config],
    { encoding: "utf8", cwd: workroot, maxBuffer: 1 << 28 },
  );
  if (status !== 0) throw new Error(`${words.join(" ")} ended with ${status}: ${stderr}`);
  const peak = /peak (\d+)/.exec(stderr)?.[1] ?? "0";
  return {
    seconds: (performance.now() - startedAt) / 1_000,
    stdout,
    peakMiB: Number(peak) / 1_024,
  };
}

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

let worker: ReturnType<typeof spawn> | undefined;
try {
  run("migrate");
  writeSyntheticCorpus(join(workroot, "allowed", "corpus"), files);
  worker = spawn(process.execPath, [bin, "worker", "--config", config], {
    cwd: workroot,
    stdio: "ignore",
  });
  const cold = run("index", "--no-embed");
  console.log(
    `index ${files} files, cold, lexical: ${cold.seconds.toFixed(2)} s, ${Math.round(files / cold.seconds)} files/s`,
  );
  const unchanged = Array.from({ length: 5 }, () => run("index", "--no-embed").seconds);
  console.log(`index, nothing changed, whole command: median ${median(unchanged).toFixed(2)} s`);
  const bare = Array.from({ length: 5 }, () => {
    const startedAt = performance.now();
    spawnSync(process.execPath, ["-e", ""]);
    return (performance.now() - startedAt) / 1_000;
  });
  console.log(`  beside a bare node -e "": ${median(bare).toFixed(2)} s`);
  run("embed");

  const words = syntheticWords();
  const random = seededRandom(11);
  const question = () =>
    `${Array.from({ length: 6 }, () => words[Math.floor(random() * words.length)] ?? "").join(" ")}?`;
  const asks = join(workroot, "asks.jsonl");
  writeFileSync(
    asks,
    Array.from({ length: 100 }, (_, i) =>
      JSON.stringify({ custom_id: `a${i}`, kind: "ask", question: question() }),
    ).join("\n"),
  );
  spawnSync(process.execPath, [bin, "enqueue", asks, "--wait", "--config", config], {
    cwd: workroot,
  });
  const times = JSON.parse(
    run("sql", "select run_ms from results where kind = 'ask'", "--format", "json").stdout,
  ) as { run_ms: number }[];
  console.log(
    `ask, extractive, inside the worker: median ${median(times.map(({ run_ms }) => run_ms)).toFixed(1)} ms over ${times.length}`,
  );
  worker.kill("SIGTERM");

  const jobs = join(workroot, "jobs.jsonl");
  const descriptor = openSync(jobs, "w");
  for (let i = 0; i < lines; i += 1) {
    writeSync(
      descriptor,
      `${JSON.stringify({ custom_id: `job ${i}`, kind: "ask", question: `Question ${i}?` })}\n`,
    );
  }
  const enqueue = run("enqueue", jobs);
  console.log(
    `enqueue ${lines} lines: ${enqueue.seconds.toFixed(1)} s, ${Math.round(lines / enqueue.seconds)} rows/s, peak ${enqueue.peakMiB.toFixed(0)} MiB`,
  );
  const startedAt = performance.now();
  for (let i = 0; i < 2_000; i += 1) {
    await scratch.db.query("insert into nightdesk_data.batches (name) values ($1)", [
      `baseline ${i}`,
    ]);
  }
  console.log(
    `  beside one INSERT a row: ${Math.round(2_000 / ((performance.now() - startedAt) / 1_000))} rows/s`,
  );
} finally {
  worker?.kill("SIGKILL");
  await scratch.db.query(`drop database ${name} with (force)`);
  await scratch.drop();
  rmSync(workroot, { recursive: true, force: true });
}
