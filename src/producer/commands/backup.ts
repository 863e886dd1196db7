import { resolve } from "node:path";
import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { DUPLICATE_FILE, hasCode } from "../../shared/db/error-code.ts";
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
    const replace = invocation.options["force"] === true ? "replace " : "";
    await database
      .within("backup")
      .query(`nightdesk backup ${replace}'${file.replaceAll("'", "''")}'`)
      .catch((error: unknown) => {
        throw notDumped(error, file);
      });
    if (invocation.options["json"] === true) await terminal.printJson({ ok: true, file });
    else await terminal.print(file);
    terminal.say(
      `Dumped the database. To put it back: nightdesk restore --force ${quoteForShell(file)}`,
    );
    return EXIT.ok;
  });
};

function notDumped(error: unknown, file: string): unknown {
  if (error instanceof Failure) return error;
  if (hasCode(error, DUPLICATE_FILE)) {
    return new Failure(
      "INPUT_INVALID",
      `${file} is there already. Give --force to replace it, or name another file.`,
    );
  }
  const reason = error instanceof Error ? error.message : String(error);
  return new Failure("INPUT_INVALID", `The dump could not be written to ${file}: ${reason}`);
}

const quoteForShell = (text: string): string =>
  /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
