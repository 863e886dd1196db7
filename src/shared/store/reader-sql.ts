import { once } from "node:events";
import { z } from "zod";
import { Failure } from "../failure.ts";
import { isDatabaseGone, textQuery, translate } from "./connection/database.ts";
import type { Database, DriverClient, Queryable, TextQuery } from "./connection/database.ts";
import { rowsOf, valuesOf } from "./connection/rows.ts";
import { formatSqlError } from "./connection/errors.ts";

export type ReaderColumn = {
  readonly name: string;
  /** OID of the type, as in pg_type. */
  readonly typeId: number;
};

/** Some rows, as text of the server with times in ISO format and UTC; every page has the columns. */
export type ReaderPage = {
  readonly columns: readonly ReaderColumn[];
  readonly rows: readonly (readonly (string | null)[])[];
};

const PAGE_ROWS = 500;
const MOST_LOCK_WAIT_MS = 5_000;
/** Time after the timeout for the server to report it itself. */
const SPARE_MS = 5_000;

/**
 * Runs one statement of a user: with the extended protocol, as the role that can only read the views, in a read-only transaction
 * with a timeout, which is always rolled back. Reads at most one page of rows ahead.
 * @throws Failure SQL_ERROR with the server's message; DATABASE_UNREACHABLE
 */
export async function* readAsReader(
  database: Database,
  statement: string,
  timeoutSeconds: number,
): AsyncGenerator<ReaderPage> {
  const refusal = findRefusal(statement);
  if (refusal !== undefined) throw new Failure("SQL_ERROR", refusal);
  const client = await database.pool.connect().catch(translate);
  try {
    for (const set of settingsFor(timeoutSeconds)) await client.query(set).catch(translate);
    yield* streamRows(client, textQuery(statement, timeoutSeconds * 1_000 + SPARE_MS));
  } catch (error) {
    throw isServerError(error)
      ? new Failure("SQL_ERROR", formatSqlError(error, statement), { cause: error })
      : error;
  } finally {
    // Closes the session, which the statement may have changed.
    client.release(true);
  }
}

const settingsFor = (timeoutSeconds: number): readonly string[] => [
  "begin",
  "set transaction read only",
  "set local search_path = nightdesk",
  "set local timezone = 'UTC'",
  "set local datestyle = 'ISO'",
  `set local statement_timeout = ${Math.round(timeoutSeconds * 1_000)}`,
  // Limits a wait behind a migration, since others would queue behind this statement, and a result whose rows nobody fetches,
  // since it would hold its locks.
  `set local lock_timeout = ${Math.min(MOST_LOCK_WAIT_MS, Math.round(timeoutSeconds * 1_000))}`,
  `set local idle_in_transaction_session_timeout = ${Math.round(timeoutSeconds * 1_000)}`,
  "set local role nightdesk_reader",
];

async function* streamRows(client: DriverClient, query: TextQuery): AsyncGenerator<ReaderPage> {
  const { stream } = client.connection;
  let rows: (string | null)[][] = [];
  let columns: readonly ReaderColumn[] = [];
  query.on("row", (row, result) => {
    if (columns.length === 0) columns = columnsOf(result?.fields ?? []);
    rows.push(row as (string | null)[]);
    if (rows.length >= PAGE_ROWS && !stream.isPaused()) {
      stream.pause();
      query.emit("page");
    }
  });
  const ended = once(query, "end").then(([result]) => {
    columns = columnsOf((result as { fields: readonly Field[] }).fields);
    return "ended" as const;
  });
  client.query(query);
  for (;;) {
    const happened = await Promise.race([ended, once(query, "page").then(() => "page" as const)]);
    const page = rows;
    rows = [];
    yield { columns, rows: page };
    if (happened === "ended") return;
    stream.resume();
  }
}

type Field = { readonly name: string; readonly dataTypeID: number };
const columnsOf = (fields: readonly Field[]): readonly ReaderColumn[] =>
  fields.map(({ name, dataTypeID }) => ({ name, typeId: dataTypeID }));

/** Whether an error is the server's about the statement, by its SQLSTATE. */
const isServerError = (error: unknown): error is Error & { readonly code: string } =>
  error instanceof Error &&
  !(error instanceof Failure) &&
  "code" in error &&
  typeof error.code === "string" &&
  /^[0-9A-Z]{5}$/.test(error.code) &&
  !isDatabaseGone(error);

/** Names of the views that a statement can read. */
export const selectViewNames = (db: Queryable): Promise<readonly string[]> =>
  valuesOf(db, z.string())`
     select viewname from pg_views where schemaname = 'nightdesk' order by viewname`;

const columnsSchema = z.object({ view: z.string(), columns: z.array(z.string()) });

/** The views in a statement, by name, with the names of their columns. */
export const selectColumnNames = (
  db: Queryable,
  statement: string,
): Promise<z.infer<typeof columnsSchema>[]> =>
  rowsOf(db, columnsSchema, [statement.toLowerCase().match(/[a-z_]+/g) ?? []])`
     select table_name as view, array_agg(column_name::text order by ordinal_position) as columns
       from information_schema.columns
      where table_schema = 'nightdesk' and table_name = any($1)
      group by 1 order by 1`;

const SPACE_OR_COMMENT = /^(?:\s+|--[^\n]*(?:\n|$))/;
const READS = ["select", "with", "values", "table", "explain", "show"];

/**
 * Forbidden functions: those that change the role; those that run a text as a statement, which could change the role; those that
 * take locks for which others wait, or fill the table of locks; and those that write to the server's WAL or folder even if the
 * transaction is rolled back. SQL can't assemble an identifier; only a Unicode escape could hide one.
 */
const ESCAPES =
  /\b(?:set_config|pg_(?:try_)?advisory_\w+|pg_logical_emit_message|pg_export_snapshot|ts_stat|ts_rewrite|(?:query|table|schema|database|cursor)_to_xml\w*)\b|\bu&"/i;

/**
 * Checks a statement before the server runs it as the reader's role in a read-only transaction. Its first word decides what kind
 * of statement PostgreSQL sees.
 * @returns the fault as a sentence, or undefined
 */
function findRefusal(statement: string): string | undefined {
  const first = /^[a-z]+/i.exec(skipToFirstWord(statement))?.[0].toLowerCase();
  if (first === undefined) return "The statement is empty.";
  if (!READS.includes(first)) {
    return `The statement begins with ${first}, and only reading is possible: ${READS.join(", ")}.`;
  }
  const escape = ESCAPES.exec(statement)?.[0];
  return escape === undefined
    ? undefined
    : `${escape} can't be used here, also not inside of a text.`;
}

function skipToFirstWord(statement: string): string {
  let rest = statement;
  for (;;) {
    const space =
      SPACE_OR_COMMENT.exec(rest)?.[0].length ??
      blockCommentLength(rest) ??
      Number(rest.startsWith("("));
    if (space === 0) return rest;
    rest = rest.slice(space);
  }
}

/** Length of a block comment at the start of a text; block comments nest. */
function blockCommentLength(text: string): number | undefined {
  if (!text.startsWith("/*")) return undefined;
  let depth = 0;
  for (const { 0: mark, index } of text.matchAll(/\/\*|\*\//g)) {
    depth += mark === "/*" ? 1 : -1;
    if (depth === 0) return index + 2;
  }
  return text.length;
}
