import { z } from "zod";
import { foldWord } from "../../../shared/text/normalise-text.ts";
import { once } from "../../../shared/once.ts";
import { readNames } from "../../../shared/text/word-lists.ts";

/** A unit: figures of one dimension convert into each other by the factors of their units. */
export type Measure = { readonly dimension: string; readonly factor: number };

/** A dimension, the factor, and the names of the unit. */
const rows = z.array(z.tuple([z.string(), z.number(), z.string()]));
/** Signs as they are written, and words in lower case and without accents, of all languages. */
const listed = readNames("units.json", z.strictObject({ symbols: rows, words: rows }));
const units = once(() => ({
  bySymbol: tableOf(listed().symbols),
  byWord: tableOf(listed().words),
}));

const tableOf = (rows: ReturnType<typeof listed>["words"]): ReadonlyMap<string, Measure> =>
  new Map(
    rows.flatMap(([dimension, factor, names]) =>
      names.split(" ").map((name) => [name, { dimension, factor }] as const),
    ),
  );

const SQUARE = /^(?:square|sq|quadrat)[ .\-]{0,2}/iu;
const CUBIC = /^(?:cubic|cu)[ .\-]{0,2}/iu;
const SQUARED = /^[ ](?:carres?|carrés?|cuadrados?)(?!\p{L})/iu;
const CUBED = /^[ ](?:cubes?|cúbicos?|cubicos?)(?!\p{L})/iu;
const PER_CENT =
  /^(?:per cent|pour cent|por ciento|v\.? ?H\.?|percentage points?|Prozentpunkten?|points? de pourcentage|puntos porcentuales)(?!\p{L})/iu;
const DEGREES = /^(?:degrees?|Grad|degrés?|grados?)(?: (C(?:elsius)?|F(?:ahrenheit)?))?(?!\p{L})/iu;
/** The sign or word of a unit. In Japanese a unit in Latin letters ends where other signs begin: "90mである". */
const TOKEN =
  /^(?:°[ ]?[CFcf]|º[ ]?[CF]|[%%‰€£¥¥℃℉°º]|US\$|[kT][€$£]|\$|km\/h|m\/s|[\p{Script=Latin}µμ]{1,24}(?![\p{Script=Greek}\p{Script=Cyrillic}])[²³]?|[\p{L}µμ]{1,24}[²³]?)/u;
const JAPANESE = /^[\p{Script=Han}\p{Script=Katakana}ー%%か㎡]/u;
/** The longest name of a unit in Japanese. */
const MOST_SIGNS = 8;

/** The unit that a text begins with, and how many characters it takes; null where it begins with none. */
export function measureAt(text: string): (Measure & { readonly length: number }) | null {
  const perCent = PER_CENT.exec(text);
  if (perCent !== null) return { dimension: "percent", factor: 1, length: perCent[0].length };
  const degrees = DEGREES.exec(text);
  if (degrees !== null) {
    const dimension = /^f/i.test(degrees[1] ?? "c") ? "fahrenheit" : "celsius";
    return { dimension, factor: 1, length: degrees[0].length };
  }
  for (const [before, power] of [
    [SQUARE, 2],
    [CUBIC, 3],
  ] as const) {
    const found = before.exec(text);
    const length = found === null ? null : measureAt(text.slice(found[0].length));
    if (found !== null && length?.dimension === "length")
      return raiseUnit(length, power, found[0].length + length.length);
  }
  return JAPANESE.test(text) ? japaneseMeasure(text) : latinMeasure(text);
}

function latinMeasure(text: string): (Measure & { length: number }) | null {
  const token = TOKEN.exec(text)?.[0];
  if (token === undefined) return null;
  const found = units().bySymbol.get(token.replace(" ", "")) ?? units().byWord.get(foldWord(token));
  if (found === undefined) return null;
  const after = text.slice(token.length, token.length + 12);
  const power = SQUARED.exec(after) ?? CUBED.exec(after);
  if (power !== null && found.dimension === "length") {
    return raiseUnit(found, SQUARED.test(after) ? 2 : 3, token.length + power[0].length);
  }
  return { ...found, length: token.length };
}

/** Cubes are counted in litres. */
function raiseUnit(
  { factor }: Measure,
  power: 2 | 3,
  length: number,
): Measure & { length: number } {
  return power === 2
    ? { dimension: "area", factor: factor ** 2, length }
    : { dimension: "volume", factor: factor ** 3 * 1_000, length };
}

function japaneseMeasure(text: string): (Measure & { length: number }) | null {
  for (let length = MOST_SIGNS; length > 0; length -= 1) {
    const found = units().bySymbol.get(text.slice(0, length));
    if (found !== undefined && text.length >= length) return { ...found, length };
  }
  return null;
}

const CURRENCY_BEFORE =
  /(?:([€£$¥¥]|US\$)[ \u00A0\u202F]?|(?<!\p{L})(EUR|GBP|USD|CHF|JPY|Fr\.?)[ \u00A0\u202F])$/u;

/** The currency that stands before a figure. */
export function currencyBefore(text: string): Measure | null {
  const found = CURRENCY_BEFORE.exec(text);
  return units().bySymbol.get((found?.[1] ?? found?.[2] ?? "").replace(".", "")) ?? null;
}
