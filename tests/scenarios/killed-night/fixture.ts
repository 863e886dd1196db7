import type { Database } from "../../../src/shared/store/connection/database.ts";
import { openBatch } from "../../../src/shared/store/jobs/batches.ts";
import { insertJobs } from "../../../src/shared/store/jobs/insert-jobs.ts";
import type { NewJob } from "../../../src/shared/store/jobs/insert-jobs.ts";
import { askJob, openBatchOf } from "../../conformance/jobs.ts";
import { startTopology } from "../../conformance/topologies.ts";
import type { Topology, TopologyName } from "../../conformance/topologies.ts";
import { startOllamaDouble } from "../../doubles/ollama-server.ts";
import type { OllamaDouble } from "../../doubles/ollama-server.ts";
import type { Stops } from "../../support/killed-worker/boundaries.ts";
import { readPrompt } from "../../support/killed-worker/prompts.ts";
import { startToolWorker } from "../../support/killed-worker/start.ts";
import type { ToolWorker } from "../../support/killed-worker/start.ts";
import { rowsOf } from "../night/accounts.ts";
import { startOnlooker } from "../night/onlooker.ts";
import type { Onlooker } from "../night/onlooker.ts";
import { patiently } from "../night/patience.ts";
import { caseModel } from "../verification/case-model.ts";
import { inputOf, writeDocuments } from "../verification/play-cases.ts";
import { planKills } from "./kills.ts";
import { nightJobs, replyFor } from "./scenarios.ts";
import type { NightJob } from "./scenarios.ts";
import { verifiedPairs } from "./verified-jobs.ts";
import type { Pair } from "./verified-jobs.ts";
import { GRANTED, writeWorld } from "./world.ts";

/** Jobs that a worker which is not stopped has in hand at once. */
const IN_HAND = 6;
const TASK = "When does the contract with Lind Ropes renew?";
/** Who is killed first comes first, then checks, then the quiet twins of those who are killed. */
const PRIORITY = { evening: 20, midnight: 10, check: 5, quiet: 3, others: 0 } as const;

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
  /** Where the model of investigations is, and that of the answers that are verified. */
  readonly tricksters: OllamaDouble;
  readonly cast: OllamaDouble;
  readonly onlooker: Onlooker;
  readonly jobs: readonly NightJob[];
  readonly pairs: readonly Pair[];
  readonly batchId: string;
  /** Ids of the jobs that a worker had in hand when it was killed, once for each time. */
  readonly lost: string[];
  readonly idOf: (name: string) => string;
  jobNamed(name: string): NightJob;
  /** All jobs of its batch. */
  rows(): Promise<readonly JobRow[]>;
  /** Queues the answers that are verified, in the same batch: whoever is at it while others stand still takes none of them. */
  addVerified(): Promise<void>;
  /** Starts two workers that nobody stops. */
  startWorkers(): Promise<void>;
  /** Kills them. @returns jobs that they had in hand */
  killWorkers(): Promise<readonly string[]>;
  /**
   * Starts a worker with places for others beside those that are stopped, and kills it when all of these stand still.
   * @returns jobs that it had in hand
   */
  kill(stops: Stops, places: number): Promise<readonly string[]>;
  end(): Promise<void>;
};

