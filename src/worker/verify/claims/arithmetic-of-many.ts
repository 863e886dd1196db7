import { AVERAGE, DIFFERENCE, TOTAL } from "./computed-words.ts";
import type { ReadPiece, ReadUnit } from "./pieces.ts";

/** A value that a computation may use. */
export type Operand = {
  readonly value: number;
  /** "time" in seconds, "month", a currency, …; "clock" is a time of day in minutes, "day" a date in days. */
  readonly dimension: string;
  readonly text: string;
  /** Factor of its unit. */
  readonly factor: number;
  /** The word that it counts, as in its figure. */
  readonly counted: string | null;
  /** The unit that a price is per, such as `mass:1` for "per kilogram"; null where there is none. */
  readonly rate: string | null;
};

/** The result that a computation must reach. */
export type Target = {
  readonly value: number;
  readonly dimension: string;
  readonly isNear: (value: number) => boolean;
  readonly counted: string | null;
};

/** Limit of figures of one dimension that a sum, a mean or a difference may use. */
const MOST_LIKE = 24;
const FEWEST_SUMMED = 3;
const FEWEST_AVERAGED = 2;

/** How a claim says that its figure was computed. */
export type Computed = {
  readonly isTotal: boolean;
  readonly isAverage: boolean;
  readonly isDifference: boolean;
};

export const computedBy = (text: string): Computed => ({
  isTotal: TOTAL.test(text),
  isAverage: AVERAGE.test(text),
  isDifference: DIFFERENCE.test(text),
});

/** The sum of three or more consecutive figures of the target's dimension; null where no such run reaches the target. */
export function sumOfRun(wanted: Target, operands: readonly Operand[]): string | null {
  const like = likeOf(wanted, operands);
  for (let first = 0; first < like.length - 2; first += 1) {
    let sum = 0;
    for (let last = first; last < like.length; last += 1) {
      sum += like[last]?.value ?? 0;
      if (last >= first + FEWEST_SUMMED - 1 && wanted.isNear(sum))
        return joinTexts(like.slice(first, last + 1), " + ");
    }
  }
  return null;
}

/** The mean of all figures of the target's dimension; null where it misses the target. */
export function meanOf(wanted: Target, operands: readonly Operand[]): string | null {
  const like = likeOf(wanted, operands);
  if (like.length < FEWEST_AVERAGED) return null;
  const mean = like.reduce((sum, { value }) => sum + value, 0) / like.length;
  return wanted.isNear(mean) ? `the mean of ${joinTexts(like, ", ")}` : null;
}

/** The difference of two figures of the target's dimension; null where none reaches the target. */
export function differenceOf(wanted: Target, operands: readonly Operand[]): string | null {
  const like = likeOf(wanted, operands);
  for (const one of like) {
    const other = like.find(
      (each) => wanted.isNear(one.value - each.value) && areOfOneKind(wanted, one, each),
    );
    if (other !== undefined) return `${one.text} - ${other.text}`;
  }
  return null;
}

const likeOf = ({ dimension }: Target, operands: readonly Operand[]): readonly Operand[] =>
  operands.filter((one) => one.dimension === dimension && !isYear(one)).slice(0, MOST_LIKE);

const joinTexts = (operands: readonly Operand[], between: string): string =>
  operands.map(({ text }) => text).join(between);

export const isYear = ({ value, dimension }: Pick<Operand, "value" | "dimension">): boolean =>
  dimension === "" && Number.isInteger(value) && value >= 1_000 && value <= 2_200;

/**
 * Whether two figures may be added or compared: not a year and a plain number, and not a figure that counts the same thing as
 * the claim with one that counts another ("12 nurses and 7 cars" for "19 nurses").
 */
export function areOfOneKind({ counted }: Target, one: Operand, other: Operand): boolean {
  if (isYear(one) !== isYear(other)) return [one, other].every((each) => each.counted !== null);
  const isOther = (each: Operand): boolean => each.counted !== null && each.counted !== counted;
  const isSame = (each: Operand): boolean => each.counted !== null && each.counted === counted;
  return !(isSame(one) && isOther(other)) && !(isOther(one) && isSame(other));
}

const MOST_ROWS = 40;
const MOST_COLUMNS = 8;

/**
 * The sum of consecutive rows of a table in one column, or the mean of all rows. Rows without a number in that column are
 * skipped.
 */
export function inColumn(
  { dimension, isNear }: Target,
  factor: number,
  { units }: ReadPiece,
  computed: Pick<Computed, "isAverage">,
): string | null {
  const rows = units.filter(({ kind }) => kind === "row").slice(0, MOST_ROWS);
  for (const [wanted, scale] of [
    [dimension, 1],
    // The header of a column often names the unit of its cells.
    ...(dimension === "" ? [] : [["", factor] as const]),
  ] as const) {
    const columns = rows.map((row) => numbersOf(row, wanted));
    const most = Math.min(MOST_COLUMNS, Math.max(0, ...columns.map(({ length }) => length)));
    for (let column = 0; column < most; column += 1) {
      const values = columns.flatMap((of) => of[column] ?? []).map((value) => value * scale);
      const found = sumOrMean(values, isNear, computed);
      if (found !== null) return found;
    }
  }
  return null;
}

const numbersOf = ({ figures }: ReadUnit, dimension: string): readonly number[] =>
  figures()
    .filter(({ kind, measure }) => kind === "number" && (measure?.dimension ?? "") === dimension)
    .map(({ base }) => base);

function sumOrMean(
  values: readonly number[],
  isNear: Target["isNear"],
  { isAverage }: Pick<Computed, "isAverage">,
): string | null {
  for (let first = 0; first < values.length - 2; first += 1) {
    let sum = 0;
    for (let last = first; last < values.length; last += 1) {
      sum += values[last] ?? 0;
      const rows = last - first + 1;
      if (rows >= FEWEST_SUMMED && isNear(sum)) return `the sum of ${rows} rows`;
    }
  }
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return isAverage && values.length >= FEWEST_AVERAGED && isNear(mean)
    ? `the mean of ${values.length} rows`
    : null;
}
