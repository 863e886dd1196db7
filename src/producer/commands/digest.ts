import { checkedCommand } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { openBatch } from "../../shared/store/jobs/batches.ts";
import { selectFileJobs } from "../../shared/store/jobs/dependencies.ts";
import { evaluateHolds } from "../../shared/store/jobs/holds.ts";
import { Failure } from "../../shared/failure.ts";
import { modelAffinity } from "../../shared/job/kinds.ts";
import { insertDigests } from "../selection/digests.ts";
import { checkName, selectBatch } from "../../shared/enqueue/select-batch.ts";
import type { SelectedBatch } from "../../shared/enqueue/select-batch.ts";
import { findNamedBatch } from "../../shared/views/find-named-batch.ts";
import { countOf } from "../../shared/views/quantity.ts";
import { argumentOf, batchSettingsOf, countOfOption, routeOf, given, textOf } from "./options.ts";
import { printOrWait } from "./file-jobs.ts";

/** Queues digests of an existing batch, finished or not, as a batch of their own. */
export const digest = checkedCommand(nameOf, async (context, database, name) => {
  const of = await findNamedBatch(database, argumentOf(context.invocation));
  const batch = await queueDigests(context, database, of, name);
  return printOrWait(context, database, batch);
});

function nameOf({ invocation }: CommandContext): string | undefined {
  const name = textOf(invocation.options, "batchName");
  if (name !== undefined) checkName(name);
  return name;
}

async function queueDigests(
  { terminal, invocation, config }: CommandContext,
  database: Database,
  of: Pick<SelectedBatch, "batchId" | "name">,
  name: string | undefined,
): Promise<SelectedBatch> {
  const files = await selectFileJobs(database, of.batchId);
  if (files.length === 0) {
    throw new Failure(
      "INPUT_INVALID",
      `The batch ${JSON.stringify(of.name)} has no summaries or extractions to tell of. Queue some: nightdesk summarize`,
    );
  }
  const { options } = invocation;
  const lines = countOfOption(options, "lines");
  const wanted = given({ route: routeOf(options), model: textOf(options, "model"), lines });
  const batch = await selectBatch(database, name, `digest of ${of.name}`, batchSettingsOf(options));
  const digests = await database.transaction(async (db) => {
    const count = await insertDigests(db, files, {
      batchId: batch.batchId,
      title: of.name,
      options: wanted,
      affinityOf: (input) => modelAffinity(input, config.model),
    });
    await openBatch(db, batch.batchId);
    return count;
  });
  await evaluateHolds(database);
  terminal.say(
    `${countOf(digests, "digest")} of ${countOf(files.length, "job")} in batch ${JSON.stringify(batch.name)}.`,
  );
  return batch;
}
