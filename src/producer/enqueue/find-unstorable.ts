const MOST_LEVELS = 64;
const UNPAIRED = /\p{Surrogate}/u;

/**
 * Finds what JSON can say and a row can't hold as it is written: NUL, half of a surrogate pair, a number beyond
 * a double, a `__proto__` key, 64 levels of nesting. Storing something else instead would change the question.
 * @returns the reason, or undefined for a value that is stored as it is
 */
export function findUnstorable(value: unknown, levels = 0): string | undefined {
  if (typeof value === "string") return findInText(value);
  if (typeof value === "number")
    return Number.isFinite(value) ? undefined : "holds a number that is too large";
  if (typeof value !== "object" || value === null) return undefined;
  if (levels === MOST_LEVELS) return `is nested deeper than ${MOST_LEVELS} levels`;
  for (const [key, member] of Object.entries(value)) {
    if (key === "__proto__") return "holds the key __proto__";
    const found = findInText(key) ?? findUnstorable(member, levels + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function findInText(text: string): string | undefined {
  if (text.includes("\0")) return "holds a NUL character (\\u0000)";
  return UNPAIRED.test(text) ? "holds half of a surrogate pair (\\ud800 to \\udfff)" : undefined;
}
