import { hash } from "node:crypto";

/**
 * The key of a chunk: the same as long as everything that is searched or embedded of it is. Fields are
 * prefixed with their length, so that no two lists of fields hash the same text.
 * @param fields source, path, title, headings, labels, SHA-256 of the text, and which of equal chunks it is
 */
export function chunkKey(fields: {
  readonly source: string;
  readonly path: string;
  readonly title: string | null;
  readonly headingPath: string | null;
  /** Aliases and tags. */
  readonly labels: string;
  readonly sha256: string;
  readonly occurrence: number;
}): string {
  const { source, path, title, headingPath, labels, sha256, occurrence } = fields;
  const text = [source, path, title ?? "", headingPath ?? "", labels, sha256, String(occurrence)]
    .map((field) => `${field.length}:${field}`)
    .join("");
  return hash("sha256", text, "hex").slice(0, 32);
}
