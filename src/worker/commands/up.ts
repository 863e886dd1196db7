import { openContext } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { Failure } from "../../shared/failure.ts";
import { work } from "./worker.ts";

/** The embedded database and a worker, in the foreground. The database process ends by itself after the worker. */
export const up: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  if (context.config.database.url !== "embedded") {
    throw new Failure(
      "CONFIG_ERROR",
      "`nightdesk up` is for the embedded database, and database.url names another. Run `nightdesk worker` instead.",
    );
  }
  context.terminal.say(
    `Database in ${context.config.roots.databaseDirectory}. It never calls fsync: a power cut may cost what was ` +
      "written since the last dump (backups/ there; nightdesk backup FILE writes one). Ctrl-C stops.",
  );
  return work(context, "for-ever");
};
