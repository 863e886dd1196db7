/** A rational number `over / under` in lowest terms; the denominator is above 0. */
export type Exact = { readonly over: bigint; readonly under: bigint };

const absolute = (value: bigint): bigint => (value < 0n ? -value : value);

function divisorOf(one: bigint, other: bigint): bigint {
  let [a, b] = [absolute(one), absolute(other)];
  while (b !== 0n) [a, b] = [b, a % b];
  return a;
}

/** @throws RangeError for a denominator of 0 */
export function exact(over: bigint, under = 1n): Exact {
  if (under === 0n) throw new RangeError("division by zero");
  const divisor = divisorOf(over, under) || 1n;
  const sign = under < 0n ? -1n : 1n;
  return { over: (sign * over) / divisor, under: (sign * under) / divisor };
}

export const add = (a: Exact, b: Exact): Exact =>
  exact(a.over * b.under + b.over * a.under, a.under * b.under);
export const negate = ({ over, under }: Exact): Exact => ({ over: -over, under });
export const subtract = (a: Exact, b: Exact): Exact => add(a, negate(b));
export const multiply = (a: Exact, b: Exact): Exact => exact(a.over * b.over, a.under * b.under);
export const divide = (a: Exact, b: Exact): Exact => exact(a.over * b.under, a.under * b.over);
export const compare = (a: Exact, b: Exact): number => {
  const difference = a.over * b.under - b.over * a.under;
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
};

/** Rounds half away from zero. */
export function round(value: Exact, digits: number): Exact {
  const scale = 10n ** BigInt(digits);
  const { over, under } = {
    over: absolute(value.over) * scale * 2n + value.under,
    under: value.under * 2n,
  };
  const whole = over / under;
  return exact(value.over < 0n ? -whole : whole, scale);
}

/** Parses a decimal with a point: `1234.5`. */
export function parseExact(text: string): Exact {
  const [whole = "", fraction = ""] = text.split(".");
  return exact(BigInt(whole + fraction), 10n ** BigInt(fraction.length));
}

/** Digits behind the point of a number that has no exact decimal. */
const MOST_DIGITS = 12;

/** The exact decimal if there is one; otherwise rounded, with "about" before it. */
export function formatExact(value: Exact): string {
  const digits = decimalDigits(value.under);
  if (digits !== null && digits <= 30) return decimal(value, digits);
  return `about ${decimal(round(value, MOST_DIGITS), MOST_DIGITS).replace(/\.?0+$/, "")}`;
}

/** Number of digits behind the point; null if the decimal does not end. */
function decimalDigits(under: bigint): number | null {
  let rest = under;
  let twos = 0;
  let fives = 0;
  for (; rest % 2n === 0n; rest /= 2n) twos += 1;
  for (; rest % 5n === 0n; rest /= 5n) fives += 1;
  return rest === 1n ? Math.max(twos, fives) : null;
}

function decimal({ over, under }: Exact, digits: number): string {
  const scaled = (absolute(over) * 10n ** BigInt(digits)) / under;
  const text = scaled.toString().padStart(digits + 1, "0");
  const sign = over < 0n ? "-" : "";
  const at = text.length - digits;
  return digits === 0 ? sign + text : `${sign}${text.slice(0, at)}.${text.slice(at)}`;
}
