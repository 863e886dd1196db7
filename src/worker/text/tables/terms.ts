import { foldWord, normaliseText } from "../../../shared/text/normalise-text.ts";
import { wordFile } from "../../../shared/text/word-lists.ts";
import type { WordFile } from "../../../shared/text/word-lists.ts";
import { questionLanguage, stemWord, stopWords } from "../content-words.ts";

/** A word of a question. Names and numbers (`isName`) identify a row, and must not be ignored. */
export type Term = { readonly word: string; readonly isName: boolean; readonly isSmall: boolean };

/** A question in the form in which its words are compared with cells and names of columns. */
export type Asked = {
  /** Folded words, with a blank at each end. */
  readonly text: string;
  readonly terms: readonly Term[];
  readonly lists: WordFile["tables"];
  /** Stems of a cell or of the name of a column; without function words, unless it has no other words. */
  readonly stemsOf: (phrase: string) => readonly string[];
};

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
/** Tokens: a code is one word with its marks; scripts without blanks split where the script changes, and Hiragana is dropped. */
const TOKEN =
  /[\p{Script=Han}々]+|[\p{Script=Katakana}ー]+|[^\P{L}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+(?:[-–./]?\p{N}[\p{N}\p{Script=Latin}]*(?:[-–./][\p{N}\p{Script=Latin}]+)*)?|\p{N}[\p{N}\p{Script=Latin}]*(?:[-–.,:/][\p{N}\p{Script=Latin}]+)*/gu;

export function readQuestion(question: string): Asked {
  const language = UNSPACED.test(question) ? "japanese" : questionLanguage(question);
  const english = stopWords("english");
  const small = language === "japanese" ? english : stopWords(language);
  const isSmall = (word: string): boolean =>
    ASKING.has(word) || (!/\p{N}/u.test(word) && (small.has(word) || english.has(word)));
  const spelled = tokensOf(question);
  const words = spelled.map(foldWord);
  const terms = words.map((word, at): Term => {
    const token = spelled[at] ?? "";
    const isName = /\p{N}/u.test(token) || (at > 0 && /^\p{Lu}/u.test(token));
    return { word: stemWord(word), isName, isSmall: isSmall(word) };
  });
  const stemsOf = (phrase: string): readonly string[] => {
    const own = tokensOf(phrase).map(foldWord);
    const said = own.filter((word) => !isSmall(word));
    return (said.length > 0 ? said : own).map(stemWord);
  };
  return { text: ` ${words.join(" ")} `, terms, lists: wordFile(language).tables, stemsOf };
}

/** Question words of Japanese. */
const ASKING = new Set("何 何時 何名 何人 何件 何行 何円 誰 幾 教".split(" "));

const tokensOf = (text: string): string[] => normaliseText(text).match(TOKEN) ?? [];

/** Shorter function words are prepositions: "From" may name a column, but seldom means it in a question. */
const SHORTEST_SMALL = 5;

/** Indexes of the terms that a phrase holds; short function words do not count. */
export const heldBy = (
  stems: readonly string[],
  { terms }: Asked,
  how: (stem: string, word: string) => boolean,
): ReadonlySet<number> =>
  new Set(
    terms.flatMap(({ word, isSmall }, at) =>
      (!isSmall || word.length >= SHORTEST_SMALL) && stems.some((stem) => how(stem, word))
        ? [at]
        : [],
    ),
  );

export const isUnspaced = (word: string): boolean => UNSPACED.test(word);

const areSame = (one: string, other: string): boolean =>
  one === other || (isUnspaced(one) && (one.includes(other) || other.includes(one)));

/** "Inspected" and "inspector", "owns" and "owner", "geprüft" and "Prüfer". */
export function areAlike(one: string, other: string): boolean {
  if (areSame(one, other)) return true;
  if (/\p{N}/u.test(one + other)) return false;
  const [short, long] = [withoutPrefix(one), withoutPrefix(other)].sort(
    (a, b) => a.length - b.length,
  ) as [string, string];
  let shared = 0;
  while (shared < short.length && short.charAt(shared) === long.charAt(shared)) shared += 1;
  return (
    shared >= 3 &&
    short.length - shared <= (shared > 3 ? 2 : 0) &&
    long.length - shared <= (shared > 3 ? 5 : 2)
  );
}

const withoutPrefix = (word: string): string => (/^ge.{4}/.test(word) ? word.slice(2) : word);
