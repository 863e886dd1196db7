/** `end` is the index after the value; of one left open, how far it was looked at. */
export type JsonSpan =
  | { readonly kind: "ended"; readonly end: number }
  | { readonly kind: "open"; readonly end: number; readonly reason: string };

export const MAX_CALL_CHARS = 64 * 1024;
const MAX_DEPTH = 32;

/**
 * Where the JSON object or list ends that a text opens with. It looks at 65,536 characters and 32 levels at most,
 * so that the parser behind it never meets more.
 */
export function endOfJson(text: string): JsonSpan {
  let depth = 0;
  let inString = false;
  const limit = Math.min(text.length, MAX_CALL_CHARS);
  for (let index = 0; index < limit; index += 1) {
    const char = text.charAt(index);
    if (inString) {
      if (char === "\\") index += 1;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === "{" || char === "[") depth += 1;
    else if (char === "}" || char === "]") depth -= 1;
    if (depth > MAX_DEPTH) return { kind: "open", end: limit, reason: TOO_DEEP };
    if (depth === 0) return { kind: "ended", end: index + 1 };
  }
  return { kind: "open", end: limit, reason: text.length > MAX_CALL_CHARS ? TOO_LONG : CUT_SHORT };
}

const TOO_DEEP = `it nests deeper than ${String(MAX_DEPTH)} levels`;
export const TOO_LONG = `it is longer than ${String(MAX_CALL_CHARS)} characters`;
export const CUT_SHORT = "its JSON does not end";
