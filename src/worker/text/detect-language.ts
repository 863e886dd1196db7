import { z } from "zod";
import { append } from "../../shared/group-by.ts";
import { once } from "../../shared/once.ts";
import { LANGUAGES } from "../../shared/text/language.ts";
import type { Language } from "../../shared/text/language.ts";
import { isAscii, normaliseText } from "../../shared/text/normalise-text.ts";
import { wordLines, readNames } from "../../shared/text/word-lists.ts";
import { byLanguage, LISTED_LANGUAGES } from "./word-forms.ts";
import type { ListedLanguage } from "./word-forms.ts";

/** The languages that lists of words of units are kept for. */
export type UnitLanguage = ListedLanguage | "japanese";

/**
 * By language the words that its texts are full of, and those that tell one of four by a single sentence. A word that several
 * languages have counts for each, and the less.
 */
const listed = readNames(
  "frequent-words.json",
  z.strictObject({
    frequent: z.partialRecord(z.enum(LANGUAGES), wordLines),
    of_few: z.record(z.enum(LISTED_LANGUAGES), wordLines),
  }),
);
const frequentOf = byLanguage(
  (language: Language): ReadonlySet<string> => new Set(listed().frequent[language]),
);
const fewOf = byLanguage((language): ReadonlySet<string> => new Set(listed().of_few[language]));

/** Languages that are known by their letters. */
const SCRIPTS: readonly (readonly [RegExp, Language])[] = [
  [/^\p{Script=Cyrillic}/u, "russian"],
  [/^\p{Script=Greek}/u, "greek"],
  [/^\p{Script=Arabic}/u, "arabic"],
  [/^\p{Script=Devanagari}/u, "hindi"],
  [/^\p{Script=Armenian}/u, "armenian"],
  [/^\p{Script=Tamil}/u, "tamil"],
];

/** A text is looked at from its front: the rest of a long one says the same. */
const MOST_CHARS = 20_000;
/** Different words that are frequent in the language: a title of five words says too little. */
const LEAST_FREQUENT = 4;
/** Of all words of a text about a third are frequent in its language. */
const LEAST_SHARE = 0.1;
/** How much more than the next language the best one must score. */
const LEAST_LEAD = 1.2;
/** Part of a text's letters that must be of a script: names and formulas in others stand in every text. */
const LEAST_OF_SCRIPT = 0.3;
const LEAST_OF_LATIN = 0.5;
const FEWEST_LETTERS = 5;

type Weight = { readonly language: Language; readonly weight: number };

const weights = once((): ReadonlyMap<string, readonly Weight[]> => {
  const spoken = new Map<string, Language[]>();
  for (const language of LANGUAGES) {
    for (const word of frequentOf(language)) append(spoken, word, language);
  }
  return new Map(
    [...spoken].map(([word, languages]) => [
      word,
      languages.map((language) => ({ language, weight: 1 / languages.length })),
    ]),
  );
});

/**
 * The language of a text by its letters, or by the words that are frequent in it: null where they do not say, as of a few
 * words, a table of numbers, code, and a text that mixes two languages evenly. Takes linear time.
 */
export function detectLanguage(text: string): Language | null {
  const front = text.slice(0, MOST_CHARS);
  if (isAscii(front)) return detectByWords(countAscii(front));
  const words = normaliseText(front, "NFC").toLowerCase().match(WORD) ?? [];
  const byLetters = detectByLetters(words);
  return byLetters === "latin" ? detectByWords(countFrequent(words)) : byLetters;
}

/** Of two letters at least: initials are frequent words of no language. */
const WORD = /\p{L}[\p{L}\p{M}]+/gu;
const LATIN = /^\p{Script=Latin}/u;

/** The first letter of a word stands for all. */
function detectByLetters(words: readonly string[]): Language | "latin" | null {
  const others = new Map<Language | null, number>();
  let latin = 0;
  let letters = 0;
  for (const word of words) {
    letters += word.length;
    if (isLatin(word)) latin += word.length;
    else {
      const script = scriptOf(word);
      others.set(script, (others.get(script) ?? 0) + word.length);
    }
  }
  for (const [, language] of SCRIPTS) {
    const count = others.get(language) ?? 0;
    if (count >= FEWEST_LETTERS && count > LEAST_OF_SCRIPT * letters) return language;
  }
  return latin > LEAST_OF_LATIN * letters ? "latin" : null;
}

function isLatin(word: string): boolean {
  const first = word.charCodeAt(0);
  return (first >= SMALL_A && first <= SMALL_Z) || LATIN.test(word);
}

const SMALL_A = 97;
const SMALL_Z = 122;

const scriptOf = (word: string): Language | null =>
  SCRIPTS.find(([script]) => script.test(word))?.[1] ?? null;

