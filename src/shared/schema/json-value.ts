import { hash } from "node:crypto";

/** Whether a value is a JSON object; its members are unchecked. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A name as a step of a JSON pointer (RFC 6901), and back. */
export const escapePointer = (name: string): string =>
  name.replaceAll("~", "~0").replaceAll("/", "~1");
export const unescapePointer = (step: string): string =>
  step.replaceAll("~1", "/").replaceAll("~0", "~");

/** Parses JSON; undefined for a text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Whether a JSON value nests objects and lists at most `levels` deep. Stops at that depth. */
export const isNestedWithin = (value: unknown, levels: number): boolean =>
  typeof value !== "object" ||
  value === null ||
  (levels > 0 && Object.values(value).every((part) => isNestedWithin(part, levels - 1)));

/** JSON with the keys of every object sorted by code units, and without undefined. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(",")}}`;
}

/** SHA-256 of the canonical JSON of a value, 64 lower-case hex: equal values have equal hashes, however they are formatted. */
export const hashJson = (value: unknown): string => hash("sha256", canonicalJson(value), "hex");
