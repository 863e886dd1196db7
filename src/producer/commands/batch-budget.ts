import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandHandler, Invocation } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { notifyJobs } from "../../shared/db/jobs/batches.ts";
import { keepHolds } from "../../shared/db/jobs/holds.ts";
import { selectBatchBudget, setBatchBudget } from "../../shared/db/pacing/budgets.ts";
import type { BudgetChange } from "../../shared/db/pacing/budgets.ts";
import { Failure } from "../../shared/failure.ts";
import { findNamedBatch } from "../find-named-batch.ts";
import { describeState } from "../print/describe-batch.ts";
import { budgetJson, describeBudget, NO_BUDGET } from "../print/describe-budget.ts";
import { argumentOf, said, textOf } from "./read-options.ts";

/** Shows what the model calls of a batch have cost, and changes what they may cost; a batch that was held goes on. */
export const batchBudget: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { terminal } = context;
  const change = changeOf(invocation);
  const { batch, budget } = await withDatabase(context, "must-exist", async (database) => {
    const { batchId } = await findNamedBatch(database, argumentOf(invocation));
    if (Object.keys(change).length > 0) {
      await setBatchBudget(database, batchId, change);
      await keepHolds(database);
      await notifyJobs(database);
    }
    return {
      batch: await findNamedBatch(database, batchId),
      budget: (await selectBatchBudget(database, batchId)) ?? NO_BUDGET,
    };
  });
  if (invocation.options["json"] === true) {
    await terminal.printJson({
      batch_id: batch.batchId,
      batch: batch.name,
      ...budgetJson(budget),
    });
  } else {
    await terminal.print(`batch     ${batch.name}`);
    await terminal.print(`state     ${describeState(batch)}`);
    for (const line of describeBudget(budget, batch.name)) await terminal.print(line);
  }
  return EXIT.ok;
};

function changeOf({ options }: Invocation): BudgetChange {
  return said({
    tokens: limitOf(textOf(options, "tokens"), "--tokens", "whole"),
    calls: limitOf(textOf(options, "calls"), "--calls", "whole"),
    seconds: limitOf(textOf(options, "wallTime"), "--wall-time", "any"),
  });
}

/** @returns null for `none`, which lifts a limit */
function limitOf(
  text: string | undefined,
  flag: string,
  numbers: "whole" | "any",
): number | null | undefined {
  if (text === undefined) return undefined;
  if (text === "none") return null;
  const limit = Number(text);
  const isValid = Number.isSafeInteger(limit) || (numbers === "any" && Number.isFinite(limit));
  if (isValid && limit > 0 && text.trim() !== "") return limit;
  const expected = numbers === "whole" ? "a whole number from 1" : "a number of seconds above 0";
  throw new Failure(
    "USAGE_ERROR",
    `${flag} is ${JSON.stringify(text)}; expected ${expected}, or none for no limit.`,
  );
}
