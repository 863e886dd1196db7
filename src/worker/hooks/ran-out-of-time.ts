/** Whether a signal aborted because time was up, and not because the worker stops. */
export const ranOutOfTime = ({ aborted, reason }: AbortSignal): boolean =>
  aborted && nameOf(reason) === "TimeoutError";

// Not instanceof: an error of another realm, as under a test runner, is one, too.
const nameOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null && "name" in error ? error.name : undefined;
