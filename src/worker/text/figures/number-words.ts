import { foldWord } from "../../../shared/text/normalise-text.ts";
import { once } from "../../../shared/once.ts";
import { allWordFiles, wordFile } from "../../../shared/text/word-lists.ts";
import { byLanguage } from "../word-forms.ts";
import type { Figure } from "./numbers.ts";
import type { UnitLanguage } from "../detect-language.ts";

/** A number that a text spells out. */
export type SpelledNumber = {
  readonly start: number;
  readonly end: number;
  readonly value: number;
  /** True for "one" and ordinals, which need not be counts. */
  readonly isSoft: boolean;
};

const numbersIn = byLanguage((language) => new Map(Object.entries(wordFile(language).numbers)));
const numbersOfTwo = once(() => new Map([...numbersIn("german"), ...numbersIn("english")]));
/** `ordinals` also holds words for two; `scales` multiply the number before them. */
const ordinals = once(() => mergeNumbers("ordinals"));
const scales = once(() => mergeNumbers("scales"));

const mergeNumbers = (key: "ordinals" | "scales"): ReadonlyMap<string, number> =>
  new Map(allWordFiles().flatMap((file) => Object.entries(file[key])));

// Bounded, so that a hostile text takes linear time.
const WORD = /[\p{L}\p{M}]{2,40}/gu;
const JOINED = /^(?:[ \u00A0]?[-‐][ \u00A0]?|[ \u00A0](?:(?:and|et|y)[ \u00A0])?|-et-)$/u;
const COUNTED =
  /[〇一二三四五六七八九十百千]{1,8}(?=[人名台個本枚回年月日時分秒週歳階円軒件度割冊匹頭羽泊杯種か箇つ倍点社校室戸万])/gu;

/** The numbers up to some thousands that a text spells out, in order. */
export const findSpelledNumbers = (text: string, language: UnitLanguage | null): SpelledNumber[] =>
  language === "japanese" ? findCounted(text) : findWords(text, numbersIn(language ?? "english"));

/** Spelled numbers of English and German in a text of any language: they support an answer that writes digits. */
export const findNumberWords = (text: string): Figure[] =>
  findWords(text, numbersOfTwo()).map(({ start, end, value }) => {
    const readings = [`n:${value}`];
    return { kind: "number", start, end, asks: [readings], offers: readings };
  });

function findWords(text: string, values: ReadonlyMap<string, number>): SpelledNumber[] {
  const found: SpelledNumber[] = [];
  let last: { start: number; end: number; value: number; lastPart: number } | null = null;
  const close = (): void => {
    if (last !== null) found.push({ ...last, isSoft: last.value === 1 });
    last = null;
  };
  for (const { 0: word, index } of text.matchAll(WORD)) {
    const folded = foldWord(word);
    const end = index + word.length;
    const value = values.get(folded);
    const gap: string = last === null ? "" : text.slice(last.end, index);
    const scale: number | undefined =
      last !== null && JOINED.test(gap) ? scales().get(folded) : undefined;
    if (last !== null && scale !== undefined && last.value < scale) {
      last = { start: last.start, end, value: last.value * scale, lastPart: scale };
    } else if (value === undefined) {
      const ordinal = ordinals().get(folded);
      const tens: Open | null =
        ordinal !== undefined && gap === "-" && last !== null && joinsOrdinal(last, ordinal)
          ? last
          : null;
      if (tens === null) close();
      last = null;
      if (ordinal !== undefined)
        found.push({
          ...{ start: tens?.start ?? index, end },
          ...{ value: (tens?.value ?? 0) + ordinal, isSoft: true },
        });
    } else if (last !== null && JOINED.test(gap) && value < last.lastPart && value !== 0) {
      last = { start: last.start, end, value: last.value + value, lastPart: value };
    } else if (last !== null && JOINED.test(gap) && last.lastPart === 4 && folded === "vingt") {
      last = { start: last.start, end, value: last.value - 4 + 80, lastPart: 20 };
    } else {
      close();
      last = { start: index, end, value, lastPart: value };
    }
  }
  close();
  return found;
}

type Open = { readonly start: number; readonly value: number; readonly lastPart: number };

/** "Twenty-third"; "thirty-second" is a length of time as often as an ordinal. */
const joinsOrdinal = ({ lastPart }: Open, ordinal: number): boolean =>
  lastPart >= 20 && lastPart < 100 && ordinal < 10 && ordinal !== 2;

const SIGNS = "〇一二三四五六七八九";
const POWERS: Readonly<Record<string, number>> = { 十: 10, 百: 100, 千: 1_000 };

/** Han numbers before a counter. */
const findCounted = (text: string): SpelledNumber[] =>
  [...text.matchAll(COUNTED)].map(({ 0: signs, index }) => {
    let [total, digit] = [0, 0];
    for (const sign of signs) {
      const power = POWERS[sign];
      if (power === undefined) digit = digit * 10 + SIGNS.indexOf(sign);
      else [total, digit] = [total + Math.max(1, digit) * power, 0];
    }
    const value = total + digit;
    return { start: index, end: index + signs.length, value, isSoft: value === 1 };
  });
