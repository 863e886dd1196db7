import { AVERAGE, TOTAL } from "../claims/computed-words.ts";
import type { ClaimFigure } from "../../text/figures/read-figures.ts";

const PARTLY =
  /(?<!\p{L})(?:of which|including|among them|davon|darunter|dont|y compris|de los cuales|incluid[oa]s?|entre ell[oa]s|うち)(?!\p{L})/iu;
const EQUATION = /^[^\p{L}\d]{0,4}(?:\+|plus|und|and|et|y)[^\p{L}\d]{0,4}$/iu;
const EQUALS =
  /^[^\p{L}\d]{0,4}(?:=|is|makes|equals|ergibt|ergeben|macht|font|égale|son|es igual a)[^\p{L}\d]{0,4}$/iu;
const LISTED = /^[ \u00A0]?(?:,|;|, (?:and|und|et|y)|and|und|et|y)[ \u00A0]?$/iu;
/** Words behind a figure that is a difference: "60 EUR more than". */
const APART =
  /^[ \u00A0](?:more|less|fewer|\p{L}{3,12}er|mehr|weniger|teurer|billiger|länger|kürzer|höher|niedriger|de plus|de moins|más|menos) (?:than|als|que)(?!\p{L})/iu;
/** Words before a figure that is a difference: "a difference of 60 EUR". */
const DIFFERENCE_OF =
  /(?<!\p{L})(?:differences? (?:of|is)|unterschied (?:von|beträgt)|differenz (?:von|beträgt)|différence de|écart de|diferencia (?:es )?de)[ \u00A0]$/iu;

/** A computation that a claim states with all its operands. `isExplicit`: as an equation. */
export type StatedFigure = {
  readonly isRight: boolean;
  readonly isExplicit: boolean;
  readonly sum: string;
};

const MOST_OPERANDS = 12;
const TOLERANCE = 0.000_5;

/** Finds a sum, a mean or a difference that the claim states with all its operands; null where it states none. */
export function statedFigure(text: string, all: readonly ClaimFigure[]): StatedFigure | null {
  const numbers = all.filter(({ kind, isSoft }) => kind === "number" && !isSoft);
  if (numbers.length < 3 || numbers.length > MOST_OPERANDS) return null;
  const figures = numbers.filter(isExact);
  return (
    statedSum(text, figures) ??
    statedMean(text, inOneUnit(figures)) ??
    statedDifference(text, inOneUnit(numbers))
  );
}

const isExact = ({ precision }: ClaimFigure): boolean => precision === "exact";

/** Gives figures without a unit the one unit that the claim names, except years and counts of something. */
function inOneUnit(figures: readonly ClaimFigure[]): readonly ClaimFigure[] {
  const measured = figures.filter(({ measure }) => measure !== null);
  if (measured.length === 0) return figures;
  if (new Set(measured.map(dimensionOf)).size > 1) return [];
  const measure = measured[0]?.measure ?? null;
  const factor = measure?.factor ?? 1;
  return figures.flatMap((one) => {
    if (one.measure !== null) return [one];
    const isOther = one.counted !== null || one.label !== null || YEAR.test(one.text.trim());
    return isOther ? [] : [{ ...one, measure, base: one.base * factor }];
  });
}

const YEAR = /^(?:1[5-9]|20|21)\d\d$/;

const dimensionOf = ({ measure }: ClaimFigure): string => measure?.dimension ?? "";

function statedSum(text: string, figures: readonly ClaimFigure[]): StatedFigure | null {
  if (figures.length < 3 || new Set(figures.map(dimensionOf)).size > 1) return null;
  const last = figures.at(-1);
  const isEquation = text.includes("=") && isSpelledOut(text, figures);
  if (!isEquation && (!TOTAL.test(text) || PARTLY.test(text))) return null;
  const total =
    isEquation && last !== undefined
      ? last
      : figures.reduce((most, one) => (one.base > most.base ? one : most));
  const operands = figures.filter((one) => one !== total);
  const sum = operands.reduce((of, { base }) => of + base, 0);
  return {
    ...compare(operands.map(textOf).join(" + "), sum, total),
    isExplicit: isEquation,
  };
}

