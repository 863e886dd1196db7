import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import type { JobInput } from "../../src/shared/job/job.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";
import type { Reuse } from "../../src/worker/jobs/call-log.ts";
import { createRunJob } from "../../src/worker/jobs/run-job.ts";
import type { ProbedMachine } from "../../src/worker/sandbox/shell/probe.ts";
import { startWorker } from "../../src/worker/start.ts";
import { askJob, openBatchOf, rowOf } from "../conformance/jobs.ts";
import { eventually } from "../conformance/signal.ts";
import { startTopology } from "../conformance/topologies.ts";
import type { TopologyName } from "../conformance/topologies.ts";
import { startOllamaDouble } from "../doubles/ollama-server.ts";
import type { OllamaDouble } from "../doubles/ollama-server.ts";
import type { DoubleModel } from "../doubles/ollama/double-model.ts";
import type { Ended } from "./run-bin.ts";
import { runCommand } from "./run-command.ts";

/** A work root with a worker of its own, over the double of a model host. */
export type ReplayDesk = {
  readonly db: Database;
  readonly double: OllamaDouble;
  readonly workroot: string;
  /** Writes a file below the work root. */
  write(path: string, text: string | Uint8Array): Promise<void>;
  remove(path: string): Promise<void>;
  /** Works a job to its end. @returns its id */
  work(input: JobInput): Promise<string>;
  /** Queues a job. @returns its id */
  queue(input: JobInput): Promise<string>;
  /** Waits for the end of a job. */
  ended(jobId: string): Promise<void>;
  /** `nightdesk runs replay ID`, with the configuration as it is or with other keys of it. */
  replay(id: string, options?: ReplayOptions): Promise<Ended>;
  /** Any other command, with the configuration as it is. */
  nightdesk(...words: readonly string[]): Promise<Ended>;
  /** `nightdesk runs trace ID --output FOLDER`; a folder is named from the work root. */
  trace(id: string, folder: string): Promise<Ended>;
  dispose(): Promise<void>;
};

export type ReplayOptions = {
  readonly config?: Readonly<Record<string, unknown>>;
  readonly flags?: readonly string[];
};

export type ReplayWorld = {
  /** never, unless told: each job asks its host, also what another job asked before. */
  readonly reuse?: Reuse;
  /** What its worker finds for commands; this machine unless told. */
  readonly machine?: ProbedMachine;
  /** Of its configuration. */
  readonly keys?: Readonly<Record<string, unknown>>;
};

export async function openReplayDesk(
  name: TopologyName,
  models: readonly DoubleModel[],
  { reuse = "never", machine, keys = {} }: ReplayWorld = {},
): Promise<ReplayDesk> {
  const double = await startOllamaDouble({ models });
  const [first] = models;
  const model = { provider: "ollama", name: first?.name, base_url: double.url, num_ctx: 4_096 };
  // What is said stands: the models of these tests say what no document holds.
  const ask = { unsupported: "flag" };
  const topology = await startTopology(name, { model, ask, runs: { reuse }, ...keys });
  const { context, workroot } = topology;
  const db = await topology.connect();
  const worker = await startWorker(context, 1, (database) =>
    createRunJob(context, database, {}, { machine }),
  );
  let configs = 0;

  async function queue(input: JobInput): Promise<string> {
    const { jobIds } = await openBatchOf(db, [askJob("job", { input })]);
    return jobIds[0] ?? "";
  }
  const ended = (jobId: string): Promise<void> =>
    eventually(`${jobId} has ended`, async () => (await rowOf(db, jobId))["finished_at"] !== null);

  const nightdesk = (...words: readonly string[]): Promise<Ended> =>
    runCommand([...words, "--workroot", workroot], { cwd: workroot });

  /** A configuration that extends the worker's. */
  async function configWith(keys: ReplayOptions["config"]): Promise<string> {
    if (keys === undefined) return topology.configFile;
    configs += 1;
    const file = join(workroot, `other-${configs}.yaml`);
    await writeFile(file, stringify({ extends: topology.configFile, ...keys }));
    return file;
  }

  return {
    db,
    double,
    workroot,
    async write(path, text) {
      await mkdir(dirname(join(workroot, path)), { recursive: true });
      await writeFile(join(workroot, path), text);
    },
    remove: (path) => rm(join(workroot, path)),
    queue,
    ended,
    async work(input) {
      const jobId = await queue(input);
      await ended(jobId);
      return jobId;
    },
    async replay(id, { config, flags = [] } = {}) {
      return nightdesk("runs", "replay", id, ...flags, "--config", await configWith(config));
    },
    nightdesk: (...words) => nightdesk(...words, "--config", topology.configFile),
    trace: (id, folder) =>
      nightdesk("runs", "trace", id, "--output", folder, "--config", topology.configFile),
    async dispose() {
      await worker.stop(0);
      await db.end();
      await topology.dispose();
      await double.close();
    },
  };
}
