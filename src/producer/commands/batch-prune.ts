import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandContext } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { deleteOldSlice, selectOldBatches } from "../../shared/store/jobs/retention.ts";
import type { OldBatch, Retention } from "../../shared/store/jobs/retention.ts";
import { Failure } from "../../shared/failure.ts";
import { countOf, formatCount, formatTime } from "../../shared/views/quantity.ts";
import { textOf } from "./options.ts";

const SLICE_JOBS = 2_000;
/** More names than that help nobody; the rest is deleted all the same. */
const MOST_SHOWN = 1_000;

/** Deletes finished batches that are older than asked, with everything of theirs; pinned ones stay. */
export const batchPrune: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const retention = parseRetention(context);
  return withDatabase(context, "must-exist", async (database) => {
    const old = await selectOldBatches(database, retention, MOST_SHOWN);
    const isDry = invocation.options["dryRun"] === true;
    const deleted = isDry ? { jobs: 0, batches: 0 } : await prune(context, database, retention);
    await print(context, old, deleted);
    return EXIT.ok;
  });
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

async function prune(
  { terminal }: CommandContext,
  database: Database,
  retention: Retention,
): Promise<{ readonly jobs: number; readonly batches: number }> {
  const deleted = { jobs: 0, batches: 0 };
  for (;;) {
    const slice = await deleteOldSlice(database, retention, SLICE_JOBS);
    if (slice.kind === "busy") {
      terminal.say("A worker deletes old batches at this moment; what is left is for it to do.");
      return deleted;
    }
    if (slice.jobs + slice.batches === 0) return deleted;
    deleted.jobs += slice.jobs;
    deleted.batches += slice.batches;
    terminal.status(`${formatCount(deleted.jobs)} jobs deleted`);
  }
}

async function print(
  { terminal, invocation }: CommandContext,
  old: readonly OldBatch[],
  deleted: { readonly jobs: number; readonly batches: number },
): Promise<void> {
  terminal.clearStatus();
  const isDry = invocation.options["dryRun"] === true;
  if (invocation.options["json"] === true) {
    await terminal.printJson({
      ok: true,
      dry_run: isDry,
      deleted_batches: deleted.batches,
      deleted_jobs: deleted.jobs,
      batches: old.map(({ batchId, name, finishedAt, jobs }) => ({
        batch_id: batchId,
        batch: name,
        finished_at: finishedAt,
        jobs,
      })),
    });
    return;
  }
  for (const { name, finishedAt, jobs } of old) {
    await terminal.print(
      `${formatTime(finishedAt, terminal.zone)}  ${countOf(jobs, "job")}  ${name}`,
    );
  }
  const more = old.length === MOST_SHOWN ? " and more" : "";
  if (old.length === 0) {
    terminal.say("No batch is old enough that is not pinned and not waiting for its export.");
  } else if (isDry) {
    terminal.say(`Batches that would be deleted: ${formatCount(old.length)}${more}.`);
  } else {
    const { batches, jobs } = deleted;
    terminal.say(`Batches deleted: ${formatCount(batches)}, with ${countOf(jobs, "job")}.`);
  }
}
