import { foldSharpS, normaliseText } from "../../../shared/normalise-text.ts";

const GRAM = 4;
/** Part of a word's letter groups that another must have to be near to it. */
const LEAST_SHARED = 0.5;

/**
 * Whether a word of a text has half the groups of four letters of a word of the question, and is another word: the same
 * word would have been found as such, unless it is a stop word.
 */
export function isNearInSpelling(question: string, text: string): boolean {
  const found = new Set(wordsOf(text));
  const grams = [...found].map((word) => new Set(gramsOf(word)));
  return wordsOf(question)
    .filter((word) => !found.has(word))
    .some((word) => {
      const asked = gramsOf(word);
      const shared = (held: ReadonlySet<string>) => asked.filter((gram) => held.has(gram)).length;
      return grams.some((held) => shared(held) >= LEAST_SHARED * asked.length);
    });
}

const wordsOf = (text: string): string[] =>
  foldSharpS(normaliseText(text))
    .toLowerCase()
    .match(/[\p{L}\p{N}]{4,40}/gu) ?? [];

function gramsOf(word: string): string[] {
  const framed = `^${word}$`;
  return Array.from({ length: framed.length - GRAM + 1 }, (_, at) => framed.slice(at, at + GRAM));
}
