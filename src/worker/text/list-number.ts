/** How programs number the items of a list. */
export type NumberForm = "decimal" | "letter" | "roman";

const ROMAN = [
  ...([
    [1_000, "m"],
    [900, "cm"],
    [500, "d"],
    [400, "cd"],
    [100, "c"],
    [90, "xc"],
  ] as const),
  ...([
    [50, "l"],
    [40, "xl"],
    [10, "x"],
    [9, "ix"],
    [5, "v"],
    [4, "iv"],
    [1, "i"],
  ] as const),
] as const;
const MOST_ROMAN = 3_999;
/** Of a letter for each round of the alphabet: aa, bb, as word processors count on behind z. */
const MOST_LETTERS = 20;

/** A number in small letters, or in digits where it has no other form. */
export function listNumber(value: number, form: NumberForm): string {
  if (form === "letter" && value >= 1 && value <= 26 * MOST_LETTERS) {
    const letter = String.fromCharCode(97 + ((value - 1) % 26));
    return letter.repeat(Math.ceil(value / 26));
  }
  if (form !== "roman" || value < 1 || value > MOST_ROMAN) return String(value);
  let left = value;
  let text = "";
  for (const [worth, letters] of ROMAN) {
    text += letters.repeat(Math.floor(left / worth));
    left %= worth;
  }
  return text;
}

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻";
const LOWERED = "₀₁₂₃₄₅₆₇₈₉₊₋";
const PLAIN = "0123456789+-";

/** Where letters stand: above the line, below it, or on it. */
export type Shift = "raised" | "lowered" | undefined;

/** As Office says it. */
export const shiftOf = (align: string | undefined): Shift =>
  align === "superscript" ? "raised" : align === "subscript" ? "lowered" : undefined;

/** Digits that stand above or below the line as the letters for them: 10⁶ is not 106. Other words are as they are. */
export function shiftDigits(text: string, to: Shift): string {
  if (to === undefined || !/^\s*[+\-−–]?\d+[+\-−–]?\s*$/.test(text)) return text;
  const letters = to === "raised" ? RAISED : LOWERED;
  return text
    .replaceAll(/[−–]/g, "-")
    .replaceAll(/[\d+-]/g, (character) => letters.charAt(PLAIN.indexOf(character)));
}
