import { detectLanguage } from "../detect-language.ts";
import type { ListedLanguage } from "../word-forms.ts";

/** The languages that lists of words of units are kept for. */
export type UnitLanguage = ListedLanguage | "japanese";

const LANGUAGES: ReadonlySet<string> = new Set(["english", "german", "french", "spanish"]);
const JAPANESE = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** The language of a text, or of what it stands in where it says too little. */
export function languageOf(text: string, around: UnitLanguage | null): UnitLanguage | null {
  if (JAPANESE.test(text.slice(0, 400))) return "japanese";
  const found = detectLanguage(text.slice(0, 3_000));
  if (found !== null) return LANGUAGES.has(found) ? (found as UnitLanguage) : around;
  return text.length < SHORT_CHARS ? (languageOfFew(text) ?? around) : around;
}

const SHORT_CHARS = 600;

/** A sentence is too short to be sure of: its small words are of one language, and hardly any of another. */
function languageOfFew(text: string): UnitLanguage | null {
  // A name says nothing of the language that it stands in: "Töchter", "Réka".
  const inSmall = text.replace(/\p{Lu}[\p{L}\p{M}]*/gu, "");
  const words = [...new Set(text.toLowerCase().match(/[\p{L}\p{M}]+/gu))];
  const [best, next] = Object.entries(SMALL_WORDS)
    .map(([language, small]) => ({
      language,
      count:
        words.reduce((sum, word) => sum + (small.has(word) ? 1 / speakersOf(word) : 0), 0) +
        (LETTERS[language]?.test(inSmall) === true ? 2 : 0),
    }))
    .sort((one, other) => other.count - one.count);
  const isClear =
    best !== undefined && best.count >= LEAST_SMALL && best.count > 1.5 * (next?.count ?? 0);
  return isClear ? (best.language as UnitLanguage) : null;
}

const LEAST_SMALL = 1.5;

/** A word of two languages counts for each, and the less. */
const speakersOf = (word: string): number =>
  Object.values(SMALL_WORDS).filter((small) => small.has(word)).length;

/** Letters that the others of the four do not write. */
const LETTERS: Readonly<Record<string, RegExp>> = {
  german: /[äöüß]/iu,
  french: /[çàèêûîœ]|(?<!\p{L})[ld]['’](?=\p{L})/iu,
  spanish: /[ñ¿¡]/iu,
};

const SMALL_WORDS: Readonly<Record<string, ReadonlySet<string>>> = {
  english: new Set(
    "the of and to is are was were in on at for with by from not be been has have had it its this that they their which or a an can may must would should all there who when why how what if but because than then so he she you we did does as my our your her his".split(
      " ",
    ),
  ),
  german: new Set(
    "der die das den dem des und ist sind war wird wurde nicht ein eine einen im am zu mit von für auf bei einer einem dass auch nach aus oder aber er wir ihr darf ohne kein keine keinen kann muss wie noch nur wenn als um ihre seine hat haben werden weil hatte hatten sich es ich sie wären wäre sollte warum dann so vom zum zur beim seit".split(
      " ",
    ),
  ),
  french: new Set(
    "le la les de à des du un une est sont et en dans pour pas sur au aux avec par qui que ce cette il elle ont été parce mais ou a où comme sans avait avaient ils elles pourquoi lui leur puis ne ni dont avant après nous vous".split(
      " ",
    ),
  ),
  spanish: new Set(
    "el la los las de del un una es son y en por para no se con que al su porque fue han está pero más a lo como sin si sus había cuando qué cuándo ya muy hay desde hasta entre".split(
      " ",
    ),
  ),
};
