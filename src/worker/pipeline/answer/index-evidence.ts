import { foldWords } from "../text/fold-words.ts";
import type { Word } from "../text/fold-words.ts";
import type { CitableBlock } from "../number-evidence.ts";
import { placesIn } from "./place-in-evidence.ts";
import type { PlaceInFile } from "./place-in-evidence.ts";

/** A piece of evidence as its words, each a number, so that they are compared fast. */
export type IndexedPiece = {
  readonly block: CitableBlock;
  readonly words: readonly Word[];
  readonly ids: Int32Array;
  readonly placeOf: PlaceInFile;
};

export type IndexedEvidence = {
  readonly pieces: readonly IndexedPiece[];
  /** The number of a word; -1 for one that the evidence does not hold. */
  readonly idOf: (word: string) => number;
};

/** Folds each piece once; quotes are then looked up in it. */
export function indexEvidence(evidence: readonly CitableBlock[]): IndexedEvidence {
  const numbers = new Map<string, number>();
  const numberOf = (word: string): number => {
    const number = numbers.get(word) ?? numbers.size;
    numbers.set(word, number);
    return number;
  };
  const pieces = evidence.map((block) => {
    const words = foldWords(block.text);
    const ids = Int32Array.from(words, ({ text }) => numberOf(text));
    return { block, words, ids, placeOf: placesIn(block) };
  });
  return { pieces, idOf: (word) => numbers.get(word) ?? -1 };
}
