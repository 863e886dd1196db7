import { parseNumber } from "../figures/numbers.ts";
import type { TableRow } from "./read-tables.ts";

type Added = {
  /** The sum, spelled as the cells are. */
  readonly text: string;
  /** Rows that hold nothing in the column. */
  readonly empty: ReadonlySet<TableRow>;
};

type Amount = { readonly before: string; readonly spelled: string; readonly after: string };

const AMOUNT =
  /^(?<before>(?:\p{Sc}|\p{Lu}{2,3}|\p{Lu}{1,2}\p{Sc})?[ \u00A0]?)(?<spelled>[-−+]?\d(?:[\d.,'’ \u00A0\u202F]*\d)?)(?<after>[^\p{N}]{0,20})$/u;

/**
 * Adds up a column. Null if the sum is not certain: a cell is no amount, units differ, a number is ambiguous, a row has no
 * name, or a row holds the sum of the rows above it.
 */
export function addColumn(rows: readonly TableRow[], column: number): Added | null {
  const empty = new Set(rows.filter(({ cells }) => !/\p{N}/u.test(cells[column] ?? "")));
  const filled = rows.filter((row) => !empty.has(row));
  const amounts = filled.map(({ cells }) => amountOf(cells[column] ?? ""));
  const [first] = amounts;
  if (
    first === undefined ||
    first === null ||
    filled.some(({ cells }) => cells[0] === "" && column > 0 && cells[1] === "")
  )
    return null;
  const mark = decimalMark(amounts.flatMap((one) => one?.spelled ?? []));
  let sum: Decimal | null = null;
  let summed = 0;
  for (const amount of amounts) {
    if (amount === null || unitOf(amount) !== unitOf(first) || mark === null) return null;
    const value = decimalOf(amount.spelled, mark);
    // A value that is the sum of at least two rows above it is a total, whatever the name of the row.
    if (value === null || (summed > 1 && isSame(value, sum))) return null;
    sum = sumOf(sum === null ? [value] : [sum, value]);
    summed += 1;
  }
  if (sum === null) return null;
  const text = `${first.before}${spell(sum, amounts, mark ?? "")}${first.after}`;
  return { text, empty };
}

function amountOf(cell: string): Amount | null {
  const { before = "", spelled = "", after = "" } = AMOUNT.exec(cell.trim())?.groups ?? {};
  return spelled === "" || /hidden/.test(after) ? null : { before, spelled, after };
}

const unitOf = ({ before, after }: Amount): string => `${before.trim()} ${after.trim()}`;

/** A decimal number: its digits as a whole number, and how many of them stand behind the decimal mark. */
type Decimal = { readonly digits: bigint; readonly scale: number };

/** The decimal mark that the unambiguous numbers use; "" if none is unambiguous, null if they use both. */
function decimalMark(spelled: readonly string[]): "." | "," | "" | null {
  const shown = new Set(
    spelled.flatMap((number) => {
      const marks = number.replace(/[^.,]/g, "");
      const last = marks.slice(-1);
      const behind = number.length - 1 - number.lastIndexOf(last);
      const isBoth = marks.includes(".") && marks.includes(",");
      const isGrouped = /[.,'’ \u00A0\u202F]\d{3}[.,]\d+$/.test(number);
      return last !== "" && (isBoth || isGrouped || behind !== 3) ? [last] : [];
    }),
  );
  const [mark, ...others] = shown;
  if (others.length > 0) return null;
  return mark === "." || mark === "," ? mark : "";
}

function decimalOf(spelled: string, mark: "." | "," | ""): Decimal | null {
  const [only, ...others] = mark === "" ? parseNumber(spelled) : [plain(spelled, mark)];
  if (only === undefined || others.length > 0 || !/^[-+]?\d+(?:\.\d+)?$/.test(only)) return null;
  const [whole = "", fraction = ""] = only.split(".");
  return { digits: BigInt(whole + fraction), scale: fraction.length };
}

const plain = (spelled: string, mark: "." | ","): string =>
  spelled
    .replace(/−/g, "-")
    .split(mark)
    .map((part) => part.replace(/[.,'’ \u00A0\u202F]/g, ""))
    .join(".");

const atScale = ({ digits, scale }: Decimal, to: number): bigint =>
  digits * 10n ** BigInt(to - scale);

function sumOf(values: readonly Decimal[]): Decimal {
  const scale = values.reduce((most, value) => Math.max(most, value.scale), 0);
  return { digits: values.reduce((sum, value) => sum + atScale(value, scale), 0n), scale };
}

function isSame(one: Decimal, other: Decimal | null): boolean {
  const scale = Math.max(one.scale, other?.scale ?? 0);
  return other !== null && atScale(one, scale) === atScale(other, scale);
}

/** Spells a sum with the marks of the numbers that it adds up. */
function spell(
  { digits, scale }: Decimal,
  amounts: readonly (Amount | null)[],
  mark: string,
): string {
  const sign = digits < 0n ? "-" : "";
  const all = String(digits < 0n ? -digits : digits).padStart(scale + 1, "0");
  const whole = all.slice(0, all.length - scale);
  const spelled = amounts.map((one) => one?.spelled ?? "").join("|");
  const group =
    /\d([.,'’ \u00A0\u202F])\d{3}(?!\d)/.exec(
      spelled.replaceAll(mark === "" ? "|" : mark, "|"),
    )?.[1] ?? "";
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, group);
  return `${sign}${grouped}${scale === 0 ? "" : `${mark === "" ? "." : mark}${all.slice(-scale)}`}`;
}
