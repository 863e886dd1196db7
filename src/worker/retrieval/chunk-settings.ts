import { hash } from "node:crypto";
import type { LanguageSetting } from "../../shared/language.ts";
import type { ChunkSettings } from "./chunk/chunk-text.ts";
import { FIELD_WEIGHTS } from "./searchable-text.ts";

/** Raised when the same file would be cut or searched differently, or its language be another one. */
const CHUNKER = "nightdesk-5";

/** A fingerprint of all that decides the chunks and the words of a document: another one means indexing again. */
export function chunkSettingsFingerprint(
  { maxChars, overlap }: ChunkSettings,
  language: LanguageSetting,
): string {
  const settings = JSON.stringify([CHUNKER, language, FIELD_WEIGHTS, maxChars, overlap]);
  return hash("sha256", settings, "hex").slice(0, 32);
}
