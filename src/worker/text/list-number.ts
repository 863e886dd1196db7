const ROMAN = Object.entries({
  ...{ m: 1_000, cm: 900, d: 500, cd: 400, c: 100, xc: 90, l: 50 },
  ...{ xl: 40, x: 10, ix: 9, v: 5, iv: 4, i: 1 },
});
const MOST_ROMAN = 3_999;
/** Most repeats of a letter: word processors count aa, bb behind z. */
const MOST_LETTERS = 20;

/** Names of formats with letters: HTML and OpenDocument, Word, PowerPoint. */
const LETTERS = /^(?:a$|(?:lower|upper)Letter$|alpha[LU]c)/i;
const ROMANS = /^(?:i$|(?:lower|upper)Roman$|roman[LU]c)/i;
const LARGE = /^(?:[AI]$|upper|(?:alpha|roman)Uc)/;

/** A number in the format of its list; in digits unless the format has letters or Roman numerals. */
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

/** Position of letters: above the line, below it, struck out, or (undefined) on the line. */
export type Shift = "raised" | "lowered" | "struck" | undefined;

/** The shift for a value of Office. */
export const shiftOf = (align: string | undefined): Shift =>
  align === "superscript" ? "raised" : align === "subscript" ? "lowered" : undefined;

/**
 * Writes digits above or below the line with their own characters: 10⁶ is not 106. Marks struck-out words as in Markdown,
 * so that nobody takes them for valid. Leaves other words unchanged.
 */
export function markShifted(text: string, to: Shift): string {
  if (to === "struck") return text.replace(/\S(?:[^]*\S)?/, "~~$&~~");
  if (to === undefined || !/^\s*[+\-−–]?\d+[+\-−–]?\s*$/.test(text)) return text;
  const letters = to === "raised" ? RAISED : LOWERED;
  return text
    .replaceAll(/[−–]/g, "-")
    .replaceAll(/[\d+-]/g, (character) => letters.charAt(PLAIN.indexOf(character)));
}
