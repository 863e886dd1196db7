import { toUSVString } from "node:util";

/**
 * What could drive a terminal, reorder a text or hide in it: C0 but line feed and tab, DEL, C1, ends of lines that only some
 * programs know, bidi marks, embeddings and isolates, format characters without a width (not those that join letters and
 * emoji), tags, halves.
 */
const HARMFUL =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\p{Cs}]/gu;

/**
 * Hostile text made harmless and visible: C0 and DEL as their pictures (`␛`), everything else as `<U+202E>`.
 * Line feeds and tabs stay.
 */
export const cleanForTerminal = (text: string): string => text.replace(HARMFUL, pictureOf);

/** The same for several lines, of which each may end as in CSV: with a carriage return before its line feed. */
export const cleanLines = (text: string): string =>
  text.replace(HARMFUL, (character, at: number) =>
    character === "\r" && (at + 1 === text.length || text[at + 1] === "\n")
      ? character
      : pictureOf(character),
  );

/** Hostile text as one line: what ends a line in it is shown as `↵`. The indent stays. */
export function cleanLine(text: string): string {
  const [first = "", ...others] = text.split(/[\n\r\u0085\u2028\u2029]+/);
  const parts = others.map((part) => part.trim()).filter((part) => part !== "");
  return cleanForTerminal([first, ...parts].join(" ↵ "));
}

/** A message of ours that may have several lines: those after the first are indented, so that none passes for another message. */
export const cleanMessage = (text: string): string =>
  cleanForTerminal(text.replace(/\n(?! {2})/g, "\n  "));

function pictureOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}

/** A value as one line of JSON: what could drive a terminal is escaped, and the value is the same. */
export const jsonForTerminal = (value: unknown): string => escapeInJson(JSON.stringify(value));

/** The same for JSON that is written already. */
export const escapeInJson = (json: string): string =>
  json.replace(HARMFUL, (character) =>
    Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
      .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
      .join(""),
  );

/** Text that Postgres takes: without NUL, and with U+FFFD for each surrogate that stands alone. */
export function cleanForDatabase(text: string): string {
  const withoutNul = text.includes("\0") ? text.replaceAll("\0", "") : text;
  // Scans natively, and gives back the same string where nothing is to replace.
  return toUSVString(withoutNul);
}
