import { onceEach } from "../../../shared/once.ts";
import { findArithmetic } from "./arithmetic.ts";
import { isYear } from "./arithmetic-of-many.ts";
import { roundsTo } from "../../text/figures/read-figures.ts";
import type { ClaimFigure } from "../../text/figures/read-figures.ts";
import { measureAt } from "../../text/figures/measures.ts";
import type { Finding, Pair } from "./pair.ts";
import type { ReadPiece, ReadUnit } from "./pieces.ts";

/** Where a figure of a claim was found. */
export type FigureFound =
  | { readonly where: "unit"; readonly as: ClaimFigure | null }
  | { readonly where: "piece" }
  | { readonly where: "computed"; readonly sum: string }
  | { readonly where: "nowhere" };

const finders = new WeakMap<Pair, (figure: ClaimFigure) => FigureFound>();

/** Looks up a figure, once for all rules. */
export function findFigure(figure: ClaimFigure, pair: Pair): FigureFound {
  const find = finders.get(pair) ?? onceEach((one: ClaimFigure) => lookUp(one, pair));
  finders.set(pair, find);
  return find(figure);
}

/** Looks in the unit and its labels, also for a rounded figure, then in the cited pieces, then for a computation. */
function lookUp(figure: ClaimFigure, pair: Pair): FigureFound {
  const { unit, piece, cited, question } = pair;
  const inUnit = nearestSame(figure, unit);
  if (inUnit !== undefined) {
    return isOfOtherUnit(figure, inUnit, unit)
      ? { where: "nowhere" }
      : { where: "unit", as: inUnit };
  }
  const round = unit.figures().find((other) => isRounded(figure, other));
  if (round !== undefined) return { where: "unit", as: round };
  if (isNumberOfName(figure, pair)) return { where: "unit", as: null };
  const isRivalled = hasRival(figure, unit);
  // A figure above the sentence does not count where a nearer figure is of the same kind.
  const isTold = [unit.figures(), ...unit.labelFigures()].some((figures) =>
    figures.some((other) => isOfKind(figure, other)),
  );
  const isElsewhere = cited.some((one) =>
    isInPiece(figure, one, { isRivalled, hasLabels: !isTold || one !== piece }),
  );
  const isAsked = question.figures.some((other) => isSame(figure, other));
  if (isElsewhere || isAsked || (figure.precision !== "exact" && isRoundedIn(figure, cited)))
    return { where: "piece" };
  const sum = findArithmetic(figure, pair);
  return sum === null ? { where: "nowhere" } : { where: "computed", sum };
}

type PlaceRules = {
  /** Whether the piece's labels and headings count. */
  readonly hasLabels: boolean;
  /** Whether the compared unit states the figure's dimension: then a bare number of a sentence does not count. */
  readonly isRivalled: boolean;
};

function isInPiece(
  figure: ClaimFigure,
  piece: ReadPiece,
  { hasLabels, isRivalled }: PlaceRules,
): boolean {
  if (!figure.asks.some((asked) => piece.offers().has(asked))) return false;
  if (hasLabels && piece.labelFigures().some((other) => isSame(figure, other))) return true;
  const isRival = ({ measure }: ClaimFigure, { kind }: ReadUnit): boolean =>
    isRivalled && measure === null && kind === "sentence";
  const holds = (unit: ReadUnit): boolean =>
    unit
      .figures()
      .filter((other) => isSame(figure, other) && !isRival(other, unit))
      .some((other) => !isOfOtherUnit(figure, other, unit));
  return piece.units
    .filter(({ kind, frame }) => frame !== "struck" && (hasLabels || kind !== "heading"))
    .some(holds);
}

/** Looks in the sentence, then in its headings, then in path and title, and stops at the first that has a figure of this kind. */
function nearestSame(figure: ClaimFigure, unit: ReadUnit): ClaimFigure | undefined {
  for (const figures of [unit.figures(), ...unit.labelFigures()]) {
    const same = figures.find((other) => isSame(figure, other));
    if (same !== undefined || figures.some((other) => isOfKind(figure, other))) return same;
  }
  return undefined;
}

