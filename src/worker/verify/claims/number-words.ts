import type { ListedLanguage } from "../../text/word-forms.ts";
import { foldWord } from "../../../shared/normalise-text.ts";
import type { ClaimLanguage } from "./terms.ts";

/** A number that a text spells out. */
export type SpelledNumber = {
  readonly start: number;
  readonly end: number;
  readonly value: number;
  /** "one" and ordinals, which need not stand for a count. */
  readonly isSoft: boolean;
};

const list = (words: string): readonly string[] => words.split(" ");
const counted = (words: string, from: number, step = 1): [string, number][] =>
  list(words).map((word, at) => [word, from + at * step]);

const ENGLISH_UNITS = "one two three four five six seven eight nine";
const ENGLISH: readonly [string, number][] = [
  ...counted(`zero ${ENGLISH_UNITS}`, 0),
  ...counted("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen", 10),
  ...counted("twenty thirty forty fifty sixty seventy eighty ninety", 20, 10),
];
const GERMAN_UNITS = "ein zwei drei vier funf sechs sieben acht neun";
const GERMAN_TENS = "zwanzig dreissig vierzig funfzig sechzig siebzig achtzig neunzig";
const GERMAN: readonly [string, number][] = [
  ...counted("null eins zwei drei vier funf sechs sieben acht neun zehn elf zwolf", 0),
  ...counted("dreizehn vierzehn funfzehn sechzehn siebzehn achtzehn neunzehn", 13),
  ...counted(GERMAN_TENS, 20, 10),
  ...list(GERMAN_TENS).flatMap((ten, tens) =>
    list(GERMAN_UNITS).map((unit, at): [string, number] => [
      `${unit}und${ten}`,
      (tens + 2) * 10 + at + 1,
    ]),
  ),
  ["zweien", 2],
  ["beiden", 2],
  ["hundert", 100],
  ["einhundert", 100],
  ["zweihundert", 200],
  ["dreihundert", 300],
  ["tausend", 1_000],
];
const FRENCH: readonly [string, number][] = [
  ...counted("zero un deux trois quatre cinq six sept huit neuf dix", 0),
  ...counted("onze douze treize quatorze quinze seize", 11),
  ...counted("vingt trente quarante cinquante soixante", 20, 10),
  ["une", 1],
  ["cent", 100],
  ["mille", 1_000],
];
const SPANISH: readonly [string, number][] = [
  ...counted("cero uno dos tres cuatro cinco seis siete ocho nueve diez", 0),
  ...counted("once doce trece catorce quince dieciseis diecisiete dieciocho diecinueve veinte", 11),
  ...counted("veintiuno veintidos veintitres veinticuatro veinticinco", 21),
  ...counted("veintiseis veintisiete veintiocho veintinueve", 26),
  ...counted("treinta cuarenta cincuenta sesenta setenta ochenta noventa", 30, 10),
  ["un", 1],
  ["una", 1],
  ["cien", 100],
  ["ciento", 100],
  ["doscientos", 200],
  ["mil", 1_000],
];
const VALUES: Readonly<Record<ListedLanguage, ReadonlyMap<string, number>>> = {
  english: new Map(ENGLISH),
  german: new Map(GERMAN),
  french: new Map(FRENCH),
  spanish: new Map(SPANISH),
};
/** Ordinals, and words for two. */
const ORDINALS: ReadonlyMap<string, number> = new Map([
  ...counted("first second third fourth fifth sixth seventh eighth ninth tenth", 1),
  ...counted("erste zweite dritte vierte funfte sechste siebte achte neunte zehnte", 1),
  ...counted("ersten zweiten dritten vierten funften sechsten siebten achten neunten zehnten", 1),
  ...counted("premiere deuxieme troisieme quatrieme cinquieme sixieme septieme huitieme", 1),
  ...counted("primera segunda tercera cuarta quinta sexta septima octava novena decima", 1),
  ...counted("eleventh twelfth thirteenth fourteenth fifteenth sixteenth", 11),
  ...counted("twentieth thirtieth fortieth fiftieth sixtieth", 20, 10),
  ...counted("elfte zwolfte dreizehnte vierzehnte funfzehnte sechzehnte", 11),
  ...counted("zwanzigste dreissigste vierzigste funfzigste", 20, 10),
  ["hundredth", 100],
  ["hundertste", 100],
  ["twice", 2],
  ["both", 2],
  ["beide", 2],
  ["zweimal", 2],
  ["dreimal", 3],
]);
const SCALES: ReadonlyMap<string, number> = new Map([
  ["hundred", 100],
  ["thousand", 1_000],
  ["cents", 100],
  ["cent", 100],
  ["mille", 1_000],
  ["mil", 1_000],
  ["tausend", 1_000],
  ["hundert", 100],
]);

// Bounded, as everywhere.
const WORD = /[\p{L}\p{M}]{2,40}/gu;
const JOINED = /^(?:[ \u00A0]?[-‐][ \u00A0]?|[ \u00A0](?:(?:and|et|y)[ \u00A0])?|-et-)$/u;
const COUNTED =
  /[〇一二三四五六七八九十百千]{1,8}(?=[人名台個本枚回年月日時分秒週歳階円軒件度割冊匹頭羽泊杯種か箇つ倍点社校室戸万])/gu;

/** The numbers up to some thousands that a text spells out, in order. */
export function findSpelledNumbers(text: string, language: ClaimLanguage | null): SpelledNumber[] {
  if (language === "japanese") return findCounted(text);
  const values = VALUES[language ?? "english"];
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
      last !== null && JOINED.test(gap) ? SCALES.get(folded) : undefined;
    if (last !== null && scale !== undefined && last.value < scale) {
      last = { start: last.start, end, value: last.value * scale, lastPart: scale };
    } else if (value === undefined) {
      close();
      const ordinal = ORDINALS.get(folded);
      if (ordinal !== undefined) found.push({ start: index, end, value: ordinal, isSoft: true });
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
