import { refuse, type Refusal } from "../../shared/failure.ts";

export const MIN_CHARS = 200;
export const MAX_CHARS = 10_000_000;

/** The arguments of a tool call come from a model, so nothing about them is certain: INVALID_ARGS or null. */
export function checkPath(path: unknown): Refusal | null {
  if (typeof path === "string" && path.trim() !== "") return null;
  return refuse("INVALID_ARGS", "path must be a string that is not blank: name a file to read.");
}

/** `max_chars`, in code points. */
export function checkMaxChars(maxChars: unknown): Refusal | null {
  const isInteger = typeof maxChars === "number" && Number.isInteger(maxChars);
  if (isInteger && maxChars >= MIN_CHARS && maxChars <= MAX_CHARS) return null;
  const given = typeof maxChars === "number" ? String(maxChars) : `a ${typeof maxChars}`;
  return refuse(
    "INVALID_ARGS",
    `max_chars must be an integer from ${MIN_CHARS} to ${MAX_CHARS}; it is ${given}.`,
  );
}
