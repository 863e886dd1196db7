import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { isAscii } from "../../shared/text/normalise-text.ts";
import { lastNotAbove } from "./first-index.ts";

/**
 * Stands where a character shows nothing, or for the second half of a surrogate pair, so that a folded text has the
 * length of the text.
 */
export const FILLER = "\uE000";

/** What reads like a letter or mark of our protocol to a person, and has another look in the table of Unicode, or none. */
const TWINS = new Map(
  ["fƒ", "nп", "tт", "IІ", "IΙ", "_ˍ", "[⁅", "]⁆", "|∣", "|│"].map(
    ([ours = "", theirs = ""]) => [theirs, ours] as const,
  ),
);

/** Of the table of confusable characters of Unicode (UTS #39), what looks like one of those that our protocol is written with. */
const LOOKS = new Map(
  Object.entries(readLooks()).flatMap(([ours, theirs]) =>
    Array.from(theirs, (character) => [character, ours] as const),
  ),
);

/** The zeros of other scripts: their digits follow them. */
const ZEROS = Array.from("٠۰०০๐", (zero) => zero.charCodeAt(0));
/** The fold of each character of the first plane that was met, by its code; 0 for the others. Pure all the same. */
const FOLDED = new Uint16Array(0x1_0000);

/**
 * The text as a reader takes it, character for character: compatibility forms (full width, mathematical, circled),
 * letters of other scripts that look Latin, and a filler for what shows nothing. Positions hold. Linear.
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

/** One code unit, since what folds to more stays as it is. */
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

/** A text as marks of the protocol are looked for in it, and where each of its characters stands in the text. */
export type PlainForm = { readonly text: string; positionOf(index: number): number };

/** What is left out, and the entities and escapes of angle brackets. Bounded for the stack of the matcher. */
const CHANGED = new RegExp(
  `(?<less>&(?:amp;){0,2}(?:lt|#0{0,4}60|#x0{0,4}3c);|\\\\u003c)|(?<greater>&(?:amp;){0,2}(?:gt|#0{0,4}62|#x0{0,4}3e);|\\\\u003e)|[*_\`~\\\\${FILLER}]{1,1000}`,
  "giu",
);

/**
 * The text with look-alikes folded, without what shows nothing and without emphasis, marks of code and escapes, so that
 * none of them parts a word. Linear.
 */
export function plainForm(text: string): PlainForm {
  const folded = foldLookAlikes(text);
  const pieces: string[] = [];
  /** Where a stretch begins in the plain text and in the text, one after the other. */
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
