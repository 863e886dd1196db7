import { normaliseText } from "../../../shared/text/normalise-text.ts";
import type { TextSpan } from "../spans.ts";

const NUMBER =
  /(?<![\p{L}\p{N}.,])[-−](?=[0-9０-９])[0-9０-９]+(?:[.,'’][0-9０-９]+|[ \u00A0\u202F][0-9０-９]{3}(?![0-9０-９]))*|[0-9０-９]+(?:[.,'’][0-9０-９]+|(?<![0-9０-９]{4})[ \u00A0\u202F][0-9０-９]{3}(?![.,]?[0-9０-９]))*/gu;
/** Words behind a number that multiply it, with their power of ten. */
const SCALES: readonly (readonly [RegExp, number])[] = [
  [/^[\s\u00A0-]?(?:mil millones|milliards?|milliarden?|mrd\.?|billions?|bn)(?!\p{L})/iu, 9],
  [/^[\s\u00A0-]?(?:million(?:s|en)?|mio\.?|millones|millón|mn)(?!\p{L})/iu, 6],
  [/^[\s\u00A0-]?(?:trillions?)(?!\p{L})/iu, 12],
  [/^[\s\u00A0-]?(?:thousands?|tausend|tsd\.?|mille|mil)(?!\p{L})/iu, 3],
  [/^[\s\u00A0-]?(?:hundreds?|hundert)(?!\p{L})/iu, 2],
  [/^億/u, 8],
  [/^万/u, 4],
  [/^千/u, 3],
];

/** The scale that a text begins with, and how many characters it takes; undefined where it begins with none. */
export function scaleIn(
  text: string,
): { readonly length: number; readonly power: number } | undefined {
  const [pattern, power = 0] = SCALES.find(([one]) => one.test(text)) ?? [];
  return pattern === undefined ? undefined : { length: pattern.exec(text)?.[0].length ?? 0, power };
}

/** The numbers of a text, also those within dates and names. */
export const findNumbers = (text: string): Figure[] =>
  [...text.matchAll(NUMBER)].map(({ 0: spelled, index }) => {
    const end = index + spelled.length;
    const values = parseNumber(spelled);
    const after = text.slice(end, end + 16);
    const scale = scaleIn(after)?.power;
    const scaled = scale === undefined ? [] : values.map((value) => scaleNumber(value, scale));
    const asked =
      scale !== undefined ? scaled : /^k(?!\p{L})/iu.test(after) ? withThousands(values) : values;
    const offered = [...asked, ...values];
    const unsigned = offered
      .filter((value) => value.startsWith("-"))
      .map((value) => value.slice(1));
    return {
      kind: "number",
      start: index,
      end,
      asks: asked.map((value) => [`n:${value}`]),
      offers: [...offered, ...unsigned].map((value) => `n:${value}`),
    };
  });

/** "5k" is 5000, or five of something. */
const withThousands = (values: readonly string[]): string[] => [
  ...values,
  ...values.map((value) => scaleNumber(value, 3)),
];

/**
 * The values that a number may be meant as, as plain decimals: "1,200", "1 200", "1'200" and "1200.0" are 1200,
 * "1.200" is 1.2 or 1200, "3,5" is 3.5; "4.2.1" stands for itself. Signs are kept. Text, so that no digits are lost.
 */
export function parseNumber(spelled: string): string[] {
  const text = normaliseText(spelled).replace(/[−–]/g, "-").replace(/\s/g, " ");
  const sign = text.startsWith("-") ? "-" : "";
  const digits = text.slice(sign.length);
  const marks = digits.replace(/\d/g, "");
  const parts = digits.split(/[.,'’ ]/);
  return valuesOf(parts, marks).map((value) => sign + value);
}

function valuesOf(parts: readonly string[], marks: string): string[] {
  const [first = "", ...rest] = parts;
  const last = rest.at(-1);
  if (last === undefined) return [plain(first, "")];
  const mark = marks.slice(-1);
  const isGrouped = rest.every((part) => part.length === 3) && first.length <= 3;
  if (rest.length === 1) {
    if (mark === " " || mark === "'" || mark === "’") return [plain(first + last, "")];
    if (!isGrouped || first === "0") return [plain(first, last)];
    return mark === "," ? [plain(first + last, "")] : [plain(first, last), plain(first + last, "")];
  }
  const isOneMark = marks === mark.repeat(marks.length);
  if (isOneMark) {
    const isIndian = mark === "," && last.length === 3 && rest.slice(0, -1).every(isPair);
    return isGrouped || isIndian ? [plain(parts.join(""), "")] : [parts.join(mark)];
  }
  const whole = parts.slice(0, -1).join("");
  return marks.indexOf(mark) === marks.length - 1 ? [plain(whole, last)] : [parts.join(".")];
}

const isPair = (part: string): boolean => part.length === 2;

/** Without zeros that mean nothing. */
function plain(whole: string, fraction: string): string {
  let start = 0;
  while (start < whole.length - 1 && whole.charAt(start) === "0") start += 1;
  let end = fraction.length;
  while (end > 0 && fraction.charAt(end - 1) === "0") end -= 1;
  const decimals = fraction.slice(0, end);
  return whole.slice(start) + (decimals === "" ? "" : `.${decimals}`);
}

/** A number times ten to a power, as a plain decimal. */
function scaleNumber(value: string, power: number): string {
  const sign = value.startsWith("-") ? "-" : "";
  const [whole = "", fraction = "", ...more] = value.slice(sign.length).split(".");
  if (more.length > 0) return value;
  const digits = fraction.padEnd(power, "0");
  return sign + plain(whole + digits.slice(0, power), digits.slice(power));
}

/** A number or date of a text. It stands in another text that offers all readings of one of the sets it `asks` for. */
export type Figure = TextSpan & {
  readonly kind: "number" | "date";
  readonly asks: readonly (readonly string[])[];
  readonly offers: readonly string[];
};
