import type { Database } from "../../../src/shared/store/connection/database.ts";
import { askJob, openBatchOf } from "../../conformance/jobs.ts";
import { eventually } from "../../conformance/signal.ts";
import { startTopology } from "../../conformance/topologies.ts";
import type { Topology, TopologyName } from "../../conformance/topologies.ts";
import { startOllamaDouble } from "../../doubles/ollama-server.ts";
import type { OllamaDouble } from "../../doubles/ollama-server.ts";
import { readPrompt } from "../../support/killed-worker/prompts.ts";
import { startToolWorker } from "../../support/killed-worker/start.ts";
import type { ToolWorker } from "../../support/killed-worker/start.ts";
import { startOnlooker } from "../night/onlooker.ts";
import type { Onlooker } from "../night/onlooker.ts";
import { rowsOf } from "../night/accounts.ts";
import { planKills } from "./kills.ts";
import type { Kills } from "./kills.ts";
import { nightJobs, replyFor } from "./scenarios.ts";
import type { NightJob } from "./scenarios.ts";
import { GRANTED, writeWorld } from "./world.ts";

/** Jobs that a worker which is not stopped has in hand at once. */
const IN_HAND = 6;
const TASK = "When does the contract with Lind Ropes renew?";
/** On a machine that is busy with other things. */
export const LONG_MS = 120_000;

/** A job of the night, as its row is now. */
export type JobRow = {
  readonly job_id: string;
  readonly name: string;
  readonly state: string;
  readonly waiting_for: string | null;
  readonly error_code: string | null;
};

export type Night = {
  readonly topology: Topology;
  readonly db: Database;
  /** The connections of somebody else. */
  readonly other: Database;
  readonly host: OllamaDouble;
  readonly onlooker: Onlooker;
  readonly jobs: readonly NightJob[];
  /** Names of the jobs of which a worker was killed. */
  readonly killed: string[];
  idOf(job: NightJob): string;
  jobNamed(name: string): NightJob;
  rows(): Promise<readonly JobRow[]>;
  /** Starts two workers that nobody stops. */
  startWorkers(): Promise<void>;
  /** Kills them. @returns jobs that they had in hand */
  killWorkers(): Promise<readonly string[]>;
  /** Starts a worker, and kills it when the runs of all these jobs stand still. */
  kill(kills: Kills): Promise<void>;
  end(): Promise<void>;
};

export async function startNight(name: TopologyName, count: number): Promise<Night> {
  const jobs = nightJobs(count);
  const byName = new Map(jobs.map((job) => [job.name, job]));
  const jobNamed = (wanted: string): NightJob => {
    const job = byName.get(wanted);
    if (job === undefined) throw new Error(`no job of the night is ${wanted}`);
    return job;
  };
  const host = await startOllamaDouble({
    models: [
      {
        name: "trickster",
        contextLength: 8_192,
        respond(messages) {
          const shown = readPrompt(messages);
          return replyFor(jobNamed(shown.job), shown);
        },
      },
    ],
    numParallel: 64,
  });
  const topology = await startTopology(name, {
    model: {
      ...{ provider: "ollama", name: "trickster", base_url: host.url, num_ctx: 8_192 },
      parallel: 64,
    },
    ask: { answer_form: "text" },
    runs: { reuse: "never" },
  });
  await writeWorld(topology.workroot);
  const db = await topology.connect();
  const other = await topology.connect();
  const onlooker = startOnlooker(db);
  const workers: ToolWorker[] = [];
  const killed: string[] = [];
  const start = async (options: Parameters<typeof startToolWorker>[2]): Promise<ToolWorker> => {
    const worker = await startToolWorker(db, topology.workroot, options);
    workers.push(worker);
    return worker;
  };
  const killAll = async (): Promise<readonly string[]> =>
    (await Promise.all(workers.splice(0).map((worker) => worker.kill()))).flat();

  await index(db, start);
  await killAll();
  const ids = await enqueue(db, jobs);
  const idOf = (job: NightJob): string => ids.get(job.name) ?? "";
  return {
    ...{ topology, db, other, host, onlooker, jobs, killed, idOf, jobNamed },
    rows: () =>
      rowsOf<JobRow>(
        db,
        `select job_id, custom_id as name, state, waiting_for, error_code
           from nightdesk_data.jobs where kind = 'investigate' order by seq`,
      ),
    async startWorkers() {
      await Promise.all([1, 2].map(() => start({ concurrency: IN_HAND })));
    },
    killWorkers: killAll,
    async kill(kills) {
      const stops = Object.fromEntries([...kills].map(([job, stop]) => [idOf(job), stop]));
      const worker = await start({ concurrency: kills.size, stops });
      await worker.allStopped();
      await killAll();
      killed.push(...[...kills.keys()].map((job) => job.name));
    },
    async end() {
      await killAll();
      await onlooker.stop();
      await other.end();
      await db.end();
      await topology.dispose();
      await host.close();
    },
  };
}

/** Indexes all files, those that no job may see as well. */
async function index(
  db: Database,
  start: (options: { readonly concurrency: number }) => Promise<ToolWorker>,
): Promise<void> {
  await openBatchOf(db, [askJob("index", { input: { kind: "index", options: { embed: false } } })]);
  await start({ concurrency: 1 });
  await eventually("all files are indexed", async () => {
    const rows = await rowsOf<{ state: string }>(
      db,
      "select state from nightdesk_data.jobs where kind = 'index'",
    );
    return rows.every(({ state }) => state === "succeeded");
  });
}

/** Those whose workers are killed first come first. @returns ids by the names of the jobs */
async function enqueue(
  db: Database,
  jobs: readonly NightJob[],
): Promise<ReadonlyMap<string, string>> {
  const { evening, midnight } = planKills(jobs);
  const { jobIds } = await openBatchOf(
    db,
    jobs.map((job) => {
      const { name, scenario } = job;
      return askJob(name, {
        priority: evening.has(job) ? 20 : midnight.has(job) ? 10 : 0,
        input: {
          kind: "investigate",
          task: `[${name}] ${TASK}`,
          preset: scenario.preset,
          options: { path_prefix: GRANTED },
        },
      });
    }),
  );
  return new Map(jobs.map(({ name }, at) => [name, jobIds[at] ?? ""]));
}
