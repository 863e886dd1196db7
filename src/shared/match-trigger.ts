import { normaliseText } from "./normalise-text.ts";

/** Before these a word is a measure, not a wish for depth: "how long", "wie tief", "quão longo". */
const MEASURES = new Set(["how", "wie", "quão", "cuán"]);

/** A text of a megabyte would take longer than timers and sockets may wait. */
const MOST_CHARS = 250_000;

/** Scripts that put no blanks between words, where a trigger may stand anywhere. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}]/u;

/**
 * The first trigger that stands in the text as whole words, whatever their case, or null: "deep" is not in
 * "deepest", and "long" not in "belong" nor in "how long". A phrase matches across blanks and hyphens ("in-depth"
 * and "in depth"), not across the end of a clause. Addresses and names such as "summary.pdf" hold no words.
 * Pure; linear in the text, however many triggers there are, and of a longer text only its first 250,000 characters count.
 */
export function matchTrigger(text: string, triggers: readonly string[]): string | null {
  const folded = fold(text.slice(0, MOST_CHARS));
  const phrases = new Map<string, PhraseTree>();
  let first = triggers.length;
  for (const [place, trigger] of triggers.entries()) {
    if (!UNSPACED.test(trigger)) addPhrase(phrases, { trigger: fold(trigger), place, folded });
    else if (folded.includes(fold(trigger).trim())) first = Math.min(first, place);
  }
  const words = phrases.size === 0 ? [] : wordsIn(folded);
  for (let start = 0; start < words.length && first > 0; start += 1) {
    if (MEASURES.has(words[start - 1] ?? "")) continue;
    first = Math.min(first, placeAt(words, start, phrases));
  }
  return triggers[first] ?? null;
}

/** The phrases that go on with each word. */
type PhraseTree = { readonly next: Map<string, PhraseTree>; place: number };

type Phrase = { readonly trigger: string; readonly place: number; readonly folded: string };

/** Most texts lack a word of most phrases, which is seen sooner than that their words are told apart. */
function addPhrase(phrases: Map<string, PhraseTree>, { trigger, place, folded }: Phrase): void {
  const wanted = wordsIn(trigger).filter((word) => word !== CLAUSE_END);
  if (!wanted.every((word) => folded.includes(word))) return;
  let next = phrases;
  for (const [at, word] of wanted.entries()) {
    const tree = next.get(word) ?? { next: new Map(), place: Number.POSITIVE_INFINITY };
    next.set(word, tree);
    if (at === wanted.length - 1) tree.place = Math.min(tree.place, place);
    next = tree.next;
  }
}

/** The place in the list of the first phrase that begins at this word; infinity for none. */
function placeAt(
  words: readonly string[],
  start: number,
  phrases: ReadonlyMap<string, PhraseTree>,
): number {
  let place = Number.POSITIVE_INFINITY;
  let at = start;
  let tree = phrases.get(words[at] ?? "");
  while (tree !== undefined) {
    place = Math.min(place, tree.place);
    at += 1;
    tree = tree.next.get(words[at] ?? "");
  }
  return place;
}

const CLAUSE_END = ".";

function* wordsOfToken(token: string): Generator<string> {
  let start = 0;
  let at = 0;
  for (const char of token) {
    if (!isPartOfWord(char)) {
      if (at > start) yield token.slice(start, at);
      start = at + char.length;
    }
    at += char.length;
  }
  if (at > start) yield token.slice(start, at);
}

const PART_OF_WORD = /^[\p{L}\p{M}\p{N}]$/u;

/** By code unit 1 for a part of a word, 2 for none, 0 until it is asked for. */
const PARTS = new Uint8Array(0x10000);

/** A pattern of such a class is slow in a process that has compiled many patterns, so that each character is asked once. */
function isPartOfWord(char: string): boolean {
  if (char.length > 1) return PART_OF_WORD.test(char);
  const code = char.charCodeAt(0);
  if (PARTS[code] === 0) PARTS[code] = PART_OF_WORD.test(char) ? 1 : 2;
  return PARTS[code] === 1;
}

/** Words in order, and a mark for each end of a clause. */
function wordsIn(folded: string): string[] {
  const words: string[] = [];
  for (const token of folded.split(/\s+/)) {
    if (PLAIN_WORD.test(token)) {
      words.push(token);
    } else if (!isName(token)) {
      for (const word of wordsOfToken(token)) words.push(word);
      if (ENDS_CLAUSE.test(token)) words.push(CLAUSE_END);
    }
  }
  return words;
}

/** Most of a long text, for which a class of Unicode would cost most of the time. */
const PLAIN_WORD = /^[a-z0-9]+$/;
const ENDS_CLAUSE = /[.,;:!?…)\]]$/;
const EXTENSION = /[\p{L}\p{N}]\.[a-z][a-z0-9]{0,4}[^\p{L}\p{N}]*$/u;

/** An address, or a file by its extension; of a path with neither, the words count. */
const isName = (token: string): boolean =>
  token.includes("://") || (token.includes(".") && EXTENSION.test(token));

/** Lower case in one form of Unicode, without the soft hyphens and blanks of no width that show nothing. */
const fold = (text: string): string =>
  normaliseText(text)
    .replace(/[\u00AD\u200B\u2060\uFEFF]/g, "")
    .toLowerCase();
