import { resolve } from "node:path";
import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { Failure } from "../../shared/failure.ts";
import { argumentOf } from "./read-options.ts";

export const backup: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { config, terminal } = context;
  const file = resolve(invocation.cwd, argumentOf(invocation));
  if (config.database.url !== "embedded") {
    throw new Failure(
      "INPUT_INVALID",
      "Only the embedded database writes its own dump. For a server use its tool: " +
        `pg_dump --format=custom --file=${quoteForShell(file)} "$DATABASE_URL"`,
    );
  }
  return withDatabase(context, "must-exist", async (database) => {
    // The database process itself understands this; it is no SQL.
    await database
      .query(`nightdesk backup '${file.replaceAll("'", "''")}'`)
      .catch((error: unknown) => {
        if (error instanceof Failure) throw error;
        const reason = error instanceof Error ? error.message : String(error);
        throw new Failure("INPUT_INVALID", `The dump could not be written to ${file}: ${reason}`);
      });
    if (invocation.options["json"] === true) await terminal.printJson({ ok: true, file });
    else await terminal.print(file);
    terminal.say(
      `Dumped the database. To put it back: nightdesk database --restore ${quoteForShell(file)} --directory ${quoteForShell(config.roots.databaseDirectory)}`,
    );
    return EXIT.ok;
  });
};

const quoteForShell = (text: string): string =>
  /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
