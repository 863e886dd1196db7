import { hash } from "node:crypto";

/** The signature of an embedder: 32 hex digits over all that decides its numbers. */
export const signatureOf = (facts: Readonly<Record<string, string | number | boolean>>): string =>
  hash("sha256", JSON.stringify(Object.entries(facts).sort(byName)), "hex").slice(0, 32);

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);
