import { Failure } from "../../failure.ts";

/** Whether this is an error of the operating system with that code, such as `ENOENT`. */
export const hasCode = (error: unknown, code: string): boolean =>
  // Not instanceof: an error of another realm, as under a test runner, is none of ours.
  typeof error === "object" && error !== null && "code" in error && error.code === code;

/** SQLSTATE with which the embedded database refuses a dump over a file that is there. */
export const DUPLICATE_FILE = "58P02";

type ServerError = Error & {
  readonly code: string;
  readonly position?: string;
  readonly detail?: string;
  readonly hint?: string;
};

const MOST_LINE_CHARS = 200;
const QUERY_CANCELED = "57014";

/** The server's words, the line of the statement that they are about with a caret below it, and the server's hint. */
export function formatSqlError(error: ServerError, statement: string): string {
  if (error.code === QUERY_CANCELED) {
    return "The statement took too long and was stopped. Give it more time with --timeout SECONDS, or narrow it.";
  }
  return [
    error.message,
    ...pointAt(statement, Number(error.position)),
    ...(error.detail === undefined ? [] : [error.detail]),
    ...(error.hint === undefined ? [] : [`Hint: ${error.hint}`]),
  ].join("\n");
}

/** @param position of a character in the statement, from 1, as the server counts: in code points */
function pointAt(statement: string, position: number): readonly string[] {
  if (!(position >= 1)) return [];
  const before = Array.from(statement)
    .slice(0, position - 1)
    .join("");
  const lineStart = before.lastIndexOf("\n") + 1;
  const [line = ""] = statement.slice(lineStart).split(/\r?\n/, 1);
  const column = before.length - lineStart;
  const from = Math.max(0, column - MOST_LINE_CHARS / 2);
  const indent = line.slice(from, column).replace(/[^\t]/g, " ");
  return [`  ${line.slice(from, from + MOST_LINE_CHARS)}`, `  ${indent}^`];
}

/** SQLSTATEs of a server that can't store: disk_full, and read_only_sql_transaction. */
const DISK_FULL = new Set(["53100", "ENOSPC", "EDQUOT"]);
const READ_ONLY = "25006";

/** In words, where a code did not come along: the operating system's, as PostgreSQL repeats them. */
export const SAYS_DISK_FULL = /No space left on device|Disk quota exceeded/;

/**
 * Whether an error means that nothing can be stored for the time being: a disk is full, or the database takes no writes.
 * Neither is the fault of a job, and both end without anybody changing it.
 * @returns the failure in words; undefined for any other error
 */
export function storageFaultOf(error: unknown): Failure | undefined {
  const { code, message } = wordsOf(error);
  if (DISK_FULL.has(code) || SAYS_DISK_FULL.test(message)) {
    return new Failure(
      "DISK_FULL",
      `The disk is full (${message}). Free some space there; the work goes on by itself.`,
      { cause: error },
    );
  }
  if (code === READ_ONLY) {
    return new Failure(
      "DATABASE_READ_ONLY",
      `The database is read-only (${message}). Let it take writes again, or set database.url to the primary; the work ` +
        "goes on by itself.",
      { cause: error },
    );
  }
  return undefined;
}

/** Whether an error is one of `storageFaultOf`, also when it was translated before. */
export const isStorageFault = (error: unknown): boolean =>
  error instanceof Failure
    ? error.code === "DISK_FULL" || error.code === "DATABASE_READ_ONLY"
    : storageFaultOf(error) !== undefined;

// Not instanceof: an error of another realm, as under a test runner, is none of ours.
function wordsOf(error: unknown): { readonly code: string; readonly message: string } {
  if (typeof error !== "object" || error === null) return { code: "", message: "" };
  return {
    code: "code" in error && typeof error.code === "string" ? error.code : "",
    message: "message" in error && typeof error.message === "string" ? error.message : "",
  };
}
