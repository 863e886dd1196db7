import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandContext } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { checkName } from "../enqueue/choose-batch.ts";
import { printRefusal } from "../../shared/commands/report-failure.ts";
import { selectPaths } from "./select-paths.ts";
import { onlyChanged, printUnchanged } from "./only-changed.ts";
import { routeOf, said, textOf } from "./read-options.ts";
import { runFileJobs } from "./run-file-jobs.ts";
import { runSingleJob } from "./run-single-job.ts";

/** One file is a job of its own; several, a glob or a name for it make a batch. */
export const summarize: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const selected = await selectPaths(context);
  if (selected.kind === "refused") return printRefusal(selected, invocation);
  const { paths, isSelection, skipped } = selected;
  const name = textOf(invocation.options, "batchName");
  const all = paths.map((path) => ({
    kind: "summarize",
    path,
    options: summaryOptions(invocation.options),
  }));
  const inputs = await onlyChanged(context, all);
  if (inputs.length === 0) return printUnchanged(context);
  const [only] = inputs;
  const digest = invocation.options["digest"] === true ? routingOf(invocation.options) : null;
  const isOne = inputs.length === 1 && !isSelection && name === undefined && digest === null;
  if (only !== undefined && isOne) return runSingleJob(context, only);
  if (name !== undefined) checkName(name);
  return withDatabase(context, "create", (database) =>
    runFileJobs(context, database, { command: "summarize", name, inputs, skipped, digest }),
  );
};

type Options = CommandContext["invocation"]["options"];

const routingOf = (options: Options) =>
  said({ route: routeOf(options), model: textOf(options, "model") });

const summaryOptions = (options: Options) =>
  said({
    ...routingOf(options),
    length: textOf(options, "length"),
    bullets: options["bullets"] === true ? true : undefined,
  });
