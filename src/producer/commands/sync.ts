import { z } from "zod";
import { openContext, withDatabase } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { CommandHandler, Invocation } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import type { Config } from "../../shared/config/schema.ts";
import { Failure } from "../../shared/failure.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { findOpenSync } from "../../shared/store/index/remote-files.ts";
import { AT_ONCE, queueAdHoc } from "../../shared/store/jobs/queue-ad-hoc.ts";
import type { QueuedJob } from "../../shared/store/jobs/queue-ad-hoc.ts";
import { countOf, formatCount } from "../../shared/views/quantity.ts";
import { selectResult } from "../../shared/views/results.ts";
import { delayJson, printDelay, resultJson } from "../print/result.ts";
import { hintHold, hintWorker } from "../watch/obstacles.ts";
import { waitForIndex } from "../watch/wait-for-index.ts";
import { batchSettingsOf } from "./options.ts";

/** Queues a job for each source that mirrors another place; with `--wait`, waits for all of them. */
export const sync: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const sources = mirroredSources(context.config, invocation);
  return withDatabase(context, "create", async (database) => {
    const queued: QueuedSync[] = [];
    for (const source of sources)
      queued.push({ source, ...(await queueSync(context, database, source)) });
    return invocation.options["wait"] === true
      ? printEnds(context, database, queued)
      : printQueued(context, database, queued);
  });
};

type QueuedSync = QueuedJob & { readonly source: string };

/** @throws Failure NOT_FOUND, USAGE_ERROR */
function mirroredSources({ index }: Config, { args, options }: Invocation): readonly string[] {
  const mirrors = index.sources.filter(({ from }) => from !== undefined).map(({ name }) => name);
  const unknown = args.find((name) => !mirrors.includes(name));
  if (unknown !== undefined || mirrors.length === 0) {
    const known =
      mirrors.length === 0 ? "none; give one of index.sources from and remote" : mirrors.join(", ");
    const which = unknown === undefined ? "" : ` ${JSON.stringify(unknown.slice(0, 100))}`;
    throw new Failure(
      "NOT_FOUND",
      `There is no source${which} that mirrors another place. Such sources: ${known} (docs/sources.md).`,
    );
  }
  if (options["acceptDeletions"] === true && args.length !== 1)
    throw new Failure("USAGE_ERROR", "--accept-deletions is for one source; name it.");
  return args.length === 0 ? mirrors : [...new Set(args)];
}

/** Reuses a waiting job, which does the same, unless deletions are accepted now. */
async function queueSync(
  { invocation }: CommandContext,
  database: Database,
  source: string,
): Promise<QueuedJob> {
  const { options } = invocation;
  const accepts = options["acceptDeletions"] === true;
  const open = accepts ? undefined : await findOpenSync(database, source);
  if (open !== undefined) return open;
  const input = { kind: "sync", source, ...(accepts ? { accept_deletions: true } : {}) } as const;
  const atOnce = options["wait"] === true ? AT_ONCE : {};
  return queueAdHoc(database, input, { ...atOnce, ...batchSettingsOf(options) });
}

async function printQueued(
  context: CommandContext,
  database: Database,
  queued: readonly QueuedSync[],
): Promise<number> {
  const { terminal } = context;
  const jobs = queued.map(({ source, jobId, batchId, batch }) => ({
    ...{ source, job_id: jobId, batch_id: batchId, batch, state: "queued" },
  }));
  if (terminal.isJson) await terminal.printJson({ ok: true, jobs });
  else for (const { source, jobId } of queued) await terminal.print(`${source}\t${jobId}`);
  for (const { batchId } of queued) await hintHold(context, database, batchId);
  await hintWorker(context, database);
  return EXIT.ok;
}

async function printEnds(
  context: CommandContext,
  database: Database,
  queued: readonly QueuedSync[],
): Promise<number> {
  const { terminal } = context;
  const ends: Record<string, unknown>[] = [];
  let [exit, delayed]: [number, number | undefined] = [EXIT.ok, undefined];
  for (const { source, ...job } of queued) {
    const waited = await waitForIndex(context, database, job);
    const result = await selectResult(database, job.jobId);
    if (waited.kind === "delayed" && terminal.isJson) {
      delayed = EXIT.tryLater;
      ends.push({ source, ...delayJson(waited.job, job.batch) });
    } else if (waited.kind === "delayed")
      delayed = await printDelay(context, waited.job, job.batch);
    if (waited.kind === "delayed" || result === undefined) continue;
    const isDone = result.state === "succeeded";
    if (!isDone) exit = EXIT.error;
    else if (heldDeletions(result.summary) > 0 && exit === EXIT.ok) exit = EXIT.partial;
    ends.push({ source, ...resultJson(result) });
    if (terminal.isJson) continue;
    if (isDone) for (const line of formatSyncSummary(result.summary)) await terminal.print(line);
    else terminal.say(`${result.error_code ?? ""}: ${result.error_message ?? ""}`);
  }
  if (terminal.isJson && ends.length > 0)
    await terminal.printJson({
      ok: exit === EXIT.ok && delayed === undefined,
      sources: ends,
    });
  return exit === EXIT.ok ? (delayed ?? exit) : exit;
}

const syncSchema = z.object({
  source: z.string(),
  listed: z.number(),
  fetched: z.number(),
  bytes: z.number(),
  unchanged: z.number(),
  skipped: z.number(),
  deleted: z.number(),
  held: z.number(),
  waiting: z.number(),
  described: z.number().default(0),
});

/** One line on the result of a sync, and further lines that an operator must know. */
function formatSyncSummary(summary: unknown): readonly string[] {
  const parsed = syncSchema.safeParse(summary);
  if (!parsed.success) return [JSON.stringify(summary)];
  const { source, listed, fetched, bytes, unchanged, skipped, deleted, held, waiting, described } =
    parsed.data;
  const line = `${source}: ${countOf(listed, "file")}, ${formatCount(fetched)} fetched (${formatCount(bytes)} bytes), ${formatCount(unchanged)} unchanged, ${formatCount(deleted)} deleted`;
  return [
    line,
    ...(described === 0
      ? []
      : [`${countOf(described, "file")} with another title, other tags or dates than before.`]),
    ...(skipped === 0
      ? []
      : [
          `${countOf(skipped, "file")} skipped. Why: nightdesk sql "select name, reason from remote_files where fate = 'skipped'"`,
        ]),
    ...(waiting === 0
      ? []
      : [`${countOf(waiting, "file")} left to the next run: this one fetched remote.mb_per_run.`]),
    ...(held === 0
      ? []
      : [
          `${countOf(held, "file")} gone there, and kept here. To delete them: nightdesk sync ${source} --accept-deletions`,
        ]),
  ];
}

/** Number of files that are deleted at the source and wait for a person's decision. */
const heldDeletions = (summary: unknown): number => syncSchema.safeParse(summary).data?.held ?? 0;
