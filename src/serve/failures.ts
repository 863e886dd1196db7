import { Failure } from "../shared/failure.ts";
import type { Logger } from "../shared/logger.ts";
import type { MalformedStatus } from "../shared/http/refuse-malformed.ts";
import { storageFaultOf } from "../shared/store/connection/errors.ts";
import { cleanMessage } from "../shared/terminal/styled-text.ts";
import { BusyError } from "../shared/take-turns.ts";

type Status = MalformedStatus | 401 | 403 | 404 | 409 | 421 | 429 | 500 | 503 | 504;

/** The failure of a request, in OpenAI's terms. */
export type RequestFailure = {
  readonly status: Status;
  readonly code: string;
  readonly message: string;
  /** The invalid field of the request. */
  readonly param?: string;
  /** Seconds after which the client may retry. */
  readonly retryAfter?: number;
};

/** A request that is refused, with the reply to its client. */
export class Refused extends Error {
  readonly failure: RequestFailure;
  constructor(failure: RequestFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

export const invalid = (param: string, message: string): Refused =>
  new Refused({ status: 400, code: "invalid_request", message, param });

/** The same reply for a missing object and for one of another token. */
export const notFound = (what: string, id: string): Refused =>
  new Refused({
    status: 404,
    code: "not_found",
    message: `There is no ${what} ${JSON.stringify(id.slice(0, 100))}.`,
  });

export const tokenEnded = (): Refused =>
  new Refused({
    status: 401,
    code: "invalid_api_key",
    message: "The token was revoked or has expired. Ask whoever runs this Nightdesk for another.",
  });

export const tooMany = (message: string, retryAfter: number): Refused =>
  new Refused({ status: 429, code: "rate_limit_exceeded", message, retryAfter });

const BUSY_AGAIN_S = 1;
const DATABASE_AGAIN_S = 5;

/** An unexpected error gets a fixed message, because its own may contain anything. */
function failureOf(thrown: unknown): RequestFailure {
  if (thrown instanceof Refused) return thrown.failure;
  if (thrown instanceof BusyError) return tooMany(thrown.message, BUSY_AGAIN_S).failure;
  const error = thrown instanceof Failure ? thrown : storageFaultOf(thrown);
  if (!(error instanceof Failure)) return FAULT;
  const message = cleanMessage(error.message);
  if (error.code === "INPUT_INVALID") return { status: 400, code: "invalid_request", message };
  if (!UNAVAILABLE.includes(error.code)) return FAULT;
  return { status: 503, code: error.code, message, retryAfter: DATABASE_AGAIN_S };
}

/** The failure for an error; an unexpected one is logged with the id of its request. */
export function loggedFailure(error: unknown, logger: Logger, requestId: string): RequestFailure {
  const failure = failureOf(error);
  if (failure.status === 500) logger.error({ err: error, requestId }, "a request failed");
  return failure;
}

const UNAVAILABLE: readonly string[] = [
  "DATABASE_UNREACHABLE",
  "DISK_FULL",
  "DATABASE_READ_ONLY",
  "SCHEMA_OUTDATED",
];

const FAULT: RequestFailure = {
  status: 500,
  code: "internal_error",
  message:
    "A fault of Nightdesk itself. Its log has the rest, under the x-request-id of this reply.",
};

/** OpenAI's clients choose the class of an error by its status, and show its message. */
export const errorBody = ({ status, code, message, param }: RequestFailure): object => ({
  error: { message, type: typeOf(status), param: param ?? null, code },
});

/** The reply to a malformed HTTP request. */
export const malformedBody = (status: MalformedStatus): string =>
  JSON.stringify(errorBody({ status, code: "malformed_request", message: MALFORMED[status] }));

const MALFORMED: Readonly<Record<MalformedStatus, string>> = {
  400: "That is no valid request of HTTP/1.1. Its lengths, headers, path and host have to be unambiguous.",
  408: "The request did not arrive in time.",
  413: "The marks between the pieces of the body are too long.",
  417: "Only Expect: 100-continue is understood.",
  431: "The headers have more than 32 KiB.",
};

function typeOf(status: Status): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}
