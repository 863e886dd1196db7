import { z } from "zod";
import type { Queryable } from "../database.ts";
import type { Language } from "../../language.ts";
import { splitWords } from "./split-words.ts";
import { termOf } from "./term.ts";

/**
 * What the database makes of words in one language. It parses and stems every different word once, and not once a place where the
 * word stands, which was most of the work of indexing. Words and lexemes are numbers here, from 0.
 */
export type Vocabulary = {
  /** The words of some texts, in order and as often as they stand there. */
  wordsOf(texts: readonly string[]): Int32Array;
  /** Asks for the lexemes of the words that nobody asked for yet. */
  learn(db: Queryable, words: readonly Int32Array[]): Promise<void>;
  /** The lexemes of a word that was learned: none of a stop word, several of `foo-bar`. */
  lexemesOf(word: number): readonly number[];
  /** As the index knows it: with its language. */
  term(number: number): string;
  readonly lexemes: number;
};

/** Of all languages together: some 20 MB. */
const MOST_WORDS = 100_000;

/** Gives the vocabulary that the next portion of a language shall use: the same one until all of them are large. */
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

function createVocabulary(words: NumberedStrings, language: Language): Vocabulary {
  const lexemes = numberStrings();
  const learned: (readonly number[] | undefined)[] = [];
  return {
    wordsOf(texts) {
      const found: number[] = [];
      for (const text of texts) splitWords(text, (word) => found.push(words.numberOf(word)));
      return Int32Array.from(found);
    },
    async learn(db, lists) {
      const unknown = new Set<number>();
      for (const list of lists) {
        for (const word of list) if (learned[word] === undefined) unknown.add(word);
      }
      const asked = [...unknown];
      const answers = await selectLexemes(
        db,
        asked.map((word) => words.texts[word] ?? ""),
        language,
      );
      for (const [at, word] of asked.entries()) {
        learned[word] = (answers[at] ?? []).map(lexemes.numberOf);
      }
    },
    lexemesOf: (word) => learned[word] ?? [],
    term: (number) => termOf(language, lexemes.texts[number] ?? ""),
    get lexemes() {
      return lexemes.texts.length;
    },
  };
}

const rowsSchema = z.array(z.object({ lexemes: z.array(z.string()) }));

async function selectLexemes(
  db: Queryable,
  words: readonly string[],
  language: Language,
): Promise<string[][]> {
  if (words.length === 0) return [];
  // The parser takes `~/x` for another word at the very start of a text than after a blank.
  const { rows } = await db.query(
    `select tsvector_to_array(to_tsvector($2::regconfig, ' ' || word)) as lexemes
       from unnest($1::text[]) with ordinality as given (word, place) order by place`,
    [words, language],
  );
  return rowsSchema.parse(rows).map(({ lexemes }) => lexemes);
}
