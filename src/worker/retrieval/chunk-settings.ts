import { hash } from "node:crypto";
import { TEXT_SEARCH } from "../../shared/db/index/text-search.ts";
import type { ChunkSettings } from "./chunk/chunk-text.ts";
import { FIELD_WEIGHTS } from "./searchable-text.ts";

/** Raised when the same file would be cut or searched differently. */
const CHUNKER = "nightdesk-2";

/** A fingerprint of all that decides the chunks and the words of a document: another one means indexing again. */
export function chunkSettingsFingerprint({ maxChars, overlap }: ChunkSettings): string {
  const settings = JSON.stringify([CHUNKER, TEXT_SEARCH, FIELD_WEIGHTS, maxChars, overlap]);
  return hash("sha256", settings, "hex").slice(0, 32);
}
