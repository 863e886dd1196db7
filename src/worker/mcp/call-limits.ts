import { Failure } from "../../shared/failure.ts";
import type { ErrorCode } from "../../shared/failure.ts";
import type { Logger } from "../../shared/logger.ts";
import { storageFaultOf } from "../../shared/store/connection/errors.ts";
import { cleanMessage } from "../../shared/terminal/styled-text.ts";

export type TypedError = { readonly code: ErrorCode; readonly message: string };

/**
 * The error that an outside client gets for something thrown. The message of an unexpected fault may hold anything: it goes
 * only to the log.
 */
export function typedErrorOf(thrown: unknown, logger: Logger): TypedError {
  const failure = thrown instanceof Failure ? thrown : storageFaultOf(thrown);
  if (failure !== undefined) {
    return { code: failure.code, message: cleanMessage(failure.message) };
  }
  logger.error({ err: thrown }, "a request broke");
  return {
    code: "INTERNAL_ERROR",
    message: "A fault of Nightdesk itself: its log on stderr says more.",
  };
}

/**
 * The result of some work within a time limit. At the limit the work is not stopped, only no longer awaited.
 * @throws Failure REQUEST_TIMEOUT
 */
export async function withinTime<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Failure("REQUEST_TIMEOUT", `It took more than ${ms / 1_000} s. Ask for less.`));
    }, ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
