import { Failure } from "../../failure.ts";

/** Whether an error has a code, such as `ENOENT` of the operating system or a SQLSTATE. */
export const hasCode = (error: unknown, code: string): boolean =>
  // Not instanceof: an error of another realm, as under a test runner, is no instance of our Error.
  typeof error === "object" && error !== null && "code" in error && error.code === code;

/** SQLSTATE of the embedded database when a dump would overwrite a file. */
export const DUPLICATE_FILE = "58P02";

type ServerError = Error & {
  readonly code: string;
  readonly position?: string;
  readonly detail?: string;
  readonly hint?: string;
};

const MOST_LINE_CHARS = 200;
const QUERY_CANCELED = "57014";

/** The server's message, the faulty line of the statement with a caret below it, and the server's hint. */
export function formatSqlError(error: ServerError, statement: string): string {
  // The same code stands for a person's pg_cancel_backend, and for lock_timeout of the server.
  if (error.code === QUERY_CANCELED && error.message.includes("statement timeout")) {
    return "The statement took too long and was stopped. Give it more time with --timeout SECONDS, or narrow it.";
  }
  return [
    error.message,
    ...markPosition(statement, Number(error.position)),
    ...(error.detail === undefined ? [] : [error.detail]),
    ...(error.hint === undefined ? [] : [`Hint: ${error.hint}`]),
  ].join("\n");
}

/** @param position of a character in the statement, in code points from 1, as the server counts */
function markPosition(statement: string, position: number): readonly string[] {
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

/** 53100 is the SQLSTATE disk_full; the other codes are the operating system's. */
const DISK_FULL = new Set(["53100", "ENOSPC", "EDQUOT"]);
const READ_ONLY = "25006";

/** Codes of a folder of another user, of a read-only disk, and of a file in the place of a folder. */
export const NOT_WRITABLE = ["EACCES", "EPERM", "EROFS", "ENOTDIR", "EEXIST"] as const;

/** Messages of the operating system that PostgreSQL repeats without their code. */
export const SAYS_DISK_FULL = /no space left on device|disk quota exceeded/i;

/**
 * Converts an error that means that nothing can be stored for now: a full disk, or a read-only database. Neither is the job's
 * fault, and both may end by themselves.
 * @returns the failure; undefined for any other error
 */
export function storageFaultOf(error: unknown): Failure | undefined {
  const { code, message } = codeAndMessageOf(error);
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

/** Whether `storageFaultOf` recognises an error, or already converted it. */
export const isStorageFault = (error: unknown): boolean =>
  error instanceof Failure
    ? error.code === "DISK_FULL" || error.code === "DATABASE_READ_ONLY"
    : storageFaultOf(error) !== undefined;

/** Cause and remedy of a missing session or answer, by SQLSTATE or code of the socket. */
const UNREACHABLE = [
  {
    code: /^28/,
    says: "The database refuses the login",
    remedy: "Check the user and the password in database.url or DATABASE_URL.",
  },
  {
    code: /^3D000$/,
    says: "The server has no such database",
    remedy: "Create it, or name another one in database.url or DATABASE_URL.",
  },
  {
    code: /^53300$/,
    says: "The database server has no connection left",
    remedy: "Raise its max_connections, or lower queue.concurrency or the number of workers.",
  },
  {
    code: /^57P03$/,
    says: "The database server takes no connections yet",
    remedy:
      "It starts, stops or recovers: wait for it. Where that takes long, its log says why; a full disk is one reason.",
  },
  {
    code: /^(57P0|25P03)/,
    says: "The database server ended the connection",
    remedy: "Its log says why; the statement is retried over another connection.",
  },
  {
    code: /^08P01$/,
    says: "The database rejects the protocol of this client",
    remedy:
      "Check that database.url or DATABASE_URL names a PostgreSQL server, or what its pooler lets through.",
  },
  {
    code: /^(08|ECONN|EPIPE|ENOENT|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH)/,
    says: "The database does not answer",
    remedy: "Check database.url or DATABASE_URL, and that the server runs.",
  },
];

const LOST_CONNECTION =
  /^Connection terminated|^timeout expired|not currently accepting connections|^Client has encountered a connection error/;

/** The pool's message when all its connections are in use for too long. */
const SAYS_POOL_IS_EMPTY = "timeout exceeded when trying to connect";
export const isPoolEmpty = (error: unknown): boolean =>
  codeAndMessageOf(error).message === SAYS_POOL_IS_EMPTY;

const failedConnects = new WeakSet();

/** Marks an error as a failed connect, whatever its code; TLS errors and a missing password have codes of their own. */
export function markFailedConnect(error: unknown): void {
  if (typeof error === "object" && error !== null) failedConnects.add(error);
}

/** Converts an error that means a missing session or answer to DATABASE_UNREACHABLE; undefined for any other error. */
export function unreachableOf(error: unknown): Failure | undefined {
  const { code, message } = codeAndMessageOf(error);
  const found = UNREACHABLE.find((one) => one.code.test(code)) ?? unnamedCause(error, message);
  if (found === undefined) return undefined;
  const words = message || code || "no reason given";
  const text = `${found.says} (${words}). ${found.remedy}`;
  return new Failure("DATABASE_UNREACHABLE", text, { cause: error });
}

function unnamedCause(
  error: unknown,
  message: string,
): Omit<(typeof UNREACHABLE)[0], "code"> | undefined {
  if (LOST_CONNECTION.test(message)) return UNREACHABLE.at(-1);
  if (isPoolEmpty(error)) {
    return {
      says: "Every connection of this process to the database is taken",
      remedy: "Statements take long there: its log, or the view pg_stat_activity, says which.",
    };
  }
  if (typeof error !== "object" || error === null || !failedConnects.has(error)) return undefined;
  return { says: "The database gives no session", remedy: "Check database.url or DATABASE_URL." };
}

// Not instanceof: an error of another realm, as under a test runner, is no instance of our Error.
export function codeAndMessageOf(error: unknown): {
  readonly code: string;
  readonly message: string;
} {
  if (typeof error !== "object" || error === null) return { code: "", message: "" };
  return {
    code: "code" in error && typeof error.code === "string" ? error.code : "",
    message: "message" in error && typeof error.message === "string" ? error.message : "",
  };
}

/** For `catch` on a file that may be missing: returns undefined for ENOENT and rethrows any other error. */
export function ignoreMissingFile(error: unknown): undefined {
  if (!hasCode(error, "ENOENT")) throw error;
}
