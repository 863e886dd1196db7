import { hash } from "node:crypto";

/** SHA-256 of the canonical JSON of an input, 64 lower-case hex. Equal inputs have equal hashes, however they were written. */
export const hashInput = (input: unknown): string => hash("sha256", canonicalJson(input), "hex");

/** JSON with the keys of every object sorted by code units, and without undefined. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(",")}}`;
}
