import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import { exitCodeOf, printFailure } from "../../src/shared/commands/report-failure.ts";
import type { JobInput } from "../../src/shared/job.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { runsTrace } from "../../src/producer/commands/runs-trace.ts";
import { runsReplay } from "../../src/worker/commands/runs-replay.ts";
import type { Reuse } from "../../src/worker/delivery/call-log.ts";
import { createRunJob } from "../../src/worker/jobs/run-job.ts";
import type { ProbedMachine } from "../../src/worker/sandbox/shell/probe.ts";
import { startWorker } from "../../src/worker/start.ts";
import { askJob, openBatchOf, rowOf } from "../conformance/jobs.ts";
import { eventually } from "../conformance/signal.ts";
import { startTopology } from "../conformance/topologies.ts";
import { startOllamaDouble } from "../doubles/ollama-server.ts";
import type { OllamaDouble } from "../doubles/ollama-server.ts";
import type { DoubleModel } from "../doubles/ollama/double-model.ts";

export type Replayed = {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
};

/** A work root with a worker of its own on the embedded database, over the double of a model host. */
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
  replay(id: string, options?: ReplayOptions): Promise<Replayed>;
  /** `nightdesk runs trace ID --output FOLDER`; a folder is named from the work root. */
  trace(id: string, folder: string): Promise<Replayed>;
  /** `nightdesk runs replay --from FOLDER` */
  replayFrom(folder: string): Promise<Replayed>;
  dispose(): Promise<void>;
};

export type ReplayOptions = {
  readonly config?: Readonly<Record<string, unknown>>;
  readonly flags?: Readonly<Record<string, boolean>>;
};

/**
 * @param keys of its configuration
 * @param reuse never: each job asks its host, also what another job asked before
 */
export async function openReplayDesk(
  models: readonly DoubleModel[],
  reuse: Reuse = "never",
  machine?: ProbedMachine,
  keys: Readonly<Record<string, unknown>> = {},
): Promise<ReplayDesk> {
  const double = await startOllamaDouble({ models });
  const [first] = models;
  const model = { provider: "ollama", name: first?.name, base_url: double.url, num_ctx: 4_096 };
  // What is said stands: the models of these tests say what no document holds.
  const ask = { unsupported: "flag" };
  const topology = await startTopology("embedded", { model, ask, runs: { reuse }, ...keys });
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
    async replay(id, { config, flags = {} } = {}) {
      const options = { ...flags, config: await configWith(config), workroot };
      return captured(flags, () => runsReplay({ ...context.invocation, args: [id], options }));
    },
    async trace(id, folder) {
      const options = { output: folder, config: topology.configFile, workroot };
      return captured({}, () =>
        runsTrace({ ...context.invocation, cwd: workroot, args: [id], options }),
      );
    },
    async replayFrom(folder) {
      const options = { from: folder, config: topology.configFile, workroot };
      return captured({}, () =>
        runsReplay({ ...context.invocation, cwd: workroot, args: [], options }),
      );
    },
    async dispose() {
      await worker.stop(0);
      await db.end();
      await topology.dispose();
      await double.close();
    },
  };
}

/** What a command writes, and its exit code, also when it fails. */
async function captured(
  { json }: Readonly<Record<string, boolean>>,
  run: () => Promise<number>,
): Promise<Replayed> {
  const written = { stdout: "", stderr: "" };
  const undo = (["stdout", "stderr"] as const).map((name) => {
    const stream = process[name];
    const original = stream.write.bind(stream);
    stream.write = (chunk: string | Uint8Array) => {
      written[name] += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
      return true;
    };
    return () => {
      stream.write = original;
    };
  });
  try {
    return { code: await run(), ...written };
  } catch (error) {
    printFailure(error, { json: json === true, stack: false });
    return { code: exitCodeOf(error), ...written };
  } finally {
    for (const restore of undo) restore();
  }
}
