import {
  areOfOneKind,
  computedBy,
  differenceOf,
  isYear,
  meanOf,
  inColumn,
  sumOfRun,
} from "./arithmetic-of-many.ts";
import type { Computed, Operand, Target } from "./arithmetic-of-many.ts";
import { roundsTo } from "../../text/figures/read-figures.ts";
import type { ClaimFigure } from "../../text/figures/read-figures.ts";
import type { Pair } from "./pair.ts";
import type { ReadPiece, ReadUnit } from "./pieces.ts";

/** Limit of operands that are combined in pairs: a quarter of a million pairs take a millisecond. */
const MOST_OPERANDS = 90;
const DAY_S = 86_400;
const MONTH_DAYS = 30.437;

/**
 * Finds how a figure that no text states was computed: from operands of the claim, then of the unit, then of the cited pieces.
 * Computations are the sum or difference of two, a rate times a count, a share of an amount, the time between two times of day
 * or days, a day so much later, twelve times, half, double, and the sum of a table's column. A figure that the claim calls a
 * total, an average or a difference is also searched as one over whole pieces.
 */
export function findArithmetic(figure: ClaimFigure, pair: Pair): string | null {
  const wanted = targetOf(figure);
  if (wanted === null) return null;
  const { cited, claim } = pair;
  const computed = computedBy(claim.text);
  const ofClaim = operandsOf(claim.figures.filter((one) => one !== figure && isInAny(one, cited)));
  const others = ofClaim.filter(({ text }) => text !== figure.text);
  return (
    findNamed(wanted, others, computed) ??
    findInUnit(wanted, figure, pair.unit, ofClaim) ??
    findInPieces(wanted, figure, pair, computed) ??
    combine(wanted, [...distinct(allOperands(pair)), ...ofClaim])
  );
}

const findNamed = (
  wanted: Target,
  ofClaim: readonly Operand[],
  { isTotal, isAverage }: Computed,
): string | null =>
  combine(wanted, distinct(ofClaim)) ??
  (isTotal ? sumOfRun(wanted, ofClaim) : null) ??
  (isAverage ? meanOf(wanted, ofClaim) : null);

function findInUnit(
  wanted: Target,
  figure: ClaimFigure,
  unit: ReadUnit,
  ofClaim: readonly Operand[],
): string | null {
  const near = operandsOf([...unit.figures(), ...unit.labelFigures().flat()]);
  const each = distinct(near);
  return (
    combine(wanted, each) ??
    combine(wanted, [...each, ...ofClaim]) ??
    ofBare(wanted, each, figure) ??
    sumOfRun(wanted, near)
  );
}

/** Searches computations over several sentences or rows of a piece. */
function findInPieces(
  wanted: Target,
  figure: ClaimFigure,
  pair: Pair,
  computed: Computed,
): string | null {
  const factor = figure.measure?.factor ?? 1;
  for (const piece of pair.cited) {
    const column = inColumn(wanted, factor, piece, computed);
    if (column !== null) return column;
  }
  const all = allOperands(pair);
  const { isTotal, isAverage, isDifference } = computed;
  const scaled = [all, scaledOf(all, figure)];
  const found = scaled.map(
    (operands) =>
      (isTotal ? sumOfRun(wanted, operands) : null) ??
      (isAverage ? meanOf(wanted, operands) : null) ??
      (isDifference ? differenceOf(wanted, distinct(operands)) : null),
  );
  return found.find((one) => one !== null) ?? null;
}

const allOperands = ({ cited }: Pair): readonly Operand[] =>
  operandsOf(cited.flatMap(({ units }) => units.filter(isSingle).flatMap((one) => one.figures())));

/** An operand of the claim must be in the evidence: three invented figures add up, too. */
const isInAny = ({ asks }: ClaimFigure, pieces: readonly ReadPiece[]): boolean =>
  pieces.some((piece) => asks.some((one) => piece.offers().has(one)));

/** Combines figures without a unit as if they had the figure's unit: cells of a table often name none. */
const ofBare = (wanted: Target, near: readonly Operand[], figure: ClaimFigure): string | null =>
  combine(
    wanted,
    scaledOf(
      near.filter(({ dimension }) => dimension === ""),
      figure,
    ),
  );

/** Gives figures without a unit the unit of a figure, beside those that have it: a sentence may name the unit only once. */
function scaledOf(operands: readonly Operand[], { measure }: ClaimFigure): readonly Operand[] {
  if (measure === null) return [];
  const { factor, dimension } = measure;
  return operands.flatMap((one) => {
    if (one.dimension === dimension) return [one];
    return one.dimension === "" && !isYear(one)
      ? [{ ...one, value: one.value * factor, dimension }]
      : [];
  });
}

