import { setTimeout } from "node:timers/promises";
import { checkedCommand } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { deleteOldSlice, selectOldBatches } from "../../shared/store/jobs/retention.ts";
import type { OldBatch, Retention } from "../../shared/store/jobs/retention.ts";
import { selectNow } from "../../shared/store/schedules/schedules.ts";
import { Failure } from "../../shared/failure.ts";
import { countOf, formatCount, formatTime } from "../../shared/views/quantity.ts";
import { textOf } from "./options.ts";

const SLICE_JOBS = 2_000;
/** While jobs run, it pauses after each slice for so many times the slice's duration. */
const PAUSE_FACTOR = 9;
/** The most names that are shown; the rest is deleted too. */
const MOST_SHOWN = 1_000;

/** Deletes finished batches that are old enough, with all their rows; pinned ones stay. */
export const batchPrune = checkedCommand(parseRetention, async (context, database, rule) => {
  // The deletion takes a while: a batch that becomes old meanwhile is left for the next run.
  const retention = { ...rule, asOf: await selectNow(database) };
  const nothing = { jobs: 0, batches: 0, isBusy: false };
  const pruned =
    context.invocation.options["dryRun"] === true
      ? { ...nothing, old: await selectOldBatches(database, retention, MOST_SHOWN) }
      : await pruneBatches(context, database, retention);
  await printPruned(context, pruned);
});

/** The first old batches, and the numbers of deleted jobs and batches. */
type Pruned = {
  /** Whether it ended because a worker deletes old batches at the same time. */
  readonly isBusy: boolean;
  readonly old: readonly OldBatch[];
  readonly jobs: number;
  readonly batches: number;
};

const UNIT_MS = { h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

function parseRetention({ invocation, config }: CommandContext): Retention {
  const { keep_days: keepDays, pin_until_exported: pin } = config.runs;
  const only = pin ? "exported" : "any";
  const given = textOf(invocation.options, "olderThan");
  if (given === undefined && keepDays !== null) {
    return { olderThanMs: keepDays * UNIT_MS.d, only };
  }
  const [, digits = "", letter = ""] = /^(\d{1,5})([hdw])$/.exec(given ?? "") ?? [];
  const unit = letter === "h" || letter === "d" || letter === "w" ? UNIT_MS[letter] : undefined;
  if (unit !== undefined) return { olderThanMs: Number(digits) * unit, only };
  throw new Failure(
    "USAGE_ERROR",
    given === undefined
      ? "runs.keep_days keeps all batches. Say how old they must be, as in --older-than 30d."
      : `--older-than takes a number of hours, days or weeks such as 12h, 30d or 4w, and not ${JSON.stringify(given)}.`,
  );
}

async function pruneBatches(
  { terminal }: CommandContext,
  database: Database,
  retention: Retention,
): Promise<Pruned> {
  const old = new Map<string, OldBatch>();
  let jobs = 0;
  let batches = 0;
  const pruned = (): Pruned => ({ old: [...old.values()], jobs, batches, isBusy: false });
  for (;;) {
    const startedAt = performance.now();
    const slice = await deleteOldSlice(database, retention, SLICE_JOBS);
    if (slice.kind === "busy") return { ...pruned(), isBusy: true };
    if (slice.of === null) return pruned();
    jobs += slice.jobs;
    batches += slice.batches;
    const before = old.get(slice.of.batchId);
    if (before !== undefined || old.size < MOST_SHOWN) {
      old.set(slice.of.batchId, { ...slice.of, jobs: (before?.jobs ?? 0) + slice.jobs });
    }
    const pace = slice.isAtWork ? ", slowly, because jobs run" : "";
    terminal.status(`${formatCount(jobs)} jobs deleted${pace}`);
    if (slice.isAtWork) await setTimeout((performance.now() - startedAt) * PAUSE_FACTOR);
  }
}

async function printPruned(
  { terminal, invocation }: CommandContext,
  { old, jobs, batches, isBusy }: Pruned,
): Promise<void> {
  terminal.clearStatus();
  if (isBusy)
    terminal.say("A worker deletes old batches at this moment; what is left is for it to do.");
  const isDry = invocation.options["dryRun"] === true;
  if (terminal.isJson)
    return terminal.printJson({
      ok: true,
      dry_run: isDry,
      deleted_batches: batches,
      deleted_jobs: jobs,
      batches: old.map((batch) => ({
        batch_id: batch.batchId,
        batch: batch.name,
        finished_at: batch.finishedAt,
        jobs: batch.jobs,
      })),
    });
  for (const batch of old) {
    await terminal.print(
      `${formatTime(batch.finishedAt, terminal.zone)}  ${countOf(batch.jobs, "job")}  ${batch.name}`,
    );
  }
  const more = old.length === MOST_SHOWN ? " and more" : "";
  if (old.length === 0) {
    if (!isBusy)
      terminal.say("No batch is old enough that is not pinned and not waiting for its export.");
  } else if (isDry) {
    terminal.say(`Batches that would be deleted: ${formatCount(old.length)}${more}.`);
  } else {
    terminal.say(`Batches deleted: ${formatCount(batches)}, with ${countOf(jobs, "job")}.`);
  }
}
