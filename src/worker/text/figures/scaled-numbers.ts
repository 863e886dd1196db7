import { findNumbers, parseNumber, scaleIn } from "./numbers.ts";
import type { TextSpan } from "../spans.ts";
import type { UnitLanguage } from "../detect-language.ts";

/** A number in digits, multiplied by its scale; `others` are values that it may have as well. */
type Scaled = TextSpan & { readonly value: number; readonly others: readonly number[] };

/**
 * The numbers in digits of a text, read by the marks of its language.
 * @param rest the text with dates, codes and other figures blanked
 */
export function scaledNumbers(
  rest: string,
  text: string,
  language: UnitLanguage | null,
): readonly Scaled[] {
  const scaled = joinGroups(findNumbers(rest), rest).flatMap(({ start, end }): Scaled[] => {
    const spelled = rest.slice(start, end);
    const value = Number(valueIn(spelled, language));
    if (Number.isNaN(value)) return [];
    const { length, factor } = scaleAt(text, start, end);
    const others = language === null ? ambiguous(spelled) : [];
    return [{ start, end: end + length, value: value * factor, others }];
  });
  return joinMyriads(scaled, text);
}

/** "€12k", "3.4m EUR": a single letter is a scale only for an amount of money. */
const MONEY_BEFORE = /(?:[€$£¥]|(?<!\p{L})(?:EUR|USD|GBP|CHF))[ \u00A0]?$/u;
const LETTER = /^([kKmM])(?![\p{L}\p{N}])/u;
const MONEY_BEHIND = /^[ \u00A0]?(?:[€$£¥]|(?:EUR|USD|GBP|CHF|euros?|dollars?)(?!\p{L}))/iu;

function scaleAt(
  text: string,
  start: number,
  end: number,
): { readonly length: number; readonly factor: number } {
  const after = text.slice(end, end + 16);
  const scale = scaleIn(after);
  if (scale !== undefined) return { length: scale.length, factor: 10 ** scale.power };
  const letter = LETTER.exec(after)?.[1];
  const isMoney =
    MONEY_BEFORE.test(text.slice(Math.max(0, start - 5), start)) ||
    MONEY_BEHIND.test(after.slice(1));
  if (letter === undefined || !isMoney) return { length: 0, factor: 1 };
  return { length: 1, factor: letter.toLowerCase() === "k" ? 1e3 : 1e6 };
}

/** Whether a stretch of digits and letters is an amount with its scale, such as "3.4bn", and no code. */
export function isScaled(text: string, start: number, end: number): boolean {
  const [digits = ""] = /^[€$£¥]?\d{1,9}(?:[.,]\d{1,6})?/u.exec(text.slice(start, end)) ?? [];
  const digitsEnd = start + digits.length;
  const from = /^\d/.test(digits) ? start : start + 1;
  const { length } = scaleAt(text, from, digitsEnd);
  return length > 0 && digitsEnd + length === end;
}

/** "9万5千" is one number. */
const joinMyriads = (numbers: readonly Scaled[], text: string): readonly Scaled[] =>
  numbers.reduce<Scaled[]>((joined, number) => {
    const last = joined.at(-1);
    const isRest =
      last?.end === number.start && text.charAt(last.end - 1) === "万" && number.value < 10_000;
    if (isRest)
      joined.splice(-1, 1, { ...last, end: number.end, value: last.value + number.value });
    else joined.push(number);
    return joined;
  }, []);

/** "1 825,23": a group before a decimal comma. */
const joinGroups = (numbers: readonly TextSpan[], text: string): readonly TextSpan[] =>
  numbers.reduce<TextSpan[]>((joined, number) => {
    const last = joined.at(-1);
    const isGroup =
      last !== undefined &&
      last.end - last.start <= 3 &&
      /^[ \u00A0\u202F]$/u.test(text.slice(last.end, number.start)) &&
      /^\d{3}[.,]\d{1,2}$/.test(text.slice(number.start, number.end));
    if (isGroup) joined.splice(-1, 1, { start: last.start, end: number.end });
    else joined.push(number);
    return joined;
  }, []);

const COMMA_IS_DECIMAL: ReadonlySet<UnitLanguage> = new Set(["german", "french", "spanish"]);

/** A number by the marks of its language: "1,250" is 1250 in English and 1.25 in German. */
function valueIn(spelled: string, language: UnitLanguage | null): string {
  const plain = spelled.replace("−", "-").replace(/(?<=\d)[ \u00A0\u202F](?=\d)/gu, "");
  if (language !== null && COMMA_IS_DECIMAL.has(language)) {
    if (/^-?\d+,\d+$/.test(plain)) return plain.replace(",", ".");
    if (/^-?\d{1,3}(?:\.\d{3})+$/.test(plain)) return plain.replaceAll(".", "");
    if (/^-?\d{1,3}(?:\.\d{3})+,\d+$/.test(plain))
      return plain.replaceAll(".", "").replace(",", ".");
  }
  if (language !== null && !COMMA_IS_DECIMAL.has(language) && /^-?\d+\.\d+$/.test(plain))
    return plain;
  return parseNumber(plain)[0] ?? "";
}

/** Other values that a number may have if its language is unknown. */
const ambiguous = (spelled: string): number[] =>
  parseNumber(spelled)
    .slice(1)
    .map(Number)
    .filter((value) => !Number.isNaN(value));
