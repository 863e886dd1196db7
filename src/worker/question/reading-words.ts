import { z } from "zod";
import { normaliseText } from "../../shared/text/normalise-text.ts";
import { firstFrom } from "../text/first-index.ts";
import { once } from "../../shared/once.ts";
import { wordLines, readNames } from "../../shared/text/word-lists.ts";

/**
 * Kinds of words beside a name, listed for eight languages in `assets/names/asked-files.json`. "reading" requests the content
 * before the name, and "behind" after it, in German and Dutch ("Fass LICENSE zusammen"). "asking" counts only together with
 * "saying" or "inside", which say where the answer would stand. "noun" means a file outright.
 */
const kinds = ["reading", "behind", "asking", "saying", "inside", "noun", "article"] as const;
type Kind = (typeof kinds)[number] | "other";

const lists = readNames("asked-files.json", z.record(z.enum(kinds), wordLines));
const kindsByWord = once(() => {
  const byWord = new Map<string, Set<Kind>>();
  for (const kind of kinds)
    for (const word of lists()[kind]) byWord.set(word, (byWord.get(word) ?? new Set()).add(kind));
  return byWord;
});

/** Chinese and Japanese: read, open, summarise, what is written. */
const READING_UNSPACED = /读|讀|読|阅|打开|開い|开|总结|總結|要約|まとめ|概括|说明|書い|内容/u;
const UNSPACED: ReadonlySet<Kind> = new Set(["reading", "behind"]);

type Word = { readonly start: number; readonly end: number; readonly kinds: ReadonlySet<Kind> };
const OTHER: ReadonlySet<Kind> = new Set(["other"]);
const END_OF_SENTENCE: ReadonlySet<Kind> = new Set();

/** The distance, in words, over which a verb counts. */
const REACH = 10;

/** A word, or a mark that ends a sentence. A dot counts only behind three letters, because "z.B." and "Dr." end no sentence. */
const WORD = /[\p{L}\p{M}\p{N}_]+(?:['’;-][\p{L}\p{M}]+)*|[!?;\n](?=\s|$)|(?<=\p{L}{3})\.(?=\s)/gu;

type Reader = {
  /** Whether a verb or phrase of its sentence requests to read the text from `start` to `end`. */
  asksFor(span: { readonly start: number; readonly end: number }): boolean;
};

/** Finds the words of a question once, so that many names in it are decided in linear time. Pure. */
export function findReadingWords(question: string): Reader {
  const words = [...question.matchAll(WORD)].map(({ 0: word, index }): Word => ({
    start: index,
    end: index + word.length,
    kinds: kindsOf(word),
  }));
  return {
    asksFor: ({ start, end }) => {
      const first = firstFrom(words, start);
      const before = cutAtSentenceEnd(words.slice(Math.max(0, first - REACH), first).toReversed());
      const next = firstFrom(words, end);
      // In a script without spaces the next word begins directly at the end of the name.
      const from = (words[next - 1]?.end ?? 0) > end ? next - 1 : next;
      return isAsked(before, cutAtSentenceEnd(words.slice(from, from + REACH)));
    },
  };
}

function kindsOf(word: string): ReadonlySet<Kind> {
  if (/^[!?;.\n]/.test(word)) return END_OF_SENTENCE;
  const folded = normaliseText(word, "NFC").toLowerCase().replaceAll("’", "'");
  if (READING_UNSPACED.test(folded)) return UNSPACED;
  return kindsByWord().get(folded) ?? OTHER;
}

/** The words up to the end of the sentence, nearest first. */
function cutAtSentenceEnd(words: readonly Word[]): readonly Word[] {
  const end = words.findIndex(({ kinds }) => kinds.size === 0);
  return end === -1 ? words : words.slice(0, end);
}

function isAsked(before: readonly Word[], after: readonly Word[]): boolean {
  const has = (words: readonly Word[], kind: Kind): boolean =>
    words.some(({ kinds }) => kinds.has(kind));
  if (has(before, "reading") || has(after, "behind")) return true;
  const nearest = before.find(({ kinds }) => !kinds.has("article"));
  if (nearest?.kinds.has("noun") === true || after[0]?.kinds.has("noun") === true) return true;
  if (!has(before, "asking") && !has(after, "asking")) return false;
  return has(before, "saying") || has(after, "saying") || nearest?.kinds.has("inside") === true;
}
