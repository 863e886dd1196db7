import { openContext } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { countOfOption, said, textOf } from "./read-options.ts";
import { runIndexCommand } from "./run-index-command.ts";

export const embed: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { options } = invocation;
  return runIndexCommand(context, {
    kind: "embed",
    chunks: said({
      rebuild: options["rebuild"] === true ? true : undefined,
      limit: countOfOption(options, "limit"),
      batch_size: countOfOption(options, "batchSize"),
      model: textOf(options, "model"),
      dry_run: options["dryRun"] === true ? true : undefined,
      prune: options["prune"] === false ? false : undefined,
    }),
  });
};