/** "12 EUR + 30 EUR = 42 EUR" */
const isSpelledOut = (text: string, figures: readonly ClaimFigure[]): boolean =>
  figures.every((one, at) => {
    const next = figures[at + 1];
    if (next === undefined) return true;
    const between = text.slice(one.end, next.start).replace(/[€£$¥]/gu, "");
    return at === figures.length - 2 ? EQUALS.test(between) : EQUATION.test(between);
  });

/** "300, 320 and 340 EUR, on average 320 EUR": all figures except the mean are in a list. */
function statedMean(text: string, figures: readonly ClaimFigure[]): StatedFigure | null {
  if (!AVERAGE.test(text) || figures.length < 3) return null;
  const [first, last] = [figures[0], figures.at(-1)];
  const found = [last, first].flatMap((mean) => {
    const others = figures.filter((one) => one !== mean);
    return mean !== undefined && areListed(text, others) ? [{ mean, others }] : [];
  });
  const verdicts = found.map(({ mean, others }) => {
    const value = others.reduce((of, { base }) => of + base, 0) / others.length;
    return compare(`the mean of ${others.map(textOf).join(", ")}`, value, mean);
  });
  const verdict = verdicts.find(({ isRight }) => isRight) ?? verdicts[0];
  return verdict === undefined ? null : { ...verdict, isExplicit: false };
}

const areListed = (text: string, figures: readonly ClaimFigure[]): boolean =>
  figures.every((one, at) => {
    const next = figures[at + 1];
    return (
      next === undefined || LISTED.test(text.slice(one.end, next.start).replace(/[€£$¥]/gu, ""))
    );
  });

/** "310 EUR, 60 EUR more than the 250 EUR of 2024", "310 EUR against 250 EUR, a difference of 60 EUR" */
function statedDifference(text: string, figures: readonly ClaimFigure[]): StatedFigure | null {
  if (figures.length !== 3) return null;
  const difference = figures.find(
    (one) => isExact(one) && (isApart(text, one) || DIFFERENCE_OF.test(textBefore(text, one))),
  );
  if (difference === undefined) return null;
  // "more than the 250 EUR" means exactly 250 EUR.
  const isOpen = figures.some(
    (one) => !isExact(one) && !(isApart(text, difference) && one.start > difference.end),
  );
  if (isOpen) return null;
  const [more, less] = figures
    .filter((one) => one !== difference)
    .toSorted((one, other) => other.base - one.base);
  if (more === undefined || less === undefined) return null;
  const verdict = compare(`${textOf(more)} - ${textOf(less)}`, more.base - less.base, difference);
  return { ...verdict, isExplicit: false };
}

const isApart = (text: string, { end }: ClaimFigure): boolean =>
  APART.test(text.slice(end, end + 40));

const textBefore = (text: string, { start }: ClaimFigure): string =>
  text.slice(Math.max(0, start - 30), start);

const textOf = ({ text }: ClaimFigure): string => text.trim();

/** Compares within a rounding to the decimal places that the claim gives. */
function compare(
  how: string,
  value: number,
  stated: ClaimFigure,
): Pick<StatedFigure, "isRight" | "sum"> {
  const factor = stated.measure?.factor ?? 1;
  const written = /[.,](\d{1,2})(?!\d)/.exec(stated.text)?.[1]?.length ?? 0;
  const amount = String(Number((stated.base / factor).toPrecision(12)));
  const places = Math.max(written, /\.(\d+)$/.exec(amount)?.[1]?.length ?? 0);
  const isWhole = Number.isInteger(value / factor);
  const rounding = isWhole ? 0 : (factor * 0.500_001) / 10 ** places;
  // Whole figures with all their digits, unlike "2.35 million", are not rounded.
  const isUnrounded = isWhole && stated.text.replace(/\D/g, "") === amount;
  const tolerance = isUnrounded ? 1e-6 : TOLERANCE;
  const slack = Math.max(1e-9, Math.abs(stated.base) * tolerance, rounding);
  const isRight = Math.abs(value - stated.base) <= slack;
  const sum = isRight
    ? `${how} = ${textOf(stated)}`
    : `${how} is ${Number((value / factor).toPrecision(9))}, and not ${textOf(stated)}`;
  return { isRight, sum };
}
