import { Failure } from "../../shared/failure.ts";

/** What can't be looked at now is said, and does not end the replay; anything else is thrown again. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  throw error;
}