const isSingle = ({ kind }: ReadUnit): boolean => kind !== "pair";

function targetOf(figure: ClaimFigure): Target | null {
  if (figure.kind === "date") {
    const [of] = valuesOf(figure).filter((one) => one.dimension.startsWith("day"));
    if (of === undefined) return null;
    return { ...of, counted: null, isNear: (value) => Math.abs(value - of.value) <= 1 };
  }
  if (!Number.isFinite(figure.base) || figure.base === 0) return null;
  const slack = Math.min(0.5, Math.max(1e-9, Math.abs(figure.base) * 0.000_5));
  return {
    value: figure.base,
    dimension: figure.measure?.dimension ?? "",
    counted: figure.counted,
    isNear: (value) =>
      figure.precision === "exact"
        ? Math.abs(value - figure.base) <= slack
        : roundsTo(figure, value),
  };
}

/** A full date in days since 1970; null for any other figure. */
export function dayOf(figure: ClaimFigure | undefined): number | null {
  const full = figure?.offers.find((offer) => offer.startsWith("d:"));
  const day = full === undefined ? Number.NaN : Date.parse(`${full.slice(2)}T00:00:00Z`);
  return Number.isNaN(day) ? null : day / 86_400_000;
}

/** A time of day in minutes; null for any other figure. */
export function minutesOf(figure: ClaimFigure | undefined): number | null {
  const time = figure?.offers.find((offer) => offer.startsWith("t:"));
  return time === undefined ? null : Number(time.slice(2, 4)) * 60 + Number(time.slice(5, 7));
}

/** Limit of figures that are read; no honest sentence or row states more. */
const MOST_FIGURES = 200;

const operandsOf = (figures: readonly ClaimFigure[]): Operand[] =>
  figures.slice(0, MOST_FIGURES).flatMap((figure): Operand[] => {
    const { rate, counted, measure } = figure;
    const [factor, text] = [measure?.factor ?? 1, figure.text.trim()];
    return valuesOf(figure).map((one) => ({ ...one, factor, rate, counted, text }));
  });

/** Each value once, for pairs. A sum or a mean of many needs equal ones too: tickets of 10, 10 and 40 EUR cost 60 EUR. */
function distinct(operands: readonly Operand[]): readonly Operand[] {
  const seen = new Set<string>();
  return operands
    .filter(({ value, dimension, rate }) => {
      const before = seen.size;
      return seen.add(`${dimension}:${value}:${rate ?? ""}`).size > before;
    })
    .slice(0, MOST_OPERANDS);
}

function valuesOf(figure: ClaimFigure): Pick<Operand, "value" | "dimension">[] {
  const minutes = minutesOf(figure);
  const inMinutes = minutes === null ? [] : [{ value: minutes, dimension: "clock" }];
  const day = dayOf(figure);
  if (day !== null) return [{ value: day, dimension: "day" }];
  const inYear = figure.offers.find((offer) => offer.startsWith("m:"));
  if (inYear !== undefined) {
    const date = Date.parse(`2025-${inYear.slice(2)}T00:00:00Z`);
    return Number.isNaN(date) ? [] : [{ value: date / 86_400_000, dimension: "day of year" }];
  }
  if (figure.kind === "date" || !Number.isFinite(figure.base)) return inMinutes;
  return [...inMinutes, { value: figure.base, dimension: figure.measure?.dimension ?? "" }];
}

function combine(wanted: Target, operands: readonly Operand[]): string | null {
  if (wanted.dimension === "day of year") {
    const next = operands.find(
      (one) => one.dimension === "day of year" && one.value === wanted.value - 1,
    );
    return next === undefined ? null : `the day after ${next.text}`;
  }
  for (const one of operands) {
    const alone = fromOne(wanted, one);
    if (alone !== null) return alone;
    for (const other of operands) {
      if (one === other) continue;
      const found = fromTwo(wanted, one, other);
      if (found !== null) return found;
    }
  }
  return null;
}

function fromOne({ dimension, isNear }: Target, one: Operand): string | null {
  if (one.dimension !== dimension || dimension === "clock" || dimension === "day") return null;
  if (dimension === "percent") return isNear(100 - one.value) ? `100 % - ${one.text}` : null;
  if (!isAmount(dimension)) return null;
  if (isNear(one.value * 12)) return `12 x ${one.text}`;
  if (isNear(one.value * 2)) return `2 x ${one.text}`;
  return isNear(one.value / 2) ? `${one.text} / 2` : null;
}

