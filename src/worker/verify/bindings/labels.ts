import { onceEach } from "../../../shared/once.ts";
import { foldWord } from "../../../shared/text/normalise-text.ts";
import { fieldWords } from "../../../shared/text/word-lists.ts";
import { findDates } from "../../text/figures/dates.ts";
import { findNumbers } from "../../text/figures/numbers.ts";
import { measureAt } from "../../text/figures/measures.ts";
import { areRelated, readTerms } from "../claims/terms.ts";
import type { ClaimLanguage } from "../claims/terms.ts";
import type { TextSpan } from "../../text/spans.ts";
import { withoutSpans } from "../../text/clean-text.ts";

/** A word of a label or of a field's name, with its meanings from the lists of words. */
type LabelWord = { readonly word: string; readonly meanings: readonly string[] };
export type Label = readonly LabelWord[];

/** A figure of a line, with the text up to the figures on both sides, and its label. */
export type LabelledFigure = { readonly text: string; readonly label: Label };
export type FigureType = "date" | "number";

/** Words further away are no label. */
const MOST_CHARS = 120;

/**
 * Makes a reader of the dates and numbers of a line, each with its label: the words before it, or else the label of the figure
 * before ("VAT 20 % 149.32": both are VAT), or else, for the first figure, the words behind it. Equal words give the same label
 * object, because a table repeats them in each row.
 */
export function figureReader(): (
  text: string,
  language: ClaimLanguage | null,
) => Readonly<Record<FigureType, readonly LabelledFigure[]>> {
  const labelsIn = onceEach((language: ClaimLanguage | null) =>
    onceEach((words: string) => readLabel(words, language)),
  );
  const labelOf = (words: string, language: ClaimLanguage | null): Label =>
    labelsIn(language)(words.replace(/\p{N}+/gu, "0"));
  return (text, language) => {
    const label = (figures: readonly TextSpan[]): readonly LabelledFigure[] => {
      let last: Label = [];
      return figures.map(({ start, end }, at) => {
        const from = figures[at - 1]?.end ?? 0;
        const to = figures[at + 1]?.start ?? text.length;
        const before = labelOf(text.slice(Math.max(from, start - MOST_CHARS), start), language);
        if (before.length > 0) last = before;
        else if (at === 0) last = labelOf(textBehind(text.slice(end, to)), language);
        return { text: text.slice(from, to), label: last };
      });
    };
    const dates = findDates(text);
    return { date: label(dates), number: label(findNumbers(withoutSpans(text, dates))) };
  };
}

const textBehind = (text: string): string => /^[^|,;.:]{0,40}/.exec(text)?.[0] ?? "";

function readLabel(text: string, language: ClaimLanguage | null): Label {
  const terms = readTerms(text, language);
  const telling = terms.filter(({ isContent }) => isContent).map(({ word }) => word);
  return withMeanings(
    telling,
    terms.map(({ word }) => word),
  );
}

/** The words of a name (`amountDue` is "amount due"), without those that fit any figure: "amount", "date", "kg". */
export function readFieldName(name: string): Label {
  const words = (name.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2").match(/\p{L}+/gu) ?? []).map(foldWord);
  const telling = words.filter((word) => measureAt(word)?.length !== word.length);
  const known = new Map(
    withMeanings(telling, words).map((one) => [one.meanings.join() || one.word, one]),
  );
  return [...known.values()];
}

const MOST_PHRASE_WORDS = 3;

/**
 * Replaces the words of a known phrase by the phrase: "to pay" is no salary.
 * @param all also the function words, which may be part of a phrase
 */
function withMeanings(telling: readonly string[], all: readonly string[]): Label {
  const known = fieldWords();
  const phrases = new Set(
    all.flatMap((_, at) =>
      [2, MOST_PHRASE_WORDS]
        .map((length) => all.slice(at, at + length).join(" "))
        .filter((phrase) => phrase.includes(" ") && known.has(phrase)),
    ),
  );
  const inPhrases = new Set([...phrases].flatMap((phrase) => phrase.split(" ")));
  return [...telling.filter((word) => !inPhrases.has(word)), ...phrases]
    .map((word) => ({ word: foldUmlauts(word), meanings: [...meaningsOf(word)] }))
    .filter(({ meanings }) => !meanings.includes("generic"));
}

const FEWEST_LETTERS = 4;

/** The meanings of a word, or of the parts of a compound ("Rechnungsbetrag"). */
function meaningsOf(word: string): ReadonlySet<string> {
  const known = fieldWords();
  const own = known.get(word);
  if (own !== undefined) return own;
  const parts = Array.from(word).flatMap((_, at) =>
    [word.slice(0, at), word.slice(at)].filter((part) => part.length >= FEWEST_LETTERS),
  );
  return new Set(
    parts.flatMap((part) => [...(known.get(part) ?? [])]).filter((one) => one !== "generic"),
  );
}

/** Makes "naechste" equal to "nächste". */
const foldUmlauts = (word: string): string => word.replace(/([aou])e/g, "$1");

/** The points that a label loses for each word with another meaning than the name. */
const OTHER_MEANING = 0.25;
const MOST_OTHER = 0.5;

/** Scores how well a label fits a name: a point for each word of the name, minus some for other meanings; 0 without any word. */
export function meetsName(label: Label, name: Label): number {
  const met = name.filter((word) => label.some((other) => isSame(word, other))).length;
  if (met === 0) return 0;
  const others = label.filter(
    (word) => word.meanings.length > 0 && !name.some((wanted) => isSame(wanted, word)),
  );
  return met - Math.min(MOST_OTHER, OTHER_MEANING * others.length);
}

/** Whether label and name both have known meanings, and none in common. */
export function meansOther(label: Label, name: Label): boolean {
  const meant = name.flatMap(({ meanings }) => meanings);
  const told = label.flatMap(({ meanings }) => meanings);
  return meant.length > 0 && told.length > 0 && !told.some((meaning) => meant.includes(meaning));
}

const isSame = (one: LabelWord, other: LabelWord): boolean =>
  one.meanings.some((meaning) => other.meanings.includes(meaning)) ||
  areRelated(one.word, other.word) ||
  isPart(one.word, other.word) ||
  isPart(other.word, one.word);

const isPart = (part: string, whole: string): boolean =>
  part.length >= FEWEST_LETTERS && (whole.startsWith(part) || whole.endsWith(part));
