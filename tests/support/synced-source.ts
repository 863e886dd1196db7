import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { hashJson } from "../../src/shared/schema/json-value.ts";
import type { JobInput, SyncInput } from "../../src/shared/job/job.ts";
import { startTrace } from "../../src/worker/run-trace.ts";
import { settleError, settleOutcome } from "../../src/shared/job/settlement.ts";
import type { Settlement } from "../../src/shared/job/settlement.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { settleRun } from "../../src/shared/store/jobs/settle-run.ts";
import { createRunJob } from "../../src/worker/jobs/run-job.ts";
import { claimNext, MADE_WITH, openBatchOf } from "../conformance/jobs.ts";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";

export type SyncedSource = {
  readonly topology: Topology;
  readonly db: Database;
  /** Runs a job of a new batch, and settles it. */
  work(input: JobInput): Promise<{ readonly jobId: string; readonly settlement?: Settlement }>;
  /** Runs a job that is parked, at once, and settles it. */
  again(jobId: string): Promise<Settlement | undefined>;
  run(input?: Partial<SyncInput>): Promise<Settlement | undefined>;
  /** The same; its summary, or its code. */
  sync(input?: Partial<SyncInput>): Promise<unknown>;
  /** Runs an index job of the source; its summary, or its code. */
  index(): Promise<unknown>;
  /** What lies in the mirror. */
  names(): Promise<string[]>;
  rows(columns: string): Promise<unknown[]>;
  stop(): Promise<void>;
};

/** A work root whose source `cloud` mirrors a place into allowed/cloud. */
export async function startSyncedSource(
  from: string,
  remote: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string>> = {},
  more: { readonly source?: object; readonly config?: object } = {},
): Promise<SyncedSource> {
  const topology = await startTopology("postgres", {
    index: { sources: [{ name: "cloud", root: "allowed/cloud", from, remote, ...more.source }] },
    ...more.config,
  });
  const db = await topology.connect();
  const { context } = topology;
  const invocation = { ...context.invocation, env };
  const runJob = createRunJob({ ...context, invocation }, db);
  const work: SyncedSource["work"] = async (input) => {
    const { jobIds } = await openBatchOf(db, [
      { customId: randomUUID(), input, inputSha256: hashJson(input), priority: 0 },
    ]);
    return runNext(jobIds[0] ?? "");
  };
  const runNext = async (id: string): ReturnType<SyncedSource["work"]> => {
    const job = await claimNext(db, id);
    const trace = startTrace();
    const settlement = await runJob(job, trace, new AbortController().signal).then(
      settleOutcome,
      (error: unknown) => settleError(error, job),
    );
    const { jobId, runId } = job;
    if (settlement === undefined) return { jobId };
    await settleRun(db, { runId, runMs: 1, ...MADE_WITH }, settlement, trace.record());
    return { jobId, settlement };
  };
  const run: SyncedSource["run"] = async (input) =>
    (await work({ kind: "sync", source: "cloud", ...input })).settlement;
  return {
    topology,
    db,
    work,
    async again(jobId) {
      await db.query("update nightdesk_data.jobs set due_at = now() where job_id = $1", [jobId]);
      return (await runNext(jobId)).settlement;
    },
    run,
    sync: async (input) => endOf(await run(input)),
    async index() {
      const options = { source: "cloud", allow_partial: true };
      return endOf((await work({ kind: "index", options })).settlement);
    },
    async names() {
      const found = await readdir(join(topology.workroot, "allowed/cloud"), {
        recursive: true,
        withFileTypes: true,
      });
      const root = join(topology.workroot, "allowed/cloud").length + 1;
      return found
        .filter((entry) => !entry.isDirectory())
        .map((entry) => join(entry.parentPath, entry.name).slice(root))
        .sort();
    },
    rows: async (columns) =>
      (await db.query(`select ${columns} from nightdesk.remote_files order by name`)).rows,
    async stop() {
      await db.end();
      await topology.dispose();
    },
  };
}

function endOf(settlement: Settlement | undefined): unknown {
  if (settlement?.kind === "succeeded") return settlement.outcome.summary;
  return settlement !== undefined && "code" in settlement ? settlement.code : settlement;
}
