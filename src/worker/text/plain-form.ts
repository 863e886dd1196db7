import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { isAscii } from "../../shared/text/normalise-text.ts";
import { lastNotAbove } from "./first-index.ts";

/**
 * Replaces an invisible character or the second half of a surrogate pair, so that a folded text keeps the length of the
 * text.
 */
export const FILLER = "\uE000";

/** Characters that look to a person like one of our protocol, but have another or no entry in the table of Unicode. */
const TWINS = new Map(
  ["fƒ", "nп", "tт", "IІ", "IΙ", "_ˍ", "[⁅", "]⁆", "|∣", "|│"].map(
    ([ours = "", theirs = ""]) => [theirs, ours] as const,
  ),
);

/** Confusable characters of Unicode (UTS #39) that look like one of our protocol. */
const LOOKS = new Map(
  Object.entries(readLooks()).flatMap(([ours, theirs]) =>
    Array.from(theirs, (character) => [character, ours] as const),
  ),
);

/** The zeros of other scripts; the codes of their digits follow. */
const ZEROS = Array.from("٠۰०০๐", (zero) => zero.charCodeAt(0));
/** Cache: the fold of each character of the first plane, by its code; 0 if not computed yet. */
const FOLDED = new Uint16Array(0x1_0000);

/**
 * The text as a reader sees it, character for character: plain forms for full width, mathematical and circled ones, Latin
 * letters for look-alikes of other scripts, and a filler for invisible characters. Offsets stay. Linear.
 */
export const foldLookAlikes = (text: string): string =>
  // Bounded, since a match of millions would exhaust the stack of the matcher.
  text.replace(/[^\0-\x7F]{1,500}/gu, foldRun);

function foldRun(run: string): string {
  const units: number[] = [];
  for (let at = 0; at < run.length; at += 1) {
    const code = run.codePointAt(at) ?? 0;
    if (code <= 0xffff) {
      units.push(foldOf(code));
    } else {
      const fold = foldCharacter(run.slice(at, at + 2));
      units.push(fold.charCodeAt(0), fold.charCodeAt(1));
      at += 1;
    }
  }
  return String.fromCharCode(...units);
}

/** The fold is one code unit, because a character that folds to more stays unchanged. */
function foldOf(code: number): number {
  const known = FOLDED[code] ?? 0;
  if (known !== 0) return known;
  const fold = foldCharacter(String.fromCharCode(code)).charCodeAt(0);
  FOLDED[code] = fold;
  return fold;
}

function foldCharacter(character: string): string {
  if (/[\p{M}\p{Cf}\p{Cs}\u115F\u1160\u3164\uFFA0]/u.test(character)) {
    return FILLER.repeat(character.length);
  }
  const compatible = character.normalize("NFKC");
  const plain =
    TWINS.get(character) ??
    digitOf(character) ??
    (isAscii(compatible)
      ? compatible
      : (LOOKS.get(character) ?? LOOKS.get(compatible) ?? compatible));
  return plain.length === 1 ? plain + FILLER.repeat(character.length - 1) : character;
}

function readLooks(): Readonly<Record<string, string>> {
  const file = join(import.meta.dirname, "../../../assets/unicode/look-alikes.json");
  const table = z.object({ looks: z.record(z.string(), z.string()) });
  return table.parse(JSON.parse(readFileSync(file, "utf8"))).looks;
}

function digitOf(character: string): string | undefined {
  const code = character.charCodeAt(0);
  const zero = ZEROS.find((first) => code >= first && code <= first + 9);
  return zero === undefined ? undefined : String(code - zero);
}

/** A text in the form in which marks of the protocol are searched, and the map of its offsets to the original text. */
export type PlainForm = { readonly text: string; positionOf(index: number): number };

/** Characters to drop, and entities and escapes of angle brackets. Bounded for the stack of the matcher. */
const CHANGED = new RegExp(
  `(?<less>&(?:amp;){0,2}(?:lt|#0{0,4}60|#x0{0,4}3c);|\\\\u003c)|(?<greater>&(?:amp;){0,2}(?:gt|#0{0,4}62|#x0{0,4}3e);|\\\\u003e)|[*_\`~\\\\${FILLER}]{1,1000}`,
  "giu",
);

/**
 * The text with look-alikes folded, without invisible characters, emphasis, marks of code and escapes, so that none of
 * them splits a word. Linear.
 */
export function plainForm(text: string): PlainForm {
  const folded = foldLookAlikes(text);
  const pieces: string[] = [];
  /** Starts of stretches in the plain text, and in `origins` those in the original text. */
  const starts: number[] = [0];
  const origins: number[] = [0];
  let length = 0;
  let from = 0;
  const add = (piece: string, origin: number): void => {
    starts.push(length);
    origins.push(origin);
    pieces.push(piece);
    length += piece.length;
  };
  for (const { 0: changed, index, groups } of folded.matchAll(CHANGED)) {
    add(folded.slice(from, index), from);
    if (groups?.["less"] !== undefined) add("<", index);
    if (groups?.["greater"] !== undefined) add(">", index);
    from = index + changed.length;
  }
  add(folded.slice(from), from);
  const positionOf = (index: number): number => {
    const at = lastNotAbove(starts, index);
    return (origins[at] ?? 0) + index - (starts[at] ?? 0);
  };
  return { text: pieces.join(""), positionOf };
}
