const MAX_DEPTH = 32;
/** Half of a pair of surrogates, or NUL: Postgres stores neither. */
const UNSTORABLE_TEXT = /[\0\p{Surrogate}]/u;

/**
 * Why JSON data can't be stored and compared exactly as it was written, as a clause, or null where it can: text
 * with NUL or a lone surrogate, a number beyond the exact ones (1e999, 2^53), a member `__proto__`, nesting beyond
 * 32 levels. Cleaning it instead would make it name another file than the model did.
 */
export function findUnstorable(value: unknown): string | null {
  return faultIn(value, 0);
}

function faultIn(value: unknown, depth: number): string | null {
  if (depth > MAX_DEPTH) return `it nests deeper than ${String(MAX_DEPTH)} levels`;
  if (typeof value === "string") {
    return UNSTORABLE_TEXT.test(value) ? "it holds a NUL or half a surrogate pair" : null;
  }
  if (typeof value === "number") return isExact(value) ? null : "it holds a number too large";
  if (typeof value === "boolean" || value === null) return null;
  if (typeof value !== "object") return "it holds something that is not JSON";
  return firstFault(value, depth);
}

function firstFault(value: object, depth: number): string | null {
  for (const [key, member] of Object.entries(value)) {
    if (key === "__proto__") return `it has a member "__proto__"`;
    const fault = faultIn(key, depth) ?? faultIn(member, depth + 1);
    if (fault !== null) return fault;
  }
  return null;
}

const isExact = (value: number): boolean =>
  Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
