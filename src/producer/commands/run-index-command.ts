import { withDatabase } from "../../shared/command-context.ts";
import type { CommandContext } from "../../shared/command-context.ts";
import { indexOrEmbed } from "../index-and-embed.ts";
import { queueAdHoc } from "../queue-ad-hoc.ts";
import { checkInput, printQueued } from "./run-single-job.ts";

/** Waits for an index or embed job unless `--no-wait` was given. */
export async function runIndexCommand(
  context: CommandContext,
  value: Readonly<Record<string, unknown>>,
): Promise<number> {
  const input = checkInput(value);
  return withDatabase(context, "create", async (database) =>
    context.invocation.options["wait"] === false
      ? printQueued(context, database, await queueAdHoc(database, input))
      : indexOrEmbed(context, database, input),
  );
}
