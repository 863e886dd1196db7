import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { countHeldBackJobs } from "../../shared/db/jobs/load-batch.ts";
import { selectProblems } from "../../shared/db/jobs/read-batches.ts";
import type { BatchProgress, ProblemGroup } from "../../shared/db/jobs/read-batches.ts";
import { findNamedBatch } from "../find-named-batch.ts";
import { batchJson, describeCounts, describeState } from "../print/describe-batch.ts";
import { countOf, formatDuration, formatTime } from "../print/quantity.ts";
import { argumentOf } from "./read-options.ts";

export const batchShow: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { terminal } = context;
  const shown = await withDatabase(context, "must-exist", async (database) => {
    const batch = await findNamedBatch(database, argumentOf(invocation));
    return {
      batch,
      problems: await selectProblems(database, batch.batchId),
      heldBack: await countHeldBackJobs(database, batch.batchId),
    };
  });
  if (invocation.options["json"] === true) {
    await terminal.printJson({
      ...batchJson(shown.batch),
      held_back: shown.heldBack,
      problems: shown.problems.map(problemJson),
    });
  } else {
    for (const line of describeBatch(shown)) await terminal.print(line);
  }
  return EXIT.ok;
};

const problemJson = ({ state, code, jobs, customIds, message }: ProblemGroup) => ({
  state,
  error_code: code,
  jobs,
  custom_ids: customIds,
  error_message: message,
});

type Shown = {
  readonly batch: BatchProgress;
  readonly problems: readonly ProblemGroup[];
  readonly heldBack: number;
};

function describeBatch({ batch, problems, heldBack }: Shown): readonly string[] {
  const finishedAt = batch.finishedAt;
  const took = finishedAt === null ? 0 : finishedAt.getTime() - batch.createdAt.getTime();
  return [
    `batch     ${batch.name}`,
    `id        ${batch.batchId}`,
    `state     ${describeState(batch)}`,
    `jobs      ${countOf(batch.total, "job")}: ${describeCounts(batch)}`,
    ...(heldBack === 0
      ? []
      : [
          `          ${countOf(heldBack, "job")} held back: the load was interrupted; enqueue the same file again`,
        ]),
    `created   ${formatTime(batch.createdAt)}`,
    ...(finishedAt === null
      ? []
      : [`finished  ${formatTime(finishedAt)}, after ${formatDuration(took)}`]),
    ...(problems.length === 0 ? [] : ["", "What did not succeed:"]),
    ...problems.flatMap(describeProblem),
  ];
}

function describeProblem({
  state,
  code,
  jobs,
  customIds,
  message,
}: ProblemGroup): readonly string[] {
  const more = jobs > customIds.length ? ", …" : "";
  return [
    `  ${code}, ${countOf(jobs, "job")} ${state}: ${customIds.join(", ")}${more}`,
    `    ${message}`,
  ];
}
