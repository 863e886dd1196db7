type Limits = {
  readonly mostLevels: number;
  /** `exact` also refuses whole numbers that a double can't hold exactly, so that two values can be compared. */
  readonly numbers: "finite" | "exact";
};

/**
 * Finds JSON that a row can't store as written: NUL, half of a surrogate pair, a number beyond a double, a `__proto__` key, too
 * many levels of nesting. Storing a changed value would change its meaning.
 * @returns the reason, to follow its subject: `holds the key __proto__`; undefined if the value can be stored
 */
export function findUnstorable(value: unknown, limits: Limits, levels = 0): string | undefined {
  if (typeof value === "string") return findInText(value);
  if (typeof value === "number")
    return isKept(value, limits) ? undefined : "holds a number too large";
  if (typeof value === "boolean" || value === null) return undefined;
  if (typeof value !== "object") return "holds something that is not JSON";
  if (levels === limits.mostLevels) return `is nested deeper than ${limits.mostLevels} levels`;
  for (const [key, member] of Object.entries(value)) {
    if (key === "__proto__") return "holds the key __proto__";
    const found = findInText(key) ?? findUnstorable(member, limits, levels + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

const isKept = (value: number, { numbers }: Limits): boolean =>
  Number.isFinite(value) &&
  (numbers === "finite" || !Number.isInteger(value) || Number.isSafeInteger(value));

const UNPAIRED = /\p{Surrogate}/u;

function findInText(text: string): string | undefined {
  if (text.includes("\0")) return "holds a NUL character (\\u0000)";
  return UNPAIRED.test(text) ? "holds half of a surrogate pair (\\ud800 to \\udfff)" : undefined;
}