/** Whether figures are of one kind. Years are dates, but beside a year a day without a year is no date. */
function isOfKind(figure: ClaimFigure, other: ClaimFigure): boolean {
  if (kindOf(figure) !== kindOf(other)) return false;
  return figure.kind === "date" || other.kind === "number" || yearOf(other) !== undefined;
}

function kindOf({ kind, base, measure, offers }: ClaimFigure): string {
  if (kind === "date") return offers.every((offer) => offer.startsWith("t:")) ? "time" : "date";
  return measure?.dimension ?? (isYear({ value: base, dimension: "" }) ? "date" : "");
}

/** A number that is part of a name and counts nothing: "freezer 2", where the piece or its path has "freezer-2". */
const NUMBERED = /(?<word>\p{L}{2,40})[ \u00A0-]$/u;
const numberedBy = (text: string, start: number): string | undefined =>
  NUMBERED.exec(text.slice(Math.max(0, start - 41), start))?.groups?.["word"]?.toLowerCase();

function isNumberOfName(
  { text, start, measure }: ClaimFigure,
  { claim, piece, unit }: Pair,
): boolean {
  if (measure !== null || !/^\d{1,4}$/.test(text)) return false;
  const word = numberedBy(claim.text, start);
  if (word === undefined) return false;
  if (unit.figures().some((other) => numberedBy(unit.text, other.start) === word)) return false;
  const folded = piece.folded();
  const name = `${word}-${text}`;
  for (let at = folded.indexOf(name); at >= 0; at = folded.indexOf(name, at + 1)) {
    if (!/[\p{L}\p{N}]/u.test(folded.charAt(at - 1) + folded.charAt(at + name.length))) return true;
  }
  return false;
}

/** Where the unit states 5 EUR, a bare 9 of another sentence does not support "9 EUR". */
const hasRival = ({ measure }: ClaimFigure, unit: ReadUnit): boolean =>
  measure !== null &&
  unit.figures().some((other) => other.measure?.dimension === measure.dimension);

const isRoundedIn = (figure: ClaimFigure, pieces: readonly ReadPiece[]): boolean =>
  pieces.some(({ units }) =>
    units.some((unit) => unit.figures().some((other) => isRounded(figure, other))),
  );

/** Whether a bare figure has another unit by the words around it: "11 days" is not the 11 in a row about hours. */
function isOfOtherUnit({ measure }: ClaimFigure, other: ClaimFigure, { terms }: ReadUnit): boolean {
  if (measure === null || other.measure !== null || other.kind === "date") return false;
  const named = terms.flatMap(({ word }) => (word.length > 2 ? (measureAt(word) ?? []) : []));
  const like = named.filter(
    ({ dimension }) =>
      dimension === measure.dimension || (isMoney(dimension) && isMoney(measure.dimension)),
  );
  return (
    like.length > 0 &&
    !like.some(
      ({ dimension, factor }) => dimension === measure.dimension && factor === measure.factor,
    )
  );
}

const isMoney = (dimension: string): boolean => /^[A-Z]{3}$/.test(dimension);

function isSame(figure: ClaimFigure, other: ClaimFigure): boolean {
  if (!figure.asks.some((one) => other.offers.includes(one))) return false;
  if (figure.kind === "date") return !hasOtherYear(figure, other);
  return figure.rate === null || other.rate === null || figure.rate === other.rate;
}

const yearOf = ({ offers }: ClaimFigure): string | undefined =>
  offers.find((offer) => /^[dy]:/.test(offer))?.slice(2, 6);

function hasOtherYear(one: ClaimFigure, other: ClaimFigure): boolean {
  const [first, second] = [yearOf(one), yearOf(other)];
  return first !== undefined && second !== undefined && first !== second;
}

