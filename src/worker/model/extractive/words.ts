import { stemWord } from "./stem-word.ts";
import { STOP_WORDS } from "./stop-words.ts";
import { normaliseText } from "../../../shared/normalise-text.ts";

/** The words of a text in lower case, without accents and possessives. */
export function wordsOf(text: string): string[] {
  const plain = normaliseText(text, "NFKD").replace(/\p{Mn}/gu, "");
  const folded = plain.replace(/['’]s\b/g, "").toLowerCase();
  const joined = MAYBE_SPELLED.test(folded) ? folded.replace(SPELLED, joinLetters) : folded;
  return joined.match(/[\p{L}\p{N}]+(?:[.:][\p{N}]+)*/gu) ?? [];
}

const MAYBE_SPELLED = /[^\s._][._][^\s._]/;
/** "L.C.D." and "L_C_D_" are "LCD". */
const SPELLED = /(?<![\p{L}\p{N}])\p{L}(?:[._]\p{L}(?![\p{L}\p{N}]))+/gu;
const joinLetters = (letters: string): string => letters.replace(/[._]/g, "");

/** Stems of the words that carry a subject, in order, with repetitions. */
export const contentStems = (text: string): string[] => stemReader()(text);

/** Gives `contentStems` of text after text, and stems each word once. */
export function stemReader(): (text: string) => string[] {
  const known = new Map<string, string>();
  return (text) => {
    const stems: string[] = [];
    for (const word of wordsOf(text)) {
      if (STOP_WORDS.has(word)) continue;
      const stem = known.get(word) ?? stemWord(word);
      known.set(word, stem);
      stems.push(stem);
    }
    return stems;
  };
}
