import { Failure } from "../shared/failure.ts";
import type { ErrorCode } from "../shared/failure.ts";
import { cleanMessage } from "../shared/terminal/styled-text.ts";
import { BusyError } from "../shared/take-turns.ts";
import { hasCode, storageFaultOf } from "../shared/store/connection/errors.ts";

/** The failure of a request, as a page or JSON reports it. */
export type RequestFailure = {
  readonly status: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 421 | 422 | 500 | 503;
  readonly code: ErrorCode | "UNAUTHORIZED" | "FORBIDDEN" | "MISDIRECTED" | "TOO_LARGE" | "BUSY";
  readonly message: string;
};

/** A request that is refused before it has any effect. */
export class Refused extends Error {
  readonly failure: RequestFailure;
  constructor(failure: RequestFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

export const notFound = (message: string): Refused =>
  new Refused({ status: 404, code: "NOT_FOUND", message });

const STATUS: Partial<Record<ErrorCode, RequestFailure["status"]>> = {
  NOT_FOUND: 404,
  AMBIGUOUS_ID: 409,
  INPUT_INVALID: 422,
  INVALID_QUERY: 422,
  USAGE_ERROR: 422,
  SQL_ERROR: 422,
  DATABASE_UNREACHABLE: 503,
  QUEUE_UNREACHABLE: 503,
  DISK_FULL: 503,
  DATABASE_READ_ONLY: 503,
  SCHEMA_OUTDATED: 503,
};

/** The failure for an error. An unexpected error gets a fixed message, because its own may contain anything. */
export function failureOf(thrown: unknown): RequestFailure {
  if (thrown instanceof Refused) return thrown.failure;
  if (thrown instanceof BusyError) return { status: 503, code: "BUSY", message: thrown.message };
  const error = thrown instanceof Failure ? thrown : storageFaultOf(thrown);
  if (error instanceof Failure) {
    return {
      status: STATUS[error.code] ?? 500,
      code: error.code,
      message: cleanMessage(error.message),
    };
  }
  if (hasTimedOut(thrown)) {
    return {
      status: 503,
      code: "BUSY",
      message:
        "The database took longer than dashboard.statement_timeout_s for this page. Narrow it by a filter, or ask again later.",
    };
  }
  return {
    status: 500,
    code: "INTERNAL_ERROR",
    message: "A fault of Nightdesk itself. The log of the dashboard has the rest.",
  };
}

/** query_canceled, caused by the server's statement_timeout. */
const hasTimedOut = (error: unknown): boolean => hasCode(error, "57014");
