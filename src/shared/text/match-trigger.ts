import { normaliseText } from "./normalise-text.ts";

/** After these a word is a measure, not a wish for depth: "how long", "wie tief", "quão longo". */
const MEASURES = new Set(["how", "wie", "quão", "cuán"]);

/** A text of one megabyte would take longer than timers and sockets may wait. */
const MOST_CHARS = 250_000;

/** Scripts without blanks between words, where a trigger may occur anywhere. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}]/u;

/**
 * The first trigger of the list that occurs in the text as whole words, in any case, or null: "deep" is not in "deepest", and
 * "long" neither in "belong" nor in "how long". A phrase matches across blanks and hyphens ("in-depth" and "in depth"), not
 * across the end of a clause. URLs and names such as "summary.pdf" contain no words. Pure. The time is linear in the text,
 * whatever the number of triggers; only the first 250,000 characters count.
 */
export function matchTrigger(text: string, triggers: readonly string[]): string | null {
  const folded = fold(text.slice(0, MOST_CHARS));
  const phrases = new Map<string, PhraseTree>();
  let first = triggers.length;
  for (const [place, trigger] of triggers.entries()) {
    if (!UNSPACED.test(trigger)) addPhrase(phrases, fold(trigger), place);
    else if (folded.includes(fold(trigger).trim())) first = Math.min(first, place);
  }
  const words = wordsIn(folded);
  for (let start = 0; start < words.length && first > 0; start += 1) {
    if (MEASURES.has(words[start - 1] ?? "")) continue;
    const place = placeAt(words, start, phrases);
    if (place < first) first = place;
  }
  return triggers[first] ?? null;
}

/** The phrases that continue with each word. */
type PhraseTree = { readonly next: Map<string, PhraseTree>; place: number };

function addPhrase(phrases: Map<string, PhraseTree>, folded: string, place: number): void {
  const wanted = wordsIn(folded).filter((word) => word !== CLAUSE_END);
  let next = phrases;
  for (const [at, word] of wanted.entries()) {
    const tree = next.get(word) ?? { next: new Map(), place: NOWHERE };
    next.set(word, tree);
    if (at === wanted.length - 1) tree.place = Math.min(tree.place, place);
    next = tree.next;
  }
}

const NOWHERE = Number.POSITIVE_INFINITY;

/** The index of the first phrase that begins at this word; infinity for none. */
function placeAt(
  words: readonly string[],
  start: number,
  phrases: ReadonlyMap<string, PhraseTree>,
): number {
  let place = NOWHERE;
  let at = start;
  let tree = phrases.get(words[at] ?? "");
  while (tree !== undefined) {
    if (tree.place < place) place = tree.place;
    at += 1;
    tree = tree.next.get(words[at] ?? "");
  }
  return place;
}

const CLAUSE_END = ".";

/** Words in order, with a mark for each end of a clause. */
function wordsIn(folded: string): string[] {
  const words: string[] = [];
  for (const token of folded.split(/\s+/)) {
    if (PLAIN_WORD.test(token)) {
      words.push(token);
    } else if (!isName(token)) {
      for (const [word] of token.matchAll(/[\p{L}\p{M}\p{N}]+/gu)) words.push(word);
      if (/[.,;:!?…)\]]$/.test(token)) words.push(CLAUSE_END);
    }
  }
  return words;
}

/** Matches most words of a long text without a costly Unicode class. */
const PLAIN_WORD = /^[a-z0-9]+$/;

/** Whether a token is a URL, or a file name by its extension. The words of a path with neither count. */
const isName = (token: string): boolean =>
  token.includes("://") || /[\p{L}\p{N}]\.[a-z][a-z0-9]{0,4}[^\p{L}\p{N}]*$/u.test(token);

/** Lower case in one form of Unicode, without soft hyphens and zero-width blanks. */
const fold = (text: string): string =>
  normaliseText(text)
    .replace(/[\u00AD\u200B\u2060\uFEFF]/g, "")
    .toLowerCase();
