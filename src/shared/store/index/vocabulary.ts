import { z } from "zod";
import type { Language } from "../../text/language.ts";
import type { Queryable } from "../connection/database.ts";
import { valuesOf } from "../connection/rows.ts";
import { termOf } from "./terms.ts";

/**
 * The lexemes that the database makes of words in one language. Each distinct word is parsed and stemmed once and not at each
 * occurrence, which was most of the work of indexing. Words and lexemes are numbers here, from 0.
 */
export type Vocabulary = {
  /** The words of texts, in order, with repetitions. */
  wordsOf(texts: readonly string[]): Int32Array;
  numberOf(word: string): number;
  /** Fetches the lexemes of words that are still unknown. */
  learn(db: Queryable, words: readonly Int32Array[]): Promise<void>;
  /** The lexemes of a learned word: none for a stop word, several for `foo-bar`. */
  lexemesOf(word: number): readonly number[];
  /** The term of a lexeme in the index, which includes its language. */
  term(number: number): string;
  readonly lexemes: number;
};

/** Words of all languages together, which take about 20 MB. */
const MOST_WORDS = 100_000;
/** Most words of one statement: parsing the answer takes some tens of milliseconds. */
const MOST_ASKED = 20_000;

/** Returns a function that gives the vocabulary for the next portion in a language: the same one until all get too large. */
export function createVocabularies(): (language: Language) => Vocabulary {
  const spoken = new Map<Language, { words: NumberedStrings; vocabulary: Vocabulary }>();
  return (language) => {
    const words = [...spoken.values()].reduce((sum, one) => sum + one.words.texts.length, 0);
    if (words > MOST_WORDS) spoken.clear();
    const known = spoken.get(language) ?? openVocabulary(language);
    spoken.set(language, known);
    return known.vocabulary;
  };
}

function openVocabulary(language: Language): { words: NumberedStrings; vocabulary: Vocabulary } {
  const words = numberStrings();
  return { words, vocabulary: createVocabulary(words, language) };
}

type NumberedStrings = {
  readonly texts: readonly string[];
  readonly numberOf: (text: string) => number;
};

function numberStrings(): NumberedStrings {
  const texts: string[] = [];
  const numbers = new Map<string, number>();
  return {
    texts,
    numberOf(text) {
      let number = numbers.get(text);
      if (number === undefined) {
        number = texts.push(text) - 1;
        numbers.set(text, number);
      }
      return number;
    },
  };
}

/** Numbers the words of texts without a database; `texts` lists them by number. */
export function createWordNumbers(): Pick<Vocabulary, "wordsOf"> & NumberedStrings {
  const words = numberStrings();
  return { ...words, wordsOf: (texts) => wordNumbers(texts, words) };
}

function wordNumbers(texts: readonly string[], { numberOf }: NumberedStrings): Int32Array {
  const found: number[] = [];
  for (const text of texts) splitWords(text, (word) => found.push(numberOf(word)));
  return new Int32Array(found);
}

function createVocabulary(words: NumberedStrings, language: Language): Vocabulary {
  const lexemes = numberStrings();
  const learned: (readonly number[] | undefined)[] = [];
  return {
    wordsOf: (texts) => wordNumbers(texts, words),
    numberOf: words.numberOf,
    async learn(db, lists) {
      const unknown = new Set<number>();
      for (const list of lists) {
        for (let at = 0; at < list.length; at += 1) {
          const word = list[at] ?? 0;
          if (learned[word] === undefined) unknown.add(word);
        }
      }
      const unknownWords = [...unknown];
      for (let from = 0; from < unknownWords.length; from += MOST_ASKED) {
        const some = unknownWords.slice(from, from + MOST_ASKED);
        const spelled = some.map((word) => words.texts[word] ?? "");
        const answers = await selectLexemes(db, spelled, language);
        for (const [at, word] of some.entries()) {
          learned[word] = (answers[at] ?? []).map(lexemes.numberOf);
        }
      }
    },
    lexemesOf: (word) => learned[word] ?? [],
    term: (number) => termOf(language, lexemes.texts[number] ?? ""),
    get lexemes() {
      return lexemes.texts.length;
    },
  };
}

async function selectLexemes(
  db: Queryable,
  words: readonly string[],
  language: Language,
): Promise<string[][]> {
  if (words.length === 0) return [];
  // The blank, because the parser reads `~/x` differently at the start of a text.
  return valuesOf(db, z.array(z.string()), [words, language])`
     select tsvector_to_array(to_tsvector($2::regconfig, ' ' || word)) as lexemes
       from unnest($1::text[]) with ordinality as given (word, place) order by place`;
}

/** Marks around a word that the text search parser treats as blanks; inside a word, `.` and `:` may belong to a host or URL. */
const BEFORE = charSet("([{\"'*");
const AFTER = charSet(".,;:!?)]}\"'*");

/** A whole tag of HTML or XML: the parser drops it, but would not recognise its halves. */
const TAG = /<[A-Za-z/!?][^<>]{0,300}>/g;

/**
 * The pieces of a text between white space, in order. The text search parser finds the same words in the single pieces as in the
 * whole text, because none of its tokens except tags contains white space.
 */
function splitWords(text: string, visit: (word: string) => void): void {
  if (!text.includes("<")) {
    splitAtBlanks(text, 0, text.length, visit);
    return;
  }
  let from = 0;
  for (const match of text.matchAll(TAG)) {
    splitAtBlanks(text, from, match.index, visit);
    from = match.index + match[0].length;
  }
  splitAtBlanks(text, from, text.length, visit);
}

function splitAtBlanks(
  text: string,
  from: number,
  end: number,
  visit: (word: string) => void,
): void {
  let start = from;
  for (let at = from; at <= end; at += 1) {
    if (at < end && !isBlank(text.charCodeAt(at))) continue;
    if (at > start) visit(bareWord(text, start, at));
    start = at + 1;
  }
}

/** ASCII white space only: the parser may treat other white space as part of a word. */
const isBlank = (unit: number): boolean => unit === 32 || (unit >= 9 && unit <= 13);

/** Strips the marks around a piece of only ASCII letters, so that `word.` is `word`. */
function bareWord(text: string, start: number, end: number): string {
  let first = start;
  let last = end;
  while (first < last && BEFORE[text.charCodeAt(first)] === 1) first += 1;
  while (last > first && AFTER[text.charCodeAt(last - 1)] === 1) last -= 1;
  for (let at = first; at < last; at += 1) {
    if (!isLetter(text.charCodeAt(at))) return text.slice(start, end);
  }
  return text.slice(first, last);
}

const isLetter = (unit: number): boolean => (unit | 32) >= 97 && (unit | 32) <= 122;

function charSet(characters: string): Uint8Array {
  const set = new Uint8Array(65_536);
  for (const character of characters) set[character.charCodeAt(0)] = 1;
  return set;
}
