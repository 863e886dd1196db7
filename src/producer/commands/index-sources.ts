import { openContext } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { said, sourceOf } from "./read-options.ts";
import { runIndexCommand } from "./run-index-command.ts";

export const indexSources: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { options } = invocation;
  return runIndexCommand(context, {
    kind: "index",
    options: said({
      source: sourceOf(options, context.config),
      rebuild: options["rebuild"] === true ? true : undefined,
      verify: options["verify"] === true ? true : undefined,
      prune: options["prune"] === true ? true : undefined,
      prune_missing: options["pruneMissing"] === true ? true : undefined,
      allow_partial: options["allowPartial"] === true ? true : undefined,
      embed: options["embed"] === false ? false : undefined,
    }),
  });
};
