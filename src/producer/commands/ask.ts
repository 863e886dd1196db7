import { openContext } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { printRefusal } from "../../shared/commands/report-failure.ts";
import { documentFilterOf } from "../../shared/document-filter.ts";
import { pathPrefixOf } from "../../shared/path-prefix.ts";
import { argumentOf, routeOf, said, sourceOf, textOf } from "./read-options.ts";
import { runSingleJob } from "./run-single-job.ts";

export const ask: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { options, cwd } = invocation;
  const path = textOf(options, "path");
  const place = path === undefined ? undefined : pathPrefixOf(path, cwd, context.config);
  if (place?.kind === "refused") return printRefusal(place, invocation);
  return runSingleJob(context, {
    kind: "ask",
    question: argumentOf(invocation),
    options: said({
      route: routeOf(options),
      full: options["full"] === true ? true : undefined,
      model: textOf(options, "model"),
      path_prefix: place?.prefix,
      source: sourceOf(options, context.config),
      ...documentFilterOf(options),
    }),
  });
};
