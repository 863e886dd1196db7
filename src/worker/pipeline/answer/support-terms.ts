import { stemWord } from "../../model/extractive/stem-word.ts";
import { STOP_WORDS } from "../../model/extractive/stop-words.ts";
import { wordsOf } from "../../model/extractive/words.ts";

const IDEOGRAPHS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** Words that answer without a subject. */
const BARE_ANSWERS: ReadonlySet<string> = new Set(["yes", "ja", "nein", "okay"]);

/** Gives the distinct terms of a text, each as its number; the same term has the same number in every text. */
export type TermReader = (text: string) => number[];

/**
 * Terms are stems of the words that carry a subject; in scripts without blanks pairs of characters. Each word is
 * stemmed once.
 */
export function termReader(): TermReader {
  const numbers = new Map<string, number>();
  const byWord = new Map<string, readonly number[]>();
  /** The reading in which a term was met last. */
  const metIn: number[] = [];
  let reading = 0;

  const numberOf = (term: string): number => {
    const number = numbers.get(term) ?? numbers.size;
    numbers.set(term, number);
    return number;
  };
  const termsOf = (word: string): readonly number[] => {
    const terms = byWord.get(word) ?? stemsOf(word).map(numberOf);
    byWord.set(word, terms);
    return terms;
  };
  return (text) => {
    reading += 1;
    const found: number[] = [];
    for (const word of wordsOf(text)) {
      for (const term of termsOf(word)) {
        if (metIn[term] === reading) continue;
        metIn[term] = reading;
        found.push(term);
      }
    }
    return found;
  };
}

function stemsOf(word: string): string[] {
  if (STOP_WORDS.has(word) || BARE_ANSWERS.has(word)) return [];
  return IDEOGRAPHS.test(word) ? pairsOf(word) : [stemWord(word)];
}

function pairsOf(word: string): string[] {
  const characters = Array.from(word);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => (characters[index] ?? "") + character);
}
