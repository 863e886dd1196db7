import { databaseCommand } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { readAsReader, selectColumnNames, selectViewNames } from "../../shared/store/reader-sql.ts";
import { Failure } from "../../shared/failure.ts";
import { printRows } from "../print/rows.ts";
import type { RowFormat } from "../print/rows.ts";
import { argumentOf, countOfOption } from "./options.ts";

const DEFAULT_TIMEOUT_SECONDS = 30;
/** A timer of more than 2^31 ms ends at once. */
const MOST_TIMEOUT_SECONDS = 2_000_000;

export const sql = databaseCommand(async (context, database) => {
  const { invocation } = context;
  const statement = argumentOf(invocation);
  const asked = countOfOption(invocation.options, "timeout") ?? DEFAULT_TIMEOUT_SECONDS;
  const timeout = Math.min(asked, MOST_TIMEOUT_SECONDS);
  try {
    await withTimeLimit(context, timeout, () =>
      printRows(context.terminal, formatOf(context), readAsReader(database, statement, timeout)),
    );
  } catch (error) {
    throw await withExistingNames(database, statement, error);
  }
});

function formatOf({ terminal, invocation: { options } }: CommandContext): RowFormat {
  const { format } = options;
  if (options["crlf"] === true) {
    if (format === "csv") return "csv_crlf";
    throw new Failure("INPUT_INVALID", "--crlf is for --format csv, and the format is another.");
  }
  if (format === "json" || format === "csv" || format === "table") return format;
  return terminal.isJson ? "json" : "table";
}

/** A server has statement_timeout. The embedded database has not: its process is stopped, and the next command starts it again. */
async function withTimeLimit(
  { config }: CommandContext,
  seconds: number,
  body: () => Promise<void>,
): Promise<void> {
  if (config.database.url !== "embedded") return body();
  const over = new AbortController();
  const timer = setTimeout(() => {
    over.abort();
    void stopDatabase(config.roots.databaseDirectory);
  }, seconds * 1_000);
  try {
    await body();
  } catch (error) {
    if (!over.signal.aborted) throw error;
    throw new Failure(
      "SQL_ERROR",
      `The statement took longer than ${seconds} s, and the embedded database was restarted to stop it. ` +
        "Give it more time with --timeout SECONDS, or narrow it.",
      { cause: error },
    );
  } finally {
    clearTimeout(timer);
  }
}

/** Short, because the statement blocks the process, which can't handle SIGTERM. */
const STOP_GRACE_MS = 200;

async function stopDatabase(directory: string): Promise<void> {
  const { stopEmbedded } = await import("../../shared/store/embedded/embedded-process.ts");
  await stopEmbedded(directory, STOP_GRACE_MS);
}

const UNDEFINED_TABLE = "42P01";
const UNDEFINED_COLUMN = "42703";

/** Adds the existing views or columns to an error about an unknown one. */
async function withExistingNames(
  database: Database,
  statement: string,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof Failure) || error.code !== "SQL_ERROR") return error;
  const { cause, message } = error;
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  const lines = [message];
  if (code === UNDEFINED_TABLE) {
    lines.push(`The views are: ${(await selectViewNames(database)).join(", ")}.`);
  } else if (code === UNDEFINED_COLUMN) {
    const views = await selectColumnNames(database, statement);
    lines.push(...views.map(({ view, columns }) => `${view} has: ${columns.join(", ")}.`));
  }
  return new Failure("SQL_ERROR", lines.join("\n"), { cause });
}
