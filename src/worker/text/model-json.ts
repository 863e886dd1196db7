import { findUnstorable as findIn } from "../../shared/text/find-unstorable.ts";

/** `end` is the index after the value; if the value does not end, the index up to which it was read. */
type JsonSpan =
  | { readonly kind: "ended"; readonly end: number }
  | { readonly kind: "open"; readonly end: number; readonly reason: string };

export const MAX_JSON_CHARS = 64 * 1024;
const MAX_LEVELS = 32;
export const TOO_LONG = `it is longer than ${MAX_JSON_CHARS} characters`;

/**
 * Finds the end of the JSON object or list at the beginning of a text. It reads 65,536 characters and 32 levels at most, so
 * that the parser never gets more.
 */
export function endOfJson(text: string): JsonSpan {
  let depth = 0;
  let inString = false;
  const limit = Math.min(text.length, MAX_JSON_CHARS);
  for (let index = 0; index < limit; index += 1) {
    const char = text.charAt(index);
    if (inString) {
      if (char === "\\") index += 1;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === "{" || char === "[") depth += 1;
    else if (char === "}" || char === "]") depth -= 1;
    if (depth > MAX_LEVELS) {
      return { kind: "open", end: limit, reason: `it nests deeper than ${MAX_LEVELS} levels` };
    }
    if (depth === 0) return { kind: "ended", end: index + 1 };
  }
  const reason = text.length > MAX_JSON_CHARS ? TOO_LONG : "its JSON does not end";
  return { kind: "open", end: limit, reason };
}

/**
 * Why JSON data of a model can't be stored and compared exactly as it was written, as a clause, or null where it can.
 * Cleaning it instead would make it name another file than the model did.
 */
export function findUnstorable(value: unknown): string | null {
  const found = findIn(value, { mostLevels: MAX_LEVELS, numbers: "exact" });
  return found === undefined ? null : `it ${found}`;
}

/** The JSON schema of an object that has all of these properties and no other. */
export const objectSchema = (
  properties: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

/** A tool call in Nightdesk's own JSON form. */
export const textOfCall = (name: string, args: object): string =>
  JSON.stringify({ type: "tool_call", name, args });
