import { wordFile } from "../../shared/text/word-lists.ts";
import { byLanguage } from "./word-forms.ts";
import type { ListedLanguage } from "./word-forms.ts";
import { normaliseText } from "../../shared/text/normalise-text.ts";

/** The words of a text in lower case, without accents and possessives. */
export function wordsOf(text: string): string[] {
  const plain = normaliseText(text, "NFKD").replace(/\p{Mn}/gu, "");
  const folded = plain.replace(/['’]s\b/g, "").toLowerCase();
  const joined = MAYBE_SPELLED.test(folded) ? folded.replace(SPELLED, joinLetters) : folded;
  return joined.match(/[\p{L}\p{N}]+(?:[.:][\p{N}]+)*/gu) ?? [];
}

/** A run of letters of a script without blanks between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+/gu;
/** Chinese words that say nothing about a subject, with question words among them. */
const UNSPACED_STOP =
  /什么|甚么|怎么|怎样|如何|为何|为什么|哪[里儿个些位种年]?|谁|多少|多[大高长远久快重]|几[个年次种]?|何[时地处人]|是否|吗|呢|[的了是在和与及或把被从到对以有由于之其这那]/gu;

/** The words of a text; in scripts without blanks every pair of adjacent letters, as the search index has them. */
export const subjectWordsOf = (text: string): string[] =>
  wordsOf(text).flatMap((word) => (ANY_UNSPACED.test(word) ? pairsIn(word) : [word]));

const ANY_UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** The pairs of letters in a word; other characters between them are a word of their own, such as 2016 in "2016年". */
function pairsIn(word: string): string[] {
  const others = word.split(UNSPACED).filter((part) => part !== "");
  const runs = (word.match(UNSPACED) ?? []).flatMap((run) => run.split(UNSPACED_STOP));
  return [...others, ...runs.flatMap(pairsOfRun)];
}

function pairsOfRun(run: string): string[] {
  const letters = Array.from(run);
  if (letters.length < 2) return letters;
  return letters.slice(1).map((letter, at) => `${letters[at] ?? ""}${letter}`);
}

const MAYBE_SPELLED = /[^\s._][._][^\s._]/;
/** "L.C.D." and "L_C_D_" are "LCD". */
const SPELLED = /(?<![\p{L}\p{N}])\p{L}(?:[._]\p{L}(?![\p{L}\p{N}]))+/gu;
const joinLetters = (letters: string): string => letters.replace(/[._]/g, "");

/** Stems of the words that carry a subject, in order, with repetitions. */
export const contentStems = (text: string): string[] => stemReader()(text);

/** Makes a function that gives `contentStems` of one text after the other, and stems each word once. */
export function stemReader(): (text: string) => string[] {
  const known = new Map<string, string>();
  const stop = stopWords("english");
  return (text) => {
    const stems: string[] = [];
    for (const word of subjectWordsOf(text)) {
      if (stop.has(word)) continue;
      const stem = known.get(word) ?? stemWord(word);
      known.set(word, stem);
      stems.push(stem);
    }
    return stems;
  };
}

const VOWEL = /[aeiouy]/;

/** Suffixes to cut off, longest first, with their replacements. */
const ENDINGS: readonly (readonly [string, string])[] = [
  ["izations", "ize"],
  ["ization", "ize"],
  ["isations", "ize"],
  ["isation", "ize"],
  ["fulness", "ful"],
  ["ations", "at"],
  ["ation", "at"],
  ["ments", "ment"],
  ["nesses", ""],
  ["ness", ""],
  ["ising", "ize"],
  ["ised", "ize"],
  ["ises", "ize"],
  ["ise", "ize"],
  ["ates", "at"],
  ["ated", "at"],
  ["ating", "at"],
  ["ate", "at"],
  ["ables", "abl"],
  ["able", "abl"],
  ["ings", ""],
  ["ing", ""],
  ["ies", "y"],
  ["ied", "y"],
  ["ers", "er"],
  ["ed", ""],
  ["ly", ""],
  ["es", ""],
  ["s", ""],
  ["e", ""],
];

/**
 * A light English stem, equal for "rentals", "rented" and "renting": it cuts one ending, halves a doubled consonant, and
 * turns a final y into i. Compare it only with other stems.
 */
export function stemWord(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  const stem = halveDouble(cutEnding(word));
  return stem.endsWith("y") ? `${stem.slice(0, -1)}i` : stem;
}

function cutEnding(word: string): string {
  if (word.endsWith("ss") || word.endsWith("us")) return word;
  for (const [ending, replacement] of ENDINGS) {
    if (!word.endsWith(ending)) continue;
    const stem = word.slice(0, -ending.length);
    if (stem.length >= 3 && VOWEL.test(stem)) return stem + replacement;
  }
  return word;
}

function halveDouble(stem: string): string {
  const last = stem.at(-1) ?? "";
  const isDouble = stem.length > 3 && last === stem.at(-2) && !VOWEL.test(last);
  return isDouble ? stem.slice(0, -1) : stem;
}

/** Words of a language that say nothing about a subject, folded, including words of questions and requests. */
export const stopWords = byLanguage(
  (language): ReadonlySet<string> => new Set(wordFile(language).stop),
);

/**
 * The words of a question that carry its subject: without function words of English and of the language that most of its
 * words belong to.
 */
export function withoutFunctionWords(words: readonly string[]): string[] {
  const [english, best] = [stopWords("english"), stopWords(languageOf(words))];
  return words.filter((word) => !english.has(word) && !best.has(word));
}

/** The language of a question, by its marks or by the function words in it; English if there are none. */
export const questionLanguage = (text: string): ListedLanguage =>
  text.includes("¿") ? "spanish" : languageOf(wordsOf(text));
const LISTED: readonly ListedLanguage[] = ["english", "german", "french", "spanish"];

function languageOf(words: readonly string[]): ListedLanguage {
  const counted = LISTED.map((language) => {
    const stop = stopWords(language);
    return { language, count: words.filter((word) => stop.has(word)).length };
  });
  return counted.toSorted((one, other) => other.count - one.count)[0]?.language ?? "english";
}
