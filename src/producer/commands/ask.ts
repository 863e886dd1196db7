import { openContext } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { documentFilterOf } from "../../shared/document-filter.ts";
import { argumentOf, routeOf, said, sourceOf, textOf } from "./read-options.ts";
import { runSingleJob } from "./run-single-job.ts";

export const ask: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { options } = invocation;
  return runSingleJob(context, {
    kind: "ask",
    question: argumentOf(invocation),
    options: said({
      route: routeOf(options),
      full: options["full"] === true ? true : undefined,
      model: textOf(options, "model"),
      path_prefix: textOf(options, "path"),
      source: sourceOf(options, context.config),
      ...documentFilterOf(options),
    }),
  });
};
