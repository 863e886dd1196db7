// One process of the baseline of bench/batch.ts: the same queue on the same storage, and one INSERT a job.
import { setTimeout as sleep } from "node:timers/promises";
import { resolve } from "node:path";
import { loadConfig } from "../src/shared/config/load-config.ts";
import { connectDatabase, connectQueueDatabase } from "../src/shared/store/connection/connect.ts";
import { openQueue } from "../src/shared/queue/job-queue.ts";

const [configFile, mode, jobs, concurrency] = process.argv
  .slice(2)
  .map((word, index) => (index < 2 ? word : Number(word))) as [string, string, number, number];
const packageRoot = resolve(import.meta.dirname, "..");
const config = await loadConfig({
  flags: { config: configFile },
  env: {},
  cwd: process.cwd(),
  packageRoot,
});
const options = {
  config,
  packageRoot,
  create: "must-exist",
  maxConnections: concurrency + 4,
  onError: console.error,
} as const;
const database = await connectDatabase(options);
const { redis_url: url, prefix } = config.queue;
const storage =
  config.queue.backend === "postgres"
    ? ({ backend: "postgres", database: connectQueueDatabase(options) } as const)
    : ({ backend: "redis", url, prefix: `${prefix}-bare` } as const);
const queue = openQueue(storage, console.error);

const PORTION = 1_000;
const QUIET_MS = 500;

if (mode === "add") {
  for (let from = 0; from < jobs; from += PORTION) {
    const count = Math.min(PORTION, jobs - from);
    await queue.add(
      Array.from({ length: count }, (_, index) => ({
        jobId: `bare-${from + index}`,
        dispatch: 1,
        place: "back" as const,
      })),
    );
  }
} else {
  let done = 0;
  const worker = queue.work(concurrency, async () => {
    await database.query("insert into nightdesk_data.bare default values");
    done += 1;
  });
  await worker.ready();
  for (let before = -1; done !== before || (await queue.countWaiting()) > 0;) {
    before = done;
    await sleep(QUIET_MS);
  }
  await worker.close();
}
await queue.close();
await database.end();
if (storage.backend === "postgres") await storage.database.end();
