const ROMAN = Object.entries({
  ...{ m: 1_000, cm: 900, d: 500, cd: 400, c: 100, xc: 90, l: 50 },
  ...{ xl: 40, x: 10, ix: 9, v: 5, iv: 4, i: 1 },
});
const MOST_ROMAN = 3_999;
/** Of a letter for each round of the alphabet: aa, bb, as word processors count on behind z. */
const MOST_LETTERS = 20;

/** How programs say that items have letters: HTML and OpenDocument, Word, PowerPoint. */
const LETTERS = /^(?:a$|(?:lower|upper)Letter$|alpha[LU]c)/i;
const ROMANS = /^(?:i$|(?:lower|upper)Roman$|roman[LU]c)/i;
const LARGE = /^(?:[AI]$|upper|(?:alpha|roman)Uc)/;

/** A number in the form of its list, in digits where that is none of letters. */
export function listNumber(value: number, form: string): string {
  const number = ROMANS.test(form) ? roman(value) : LETTERS.test(form) ? letters(value) : "";
  if (number === "") return String(value);
  return LARGE.test(form) ? number.toUpperCase() : number;
}

const letters = (value: number): string =>
  value < 1 || value > 26 * MOST_LETTERS
    ? ""
    : String.fromCharCode(97 + ((value - 1) % 26)).repeat(Math.ceil(value / 26));

function roman(value: number): string {
  let left = value < 1 || value > MOST_ROMAN ? 0 : value;
  let text = "";
  for (const [numeral, worth] of ROMAN) {
    text += numeral.repeat(Math.floor(left / worth));
    left %= worth;
  }
  return text;
}

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻";
const LOWERED = "₀₁₂₃₄₅₆₇₈₉₊₋";
const PLAIN = "0123456789+-";

/** Where letters stand: above the line, below it, or on it; or with a line through them. */
export type Shift = "raised" | "lowered" | "struck" | undefined;

/** As Office says it. */
export const shiftOf = (align: string | undefined): Shift =>
  align === "superscript" ? "raised" : align === "subscript" ? "lowered" : undefined;

/**
 * Digits that stand above or below the line as the letters for them: 10⁶ is not 106. Words that are struck out are marked as in
 * Markdown, so that nobody takes them for what holds. Other words are as they are.
 */
export function markShifted(text: string, to: Shift): string {
  if (to === "struck") return text.replace(/\S(?:[^]*\S)?/, "~~$&~~");
  if (to === undefined || !/^\s*[+\-−–]?\d+[+\-−–]?\s*$/.test(text)) return text;
  const letters = to === "raised" ? RAISED : LOWERED;
  return text
    .replaceAll(/[−–]/g, "-")
    .replaceAll(/[\d+-]/g, (character) => letters.charAt(PLAIN.indexOf(character)));
}