function detectByWords({ words, frequent }: WordTally): Language | null {
  const scores = new Map<Language, { score: number; words: number }>();
  for (const [weights, times] of frequent) {
    for (const { language, weight } of weights) {
      const sum = scores.get(language) ?? { score: 0, words: 0 };
      scores.set(language, { score: sum.score + weight * times, words: sum.words + 1 });
    }
  }
  const [best, next] = [...scores].sort(([, a], [, b]) => b.score - a.score);
  if (best === undefined) return null;
  const [language, sum] = best;
  const isClear =
    sum.words >= LEAST_FREQUENT &&
    sum.score >= LEAST_SHARE * words &&
    sum.score >= LEAST_LEAD * (next?.[1].score ?? 0);
  return isClear ? language : null;
}

const longestFrequent = once(() => Math.max(...[...weights().keys()].map(({ length }) => length)));

/** The words of a text, and how often each frequent one stands there, by what it weighs. */
type WordTally = {
  readonly words: number;
  readonly frequent: ReadonlyMap<readonly Weight[], number>;
};

/** Most words are none of them, and looked up only if short enough. */
function countFrequent(words: readonly string[]): WordTally {
  const frequent = new Map<readonly Weight[], number>();
  for (const word of words) {
    const weighed = word.length > longestFrequent() ? undefined : weights().get(word);
    if (weighed !== undefined) frequent.set(weighed, (frequent.get(weighed) ?? 0) + 1);
  }
  return { words: words.length, frequent };
}

/** The same of a text of ASCII, faster: only what may be a frequent word is taken out of it. */
function countAscii(text: string): WordTally {
  const frequent: string[] = [];
  let words = 0;
  let hash = 0;
  let start = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const letter = at < text.length ? text.charCodeAt(at) | CASE : 0;
    if (letter >= SMALL_A && letter <= SMALL_Z) {
      hash = addToHash(hash, letter);
      continue;
    }
    if (at - start >= 2) words += 1;
    if (at - start >= 2 && mayBeFrequent()[hash] === 1) {
      frequent.push(text.slice(start, at).toLowerCase());
    }
    start = at + 1;
    hash = 0;
  }
  return { words, frequent: countFrequent(frequent).frequent };
}

/** What a small letter of ASCII has more than its capital. */
const CASE = 32;
const HASHES = 16_384;

const addToHash = (hash: number, letter: number): number => (hash * 31 + letter) & (HASHES - 1);

/** By hash. The words that are none and share one are a few of a hundred. */
const mayBeFrequent = once(() => {
  const hashes = new Uint8Array(HASHES);
  for (const word of weights().keys()) {
    let hash = 0;
    for (let at = 0; at < word.length; at += 1) hash = addToHash(hash, word.charCodeAt(at));
    hashes[hash] = 1;
  }
  return hashes;
});

const frequentOfAny = once((): ReadonlySet<string> => new Set(weights().keys()));

/**
 * The words that are frequent in the language of a text, in lower case: those of all languages where it does not say, and null
 * for one that is known by its letters.
 */
export function frequentWords(text: string): ReadonlySet<string> | null {
  const language = detectLanguage(text);
  if (language === null) return frequentOfAny();
  const words = frequentOf(language);
  return words.size === 0 ? null : words;
}

const JAPANESE = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;
/** A text that is longer says enough. */
const FEW_CHARS = 600;

/** The language of a text if it is one with lists of words; `around`, that of the text around it, if it is another one or unknown. */
export function languageOf(text: string, around: UnitLanguage | null): UnitLanguage | null {
  if (JAPANESE.test(text.slice(0, 400))) return "japanese";
  const found = detectLanguage(text.slice(0, 3_000));
  if (found !== null) return LISTED_LANGUAGES.find((language) => language === found) ?? around;
  return text.length < FEW_CHARS ? (languageOfFew(text) ?? around) : around;
}

const LEAST_OF_FEW = 1.5;

/** A sentence is too short to be sure of: its small words are of one language, and hardly any of another. */
function languageOfFew(text: string): ListedLanguage | null {
  // A name says nothing of the language that it stands in: "Töchter", "Réka".
  const inSmall = text.replace(/\p{Lu}[\p{L}\p{M}]*/gu, "");
  const words = [...new Set(text.toLowerCase().match(/[\p{L}\p{M}]+/gu))];
  const speakers = words.map((word) =>
    LISTED_LANGUAGES.filter((language) => fewOf(language).has(word)),
  );
  const [best, next] = LISTED_LANGUAGES.map((language) => ({
    language,
    count: speakers.reduce(
      (sum, all) => sum + (all.includes(language) ? 1 / all.length : 0),
      LETTERS[language].test(inSmall) ? 2 : 0,
    ),
  })).sort((one, other) => other.count - one.count);
  const isClear =
    best !== undefined && best.count >= LEAST_OF_FEW && best.count > 1.5 * (next?.count ?? 0);
  return isClear ? best.language : null;
}

/** Letters that the others of the four do not write. */
const LETTERS: Readonly<Record<ListedLanguage, RegExp>> = {
  english: /[]/u,
  german: /[äöüß]/iu,
  french: /[çàèêûîœ]|(?<!\p{L})[ld]['’](?=\p{L})/iu,
  spanish: /[ñ¿¡]/iu,
};
