import type { Figure } from "./figure.ts";

const UNITS =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const ORDINALS =
  "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(
    " ",
  );
const GERMAN = "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split(" ");

const VALUES: ReadonlyMap<string, number> = new Map([
  ...[UNITS, ORDINALS, GERMAN].flatMap((words) =>
    words.map((word, value) => [word, value] as const),
  ),
  ...TENS.map((word, index) => [word, (index + 2) * 10] as const),
  ["once", 1],
  ["twice", 2],
  ["hundred", 100],
  ["thousand", 1000],
  ["dozen", 12],
]);

const TENS_AND_UNIT = `(?<tens>${TENS.join("|")})(?:[- ](?<unit>${UNITS.slice(1, 10).join("|")}))?`;
const WORD = new RegExp(
  `(?<![\\p{L}])(?:${TENS_AND_UNIT}|(?<word>${[...VALUES.keys()].join("|")}))(?![\\p{L}])`,
  "giu",
);

/** The numbers that a text spells out, up to ninety-nine: they carry an answer that writes them as digits. */
export const findNumberWords = (text: string): Figure[] =>
  [...text.matchAll(WORD)].map(({ 0: spelled, index, groups }) => {
    const value = valueOf(groups?.["word"] ?? groups?.["tens"]) + valueOf(groups?.["unit"]);
    const readings = [`n:${value}`];
    const end = index + spelled.length;
    return { kind: "number", start: index, end, asks: [readings], offers: readings };
  });

const valueOf = (word: string | undefined): number =>
  VALUES.get((word ?? "zero").toLowerCase()) ?? 0;
