import { toUSVString } from "node:util";

/** What could drive a terminal: C0 but line feed and tab, DEL, C1, bidi marks, embeddings and isolates, halves. */
const DRIVES_TERMINAL =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\p{Cs}]/gu;

/**
 * Hostile text made harmless and visible: C0 and DEL as their pictures (`␛`), everything else as `<U+202E>`.
 * Line feeds and tabs stay.
 */
export const cleanForTerminal = (text: string): string =>
  text.replace(DRIVES_TERMINAL, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    if (code === 0x7f) return "\u2421";
    return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
  });

/** A value as one line of JSON that a terminal can show: what could drive it is escaped, and the value is the same. */
export const jsonForTerminal = (value: unknown): string =>
  JSON.stringify(value).replace(
    DRIVES_TERMINAL,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** Text that Postgres takes: without NUL, and with U+FFFD for each surrogate that stands alone. */
export function cleanForDatabase(text: string): string {
  const withoutNul = text.includes("\0") ? text.replaceAll("\0", "") : text;
  // Scans natively, and gives back the same string where nothing is to replace.
  return toUSVString(withoutNul);
}