/** @param rounds how often workers are lost at each boundary of a step @param each and at each stage of a verification */
export async function startNight(
  name: TopologyName,
  { rounds, each }: { readonly rounds: 1 | 2; readonly each: 1 | 3 },
): Promise<Night> {
  const jobs = nightJobs(rounds);
  const pairs = verifiedPairs(each);
  const byName = new Map(jobs.map((job) => [job.name, job]));
  const jobNamed = (wanted: string): NightJob => {
    const job = byName.get(wanted);
    if (job === undefined) throw new Error(`no job of the night is ${wanted}`);
    return job;
  };
  const cases = pairs.flatMap(({ killed, quiet }) => [killed, quiet]);
  const tricksters = await startTricksters(jobNamed);
  const cast = await startOllamaDouble({
    models: [caseModel(cases, () => undefined)],
    numParallel: 64,
  });
  const topology = await startTopology(name, {
    model: { provider: "hosts", name: "cast", num_ctx: 8_192 },
    hosts: [
      { name: "cast", kind: "ollama", url: cast.url, parallel: 64, models: ["cast"] },
      {
        ...{ name: "tricksters", kind: "ollama", url: tricksters.url },
        ...{ parallel: 64, models: ["trickster"] },
      },
    ],
    verify: { mode: "standard", rounds: 1, priority: PRIORITY.check },
    runs: { reuse: "never" },
  });
  await writeWorld(topology.workroot);
  for (const one of cases) await writeDocuments(topology.workroot, one);
  const db = await topology.connect();
  const other = await topology.connect();
  const onlooker = startOnlooker(db);
  const workers: ToolWorker[] = [];
  const lost: string[] = [];
  const start = async (options: Parameters<typeof startToolWorker>[2]): Promise<ToolWorker> => {
    const worker = await startToolWorker(db, topology.workroot, options);
    workers.push(worker);
    return worker;
  };
  const killWorkers = async (): Promise<readonly string[]> => {
    const inHand = await Promise.all(workers.splice(0).map((worker) => worker.kill()));
    lost.push(...inHand.flat());
    return inHand.flat();
  };

  await index(db, start);
  await killWorkers();
  const { batchId, jobIds } = await openBatchOf(db, investigationsOf(jobs));
  const ids = new Map(jobs.map(({ name }, at) => [name, jobIds[at] ?? ""]));
  return {
    ...{ topology, db, other, tricksters, cast, onlooker, jobs, pairs, batchId, lost },
    ...{ jobNamed, killWorkers, idOf: (wanted: string) => ids.get(wanted) ?? "" },
    rows: () =>
      rowsOf<JobRow>(
        db,
        `select job_id, custom_id as name, state, waiting_for, error_code
           from nightdesk_data.jobs where batch_id = $1 order by seq`,
        [batchId],
      ),
    async addVerified() {
      const added = await insertJobs(db, batchId, verifiedOf(pairs));
      await openBatch(db, batchId);
      for (const [customId, jobId] of added) ids.set(customId, jobId);
    },
    async startWorkers() {
      await Promise.all([1, 2].map(() => start({ concurrency: IN_HAND })));
    },
    async kill(stops, places) {
      const concurrency = Object.keys(stops).length + places;
      const worker = await start({ concurrency, stops });
      await worker.allStopped();
      return killWorkers();
    },
    async end() {
      await killWorkers();
      await onlooker.stop();
      await other.end();
      await db.end();
      await topology.dispose();
      await cast.close();
      await tricksters.close();
    },
  };
}

/** Its model answers as text: a host that is too old for schemas. */
const startTricksters = (jobNamed: (name: string) => NightJob): Promise<OllamaDouble> =>
  startOllamaDouble({
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
    serverVersion: "0.4.0",
  });

/** Indexes all files, those that no job may see as well. */
async function index(
  db: Database,
  start: (options: { readonly concurrency: number }) => Promise<ToolWorker>,
): Promise<void> {
  await openBatchOf(db, [askJob("index", { input: { kind: "index", options: { embed: false } } })]);
  await start({ concurrency: 1 });
  await patiently("all files are indexed", async () => {
    const rows = await rowsOf<{ state: string }>(
      db,
      "select state from nightdesk_data.jobs where kind = 'index'",
    );
    return rows.every(({ state }) => state === "succeeded");
  });
}

function investigationsOf(jobs: readonly NightJob[]): readonly NewJob[] {
  const { evening, midnight } = planKills(jobs);
  return jobs.map((job) => {
    const { name, scenario } = job;
    const at = evening.has(job) ? "evening" : midnight.has(job) ? "midnight" : "others";
    return askJob(name, {
      priority: PRIORITY[at],
      input: {
        kind: "investigate",
        task: `[${name}] ${TASK}`,
        preset: scenario.preset,
        options: { path_prefix: GRANTED, model: "trickster", verify: "off" },
      },
    });
  });
}

const verifiedOf = (pairs: readonly Pair[]): readonly NewJob[] =>
  pairs.flatMap(({ killed, quiet, act }) => [
    askJob(killed.id, { input: inputOf(killed), priority: PRIORITY[act] }),
    askJob(quiet.id, { input: inputOf(quiet), priority: PRIORITY.quiet }),
  ]);
