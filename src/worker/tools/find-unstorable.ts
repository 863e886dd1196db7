import { findUnstorable as findIn } from "../../shared/find-unstorable.ts";

/**
 * Why JSON data of a model can't be stored and compared exactly as it was written, as a clause, or null where it can.
 * Cleaning it instead would make it name another file than the model did.
 */
export function findUnstorable(value: unknown): string | null {
  const found = findIn(value, { mostLevels: 32, numbers: "exact" });
  return found === undefined ? null : `it ${found}`;
}
