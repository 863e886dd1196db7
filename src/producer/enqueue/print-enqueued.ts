import type { CommandContext } from "../../shared/command-context.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import type { Database } from "../../shared/db/database.ts";
import { findBatch } from "../../shared/db/jobs/read-batches.ts";
import { Failure } from "../../shared/failure.ts";
import { countOf, formatCount } from "../print/quantity.ts";
import type { ChosenBatch } from "./choose-batch.ts";
import type { Enqueued } from "./enqueue-lines.ts";

/** With what is to be said of model names that are not known, if there are any. */
export type Loaded = Enqueued & { readonly unknownModels: string | undefined };

/** The batch, and what became of the lines. */
export async function printEnqueued(
  { terminal, invocation }: CommandContext,
  { batchId, name, mode }: ChosenBatch,
  { added, skipped, problems }: Enqueued,
): Promise<void> {
  terminal.clearStatus();
  for (const line of problems.describe()) terminal.say(line);
  if (invocation.options["json"] === true) {
    await terminal.printJson({
      ok: true,
      batch_id: batchId,
      batch: name,
      added,
      skipped,
      rejected: problems.count,
      problems: problems.first(),
    });
    return;
  }
  await terminal.print(batchId);
  const rejected = problems.count === 0 ? "" : `, ${countOf(problems.count, "bad line")} left out`;
  terminal.say(
    added === 0 && mode === "added"
      ? `Nothing new: all ${countOf(skipped, "job")} are in batch ${JSON.stringify(name)} already${rejected}.`
      : `Queued ${countOf(added, "job")} in batch ${JSON.stringify(name)}` +
          `${skipped === 0 ? "" : `, ${formatCount(skipped)} were there already`}${rejected}.`,
  );
}

/** A load that was cut off leaves its jobs, which are opened with those of this file, whichever that is. */
export async function sayEarlierLoad(
  { terminal }: CommandContext,
  database: Database,
  { batchId, name, created, mode }: ChosenBatch,
  { added, skipped }: Enqueued,
): Promise<void> {
  if (created || mode !== "loading") return;
  const total = (await findBatch(database, batchId))?.total ?? 0;
  const earlier = total - added - skipped;
  if (earlier <= 0) return;
  terminal.say(
    `${countOf(earlier, "job")} of a load that was cut off, and not in this file, ${earlier === 1 ? "is" : "are"} queued with it. ` +
      `If that was not meant: nightdesk batch cancel ${JSON.stringify(name)}`,
  );
}

/** Why nothing was queued. @throws Failure INPUT_INVALID without --json */
export async function printRejected(
  { terminal, invocation }: CommandContext,
  batch: ChosenBatch,
  { outcome, problems, unknownModels }: Loaded,
): Promise<number> {
  terminal.clearStatus();
  if (outcome === "empty") {
    throw new Failure(
      "INPUT_INVALID",
      "There is no job to queue: every line is blank. Expected one JSON object a line.",
    );
  }
  const kept = batch.mode === "loading" ? "nothing was queued" : "the batch keeps what it had";
  const remedy = unknownModels ?? "Correct the file, or use --no-strict to queue the good lines.";
  const message = `${countOf(problems.count, "bad line")}; ${kept}. ${remedy}`;
  if (invocation.options["json"] !== true) {
    for (const line of problems.describe()) terminal.say(line);
    throw new Failure("INPUT_INVALID", message);
  }
  await terminal.printJson({
    ok: false,
    error_code: "INPUT_INVALID",
    error_message: `${problems.describe()[0] ?? ""}; ${message}`,
    problems: problems.first(),
    rejected: problems.count,
  });
  return EXIT.error;
}
