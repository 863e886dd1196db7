import { normaliseText } from "./normalise-text.ts";

/** Before these a word is a measure, not a wish for depth: "how long", "wie tief", "quão longo". */
const MEASURES = new Set(["how", "wie", "quão", "cuán"]);

/** Scripts that put no blanks between words, where a trigger may stand anywhere. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}]/u;

/**
 * The first trigger that stands in the text as whole words, whatever their case, or null: "deep" is not in
 * "deepest", and "long" not in "belong" nor in "how long". A phrase matches across blanks and hyphens ("in-depth"
 * and "in depth"), not across the end of a clause. Addresses and names such as "summary.pdf" hold no words.
 * Pure; linear in the text for each trigger.
 */
export function matchTrigger(text: string, triggers: readonly string[]): string | null {
  const folded = fold(text);
  const words = wordsIn(folded);
  return (
    triggers.find((trigger) => {
      if (UNSPACED.test(trigger)) return folded.includes(fold(trigger).trim());
      const wanted = wordsIn(fold(trigger)).filter((word) => word !== CLAUSE_END);
      return wanted.length > 0 && words.some((_, start) => standsAt(words, start, wanted));
    }) ?? null
  );
}

const CLAUSE_END = ".";

/** Words in order, and a mark for each end of a clause. */
const wordsIn = (folded: string): string[] =>
  folded
    .split(/\s+/)
    .filter((token) => !isName(token))
    .flatMap((token) => {
      const words = token.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
      return /[.,;:!?…)\]]$/.test(token) ? [...words, CLAUSE_END] : words;
    });

/** An address, or a file by its extension; of a path with neither, the words count. */
const isName = (token: string): boolean =>
  token.includes("://") || /[\p{L}\p{N}]\.[a-z][a-z0-9]{0,4}[^\p{L}\p{N}]*$/u.test(token);

/** Lower case in one form of Unicode, without the soft hyphens and blanks of no width that show nothing. */
const fold = (text: string): string =>
  normaliseText(text)
    .replace(/[\u00AD\u200B\u2060\uFEFF]/g, "")
    .toLowerCase();

const standsAt = (words: readonly string[], start: number, wanted: readonly string[]): boolean =>
  !MEASURES.has(words[start - 1] ?? "") &&
  wanted.every((word, offset) => words[start + offset] === word);