/** Whether a figure that is stated as rounded is the other one with fewer digits, rounded in the stated direction. */
export function isRounded(figure: ClaimFigure, { base, measure, kind }: ClaimFigure): boolean {
  if (figure.precision === "exact" || figure.kind === "date" || kind === "date") return false;
  if ((figure.measure?.dimension ?? null) !== (measure?.dimension ?? null)) return false;
  // Digits count in the figure's own unit: "four hours" is rounder than 260 minutes.
  const factor = figure.measure?.factor ?? 1;
  if (digitsOf(figure.base / factor) >= digitsOf(base / factor)) return false;
  if (figure.precision === "below" && base > figure.base) return false;
  if (figure.precision === "above" && base < figure.base) return false;
  return roundsTo(figure, base);
}

const digitsOf = (value: number): number =>
  String(Math.abs(value))
    .replace(".", "")
    .replace(/^0+|0+$/g, "").length;

/** Figures of a claim that must be in the evidence. */
export const hardFigures = ({ claim }: Pair): readonly ClaimFigure[] =>
  claim.figures.filter(({ isSoft, asks }) => !isSoft && asks.length > 0);

/** Finds a figure whose value and unit no cited piece states, and that no computation gives. */
export function compareFigures(pair: Pair): Finding | null {
  const missing = hardFigures(pair).find(
    (figure) => findFigure(figure, pair).where === "nowhere" && !isCount(figure),
  );
  return missing === undefined
    ? null
    : { reason: "figure", detail: `${missing.text.trim()} stands nowhere in what is cited` };
}

const MOST_COUNTED = 4;

/** "The three legs": the writer often counts such small numbers, in words, himself. */
const isCount = ({ base, measure, counted, text }: ClaimFigure): boolean =>
  measure === null && counted !== null && base <= MOST_COUNTED && !/\d/.test(text);

/**
 * Finds a figure that only a heading, the title or the path holds, so that the sentence does not state it; and a year that the
 * claim adds to a day where no cited piece has that year.
 */
export function compareLabelFigures(pair: Pair): Finding | null {
  const { unit } = pair;
  if (unit.kind === "heading") return null;
  for (const figure of hardFigures(pair)) {
    const found = findFigure(figure, pair);
    if (found.where !== "unit" || found.as === null) continue;
    const text = figure.text.trim();
    if (!unit.figures().includes(found.as))
      return { reason: "label", detail: `${text} stands above the sentence alone` };
    if (isYearInvented(figure, found.as, pair))
      return { reason: "label", detail: `the year of ${text} stands nowhere in what is cited` };
  }
  return null;
}

function isYearInvented(figure: ClaimFigure, day: ClaimFigure, { cited, question }: Pair): boolean {
  const year = yearOf(figure);
  if (year === undefined || yearOf(day) !== undefined || figure.kind !== "date") return false;
  const offered = `n:${year}`;
  // The year of a folder ("1999/fair.md") is not read as a figure.
  return (
    !cited.some((piece) => piece.offers().has(offered) || piece.folded().includes(year)) &&
    !question.figures.some(({ offers }) => offers.includes(offered))
  );
}

/** The computations of a claim's figures, such as "310 - 85"; null where no figure is computed. */
export function sumsOf(pair: Pair): string | null {
  const sums = hardFigures(pair).flatMap((figure) => {
    const found = findFigure(figure, pair);
    return found.where === "computed" ? [found.sum] : (weekdayOf(figure, found, pair) ?? []);
  });
  return sums.length === 0 ? null : sums.join("; ");
}

/** The weekday of a claim, "1 January 2026, a Thursday", where the unit gives only the date. */
function weekdayOf(figure: ClaimFigure, found: FigureFound, { claim }: Pair): string | null {
  const [weekday] = figure.asks;
  if (weekday?.startsWith("w:") !== true || found.where !== "unit") return null;
  const date = found.as;
  const day = date?.offers.find((offer) => offer.startsWith("d:"));
  if (date === null || day === undefined || date.text.includes(figure.text)) return null;
  const isNamed = claim.figures.some((one) => one !== figure && one.offers.includes(day));
  return isNamed ? `${date.text} is a ${figure.text}` : null;
}