function fromTwo(wanted: Target, one: Operand, other: Operand): string | null {
  const { dimension, isNear } = wanted;
  if (one.dimension === other.dimension) {
    if (one.dimension === "clock") return betweenTimes(wanted, one, other);
    if (one.dimension === "day" || one.dimension === "day of year")
      return betweenDays(wanted, one, other);
    if (!areOfOneKind(wanted, one, other)) return null;
    if (one.dimension === dimension) {
      if (isNear(one.value + other.value)) return `${one.text} + ${other.text}`;
      if (isNear(one.value - other.value)) return `${one.text} - ${other.text}`;
    }
    // The time between two years.
    if (dimension === "month" && one.dimension === "" && isYear(one) && isYear(other)) {
      return isNear((one.value - other.value) * 12) ? `${one.text} - ${other.text}` : null;
    }
    const isShare = dimension === "percent" && one.value < other.value;
    if (isShare && isNear((one.value / other.value) * 100)) return `${one.text} / ${other.text}`;
    const grown = dimension === "percent" && isNear(Math.abs(one.value / other.value - 1) * 100);
    if (grown) return `${one.text} against ${other.text}`;
  }
  if (dimension.startsWith("day")) return laterDay(wanted, one, other);
  if (isYear(wanted) && isYear(one) && other.dimension === "month") {
    const isLater = Math.abs(wanted.value - one.value) * 12 === other.value;
    return isLater ? `${one.text} and ${other.text}` : null;
  }
  if (one.dimension === "percent" && other.dimension === dimension && isAmount(dimension)) {
    const share = one.value / 100;
    if (isNear(other.value * share)) return `${one.text} of ${other.text}`;
    if (isNear(other.value * (1 - share))) return `${other.text} - ${one.text}`;
    if (isNear(other.value * (1 + share))) return `${other.text} + ${one.text}`;
    if (isNear(other.value / (1 + share))) return `${other.text} before + ${one.text}`;
    if (isNear(other.value / (1 - share))) return `${other.text} before - ${one.text}`;
  }
  if (other.dimension !== dimension) return null;
  const of = timesOf(one, other);
  return of !== null && isNear(of * other.value) ? `${one.text} x ${other.text}` : null;
}

/** The factor of an amount: a count, or a quantity of the unit that it is a price per. A factor of 1 is no computation. */
function timesOf(one: Operand, paid: Operand): number | null {
  if (one.dimension === "") return one.value > 1 && !isYear(one) ? one.value : null;
  const [per, factor] = paid.rate?.split(":") ?? [];
  if (per === one.dimension) {
    const times = one.value / Number(factor);
    return times > 0 && times !== 1 ? times : null;
  }
  const hours = hoursOf(one, paid.dimension);
  return hours > 1 ? hours : null;
}

const HOUR_S = 3_600;

/** The hours, days or months that are paid for in "2.5 hours at £78"; 0 where there are none. */
const hoursOf = ({ dimension, value, factor }: Operand, paid: string): number =>
  paid.length === 3 && (dimension === "month" || (dimension === "time" && factor >= HOUR_S))
    ? value / factor
    : 0;

/** Money and plain counts: people state shares of these, doubles, and twelve times. */
const isAmount = (dimension: string): boolean => dimension === "" || /^[A-Z]{3}$/.test(dimension);

function betweenTimes({ dimension, isNear }: Target, one: Operand, other: Operand): string | null {
  if (dimension !== "time") return null;
  const minutes = (other.value - one.value + 1_440) % 1_440;
  return isNear(minutes * 60) ? `${one.text} to ${other.text}` : null;
}

function betweenDays(
  { dimension, value, isNear }: Target,
  one: Operand,
  other: Operand,
): string | null {
  const days = other.value - one.value;
  if (days <= 0) return null;
  const isSpan = dimension === "time" && (isNear(days * DAY_S) || isNear((days + 1) * DAY_S));
  const isMonths = dimension === "month" && Math.abs(days / MONTH_DAYS - value) < 0.1;
  return isSpan || isMonths ? `${one.text} to ${other.text}` : null;
}

function laterDay(wanted: Target, one: Operand, other: Operand): string | null {
  if (one.dimension !== wanted.dimension) return null;
  if (other.dimension === "time" && other.value % DAY_S === 0) {
    const days = other.value / DAY_S;
    return wanted.isNear(one.value + days) || wanted.isNear(one.value - days)
      ? `${one.text} and ${other.text}`
      : null;
  }
  if (other.dimension !== "month") return null;
  const later = new Date(one.value * 86_400_000);
  const day = later.getUTCDate();
  later.setUTCMonth(later.getUTCMonth() + other.value);
  // A month without that day ends the period: six months from 31 August are over on 28 February.
  if (later.getUTCDate() !== day) later.setUTCDate(0);
  return wanted.isNear(later.getTime() / 86_400_000) ? `${one.text} and ${other.text}` : null;
}
