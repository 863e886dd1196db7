import { relative, resolve } from "node:path";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { Config } from "../../shared/config/schema.ts";
import { CODES, Failure } from "../../shared/failure.ts";
import type { SyncInput } from "../../shared/job/job.ts";
import { summaryAlone } from "../../shared/job/run-result.ts";
import type { Answer } from "../../shared/job/run-result.ts";
import { claimSource } from "../../shared/store/index/remote-files.ts";
import { reportProgress } from "../../shared/store/jobs/claim-job.ts";
import { throttle } from "../loop.ts";
import type { WorkerResources } from "../resources.ts";
import { openRemote } from "../sync/open-remote.ts";
import type { MirroredSource } from "../sync/open-remote.ts";
import { syncSource } from "../sync/sync-source.ts";
import type { JobCall } from "./open-run.ts";
import { idBehind, jobOf, queueInBatch } from "./reindex.ts";

/**
 * Updates the mirror of a source, and if a file changed queues an index job for the source in the same batch, also when it
 * then fails for good.
 * @throws Failure NOT_FOUND if this worker's configuration has no such mirror; those of syncSource; SOURCE_UNAVAILABLE
 *   while another run works on the mirror
 */
export async function runSync(
  { job, input, trace, signal }: JobCall<SyncInput>,
  { config, database }: WorkerResources,
  { invocation }: Pick<CommandContext, "invocation">,
): Promise<Answer> {
  const source = findMirror(config, input.source);
  const { name, from: kind, remote } = source;
  const claim = { source: name, runId: job.runId, kind, address: remote.url };
  if (!(await claimSource(database, claim)))
    throw new Failure("SOURCE_UNAVAILABLE", `Source "${name}": another job mirrors it now.`);
  const opened = await openRemote(source, config, invocation.env);
  const report = throttle((done: number) =>
    reportProgress(database, job.runId, { phase: "sync", unit: "files", done, total: null }),
  );
  // An earlier run of the job may have ended between its changes and its index job.
  const changes = { any: job.dispatch > 1 };
  const queueIndex = (step: string) => {
    const index = { kind: "index", options: { source: name, allow_partial: true } } as const;
    return queueInBatch(job, database, [jobOf(idBehind(job, step), index)]);
  };
  try {
    const deletions = input.accept_deletions === true ? "accepted" : "held where many";
    const limits = limitsOf(source, config);
    const summary = await syncSource(
      { db: database, ...claim, ...limits, remote: opened, report, deletions, changes },
      trace,
      signal,
    );
    if (changes.any || summary.deleted + summary.described > 0) await queueIndex("index");
    return summaryAlone({ source: name, ...summary });
  } catch (error) {
    const isParked = error instanceof Failure && CODES[error.code].outcome === "parked";
    // A job that fails for good does not run again. A retry of it needs an index job with another custom id.
    if (changes.any && !isParked && !signal.aborted) await queueIndex(`index-${job.dispatch}`);
    throw error;
  } finally {
    await opened.close();
  }
}

function limitsOf({ root, exts, remote }: MirroredSource, { security, roots }: Config) {
  return {
    folder: {
      workroot: roots.workroot,
      root: relative(roots.workroot, resolve(roots.workroot, root)),
    },
    extensions: new Set(exts ?? security.allowed_exts),
    maxFileBytes: security.max_file_bytes,
    mostFiles: remote.max_files,
    mostBytes: remote.max_mb * 1_000_000,
    runBytes: remote.mb_per_run * 1_000_000,
  };
}

function findMirror({ index }: Config, name: string): MirroredSource {
  const found = index.sources.find((source) => source.name === name);
  if (found !== undefined && isMirror(found)) return found;
  throw new Failure(
    "NOT_FOUND",
    `This worker's configuration has no source "${name}" with from and remote. Start the worker again, with the configuration that has it.`,
  );
}

const isMirror = (source: Config["index"]["sources"][number]): source is MirroredSource =>
  source.from !== undefined && source.remote !== undefined;
