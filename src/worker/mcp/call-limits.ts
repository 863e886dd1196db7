import { Failure } from "../../shared/failure.ts";
import type { ErrorCode } from "../../shared/failure.ts";
import type { Logger } from "../../shared/logger.ts";
import { storageFaultOf } from "../../shared/store/connection/errors.ts";
import { cleanMessage } from "../../shared/terminal/styled-text.ts";

export type TypedError = { readonly code: ErrorCode; readonly message: string };

/**
 * What a program outside is told of something thrown. The words of a fault that nobody foresaw may hold anything: they go
 * to the log alone.
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
 * What a piece of work gives, within a time. It is not stopped by the end of that time, only no longer waited for.
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
