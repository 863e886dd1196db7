import { hash } from "node:crypto";
import { z } from "zod";
import { refuse } from "../../shared/failure.ts";
import {
  add,
  compare,
  divide,
  exact,
  formatExact,
  multiply,
  parseExact,
  round,
  subtract,
} from "./exact-number.ts";
import type { Exact } from "./exact-number.ts";
import { cleanText, countCodePoints } from "../text/clean-text.ts";
import { defineTool, filledText, outputOf } from "./tool.ts";
import type { ToolEvidence } from "./tool.ts";

/** Calculates exactly: numbers as fractions, days by the Gregorian calendar. An answer may cite the result as evidence. */
export const CALCULATE = defineTool({
  name: "calculate",
  description:
    "Reckons exactly: + - * /, %, brackets, sum(…), avg(…), min(…), max(…), round(x, digits); dates as 2026-03-01, " +
    "date - date in days, date + 14 days, weekday(date).",
  args: z.strictObject({
    expression: filledText("an expression like (310 - 85) * 1.19", 1_000).describe(
      "What to reckon, with a point in decimals and nothing between thousands.",
    ),
  }),
  effect: "none",
  move: "compare",
  isEvidence: true,
  limits: { callsPerRun: 50 },
  async run({ expression }) {
    try {
      const text = cleanText(`${expression.trim()} = ${formatValue(evaluate(expression))}`);
      return outputOf(text, {}, [printed(text, expression)]);
    } catch (error) {
      if (!(error instanceof ExpressionError || error instanceof RangeError)) throw error;
      return refuse(
        "INVALID_ARGS",
        `${JSON.stringify(expression)} can't be reckoned: ${error.message}.`,
      );
    }
  },
});

const printed = (text: string, call: string): ToolEvidence => ({
  kind: "output",
  output: {
    call: cleanText(call.trim()),
    sha256: hash("sha256", text),
    charsFull: countCodePoints(text),
    text,
  },
});

class ExpressionError extends Error {
  override readonly name = "ExpressionError";
}

/** A day is counted from 1970-01-01. A span is a number of days, and prints with the word "days". */
type Value =
  | { readonly kind: "number"; readonly number: Exact }
  | { readonly kind: "span"; readonly days: Exact }
  | { readonly kind: "day"; readonly day: number }
  | { readonly kind: "text"; readonly text: string };

type Token = { readonly kind: "number" | "date" | "word" | "sign"; readonly text: string };

const TOKEN =
  /\s*(?:(\d{4}-\d{2}-\d{2})(?!\d)|(\d{1,200}(?:\.\d{1,200})?)|([a-z]{1,20})|([-+*/%(),×·÷−]))/iy;

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < text.length;) {
    const at = TOKEN.lastIndex;
    const found = TOKEN.exec(text);
    if (found === null) {
      if (text.slice(at).trim() === "") break;
      throw new ExpressionError(
        `nothing is known that begins at ${JSON.stringify(text.slice(at, at + 20).trim())}`,
      );
    }
    const [, date, number, word, sign] = found;
    if (date !== undefined) tokens.push({ kind: "date", text: date });
    else if (number !== undefined) tokens.push({ kind: "number", text: number });
    else if (word !== undefined) tokens.push({ kind: "word", text: word.toLowerCase() });
    else tokens.push({ kind: "sign", text: SIGNS.get(sign ?? "") ?? sign ?? "" });
  }
  return tokens;
}

const SIGNS = new Map([
  ["×", "*"],
  ["·", "*"],
  ["÷", "/"],
  ["−", "-"],
]);

/** Nested brackets; people write fewer. */
const MOST_DEPTH = 40;

/** @throws ExpressionError and RangeError, whose messages name the problem */
function evaluate(text: string): Value {
  const tokens = tokensOf(text);
  let at = 0;
  let depth = 0;
  const peek = (): Token | undefined => tokens[at];
  const isSign = (sign: string): boolean => peek()?.kind === "sign" && peek()?.text === sign;
  const isWord = (word: string): boolean => peek()?.kind === "word" && peek()?.text === word;
  const take = (): Token | undefined => tokens[at++];
  const expect = (sign: string): void => {
    if (!isSign(sign)) throw new ExpressionError(`${sign} is missing`);
    at += 1;
  };

  const sum = (): Value => {
    let value = product();
    for (;;) {
      if (isSign("+")) {
        at += 1;
        value = plus(value, product());
      } else if (isSign("-")) {
        at += 1;
        value = minus(value, product());
      } else return value;
    }
  };
  const product = (): Value => {
    let value = signed();
    for (;;) {
      if (isSign("*") || isWord("of")) {
        at += 1;
        value = times(value, signed());
      } else if (isSign("/")) {
        at += 1;
        value = over(value, signed());
      } else return value;
    }
  };
  const signed = (): Value => {
    if (isSign("-")) {
      at += 1;
      return times({ kind: "number", number: exact(-1n) }, signed());
    }
    if (isSign("+")) at += 1;
    return withUnit(plain());
  };
  const withUnit = (value: Value): Value => {
    if (isSign("%")) {
      at += 1;
      return withUnit(over(value, { kind: "number", number: exact(100n) }));
    }
    const days = peek()?.kind === "word" ? UNITS.get(peek()?.text ?? "") : undefined;
    if (days === undefined || value.kind !== "number") return value;
    at += 1;
    return { kind: "span", days: multiply(value.number, exact(days)) };
  };
  const plain = (): Value => {
    const token = take();
    switch (token?.kind) {
      case "number":
        return { kind: "number", number: parseExact(token.text) };
      case "date":
        return { kind: "day", day: dayOf(token.text) };
      case "word":
        return callOf(token.text);
      case "sign":
        if (token.text === "(") return inBrackets();
        throw new ExpressionError(`a number was expected, and there is ${token.text}`);
      case undefined:
        throw new ExpressionError("it ends where a number was expected");
    }
  };
  const nested = <T>(read: () => T): T => {
    depth += 1;
    if (depth > MOST_DEPTH) throw new ExpressionError("too many brackets");
    const value = read();
    depth -= 1;
    return value;
  };
  const inBrackets = (): Value =>
    nested(() => {
      const value = sum();
      expect(")");
      return value;
    });
  const callOf = (name: string): Value => {
    const run = FUNCTIONS.get(name);
    if (run === undefined) {
      throw new ExpressionError(
        `there is no ${name}; there are ${[...FUNCTIONS.keys()].join(", ")}`,
      );
    }
    return nested(() => {
      expect("(");
      const args = [sum()];
      while (isSign(",")) {
        at += 1;
        args.push(sum());
      }
      expect(")");
      return run(args);
    });
  };

  const value = sum();
  const rest = peek();
  if (rest !== undefined)
    throw new ExpressionError(`${rest.text} stands where nothing was expected`);
  return value;
}

const UNITS = new Map([
  ["day", 1n],
  ["days", 1n],
  ["d", 1n],
  ["week", 7n],
  ["weeks", 7n],
]);

const numberOf = (value: Value): Exact => {
  if (value.kind === "number") return value.number;
  if (value.kind === "span") return value.days;
  throw new ExpressionError("a date stands where a number was expected");
};

const FUNCTIONS = new Map<string, (args: readonly Value[]) => Value>([
  ["sum", (args) => args.reduce(plus)],
  [
    "avg",
    (args) => over(args.reduce(plus), { kind: "number", number: exact(BigInt(args.length)) }),
  ],
  ["min", (args) => args.reduce((least, next) => (order(next, least) < 0 ? next : least))],
  ["max", (args) => args.reduce((most, next) => (order(next, most) > 0 ? next : most))],
  [
    "round",
    ([value, digits]) => {
      const places = digits === undefined ? 0 : Number(formatExact(numberOf(digits)));
      if (!Number.isInteger(places) || places < 0 || places > 12) {
        throw new ExpressionError("round takes 0 to 12 digits");
      }
      return { kind: "number", number: round(numberOf(value ?? ZERO), places) };
    },
  ],
  [
    "weekday",
    ([value]) => {
      if (value?.kind !== "day") throw new ExpressionError("weekday takes a date");
      return { kind: "text", text: WEEKDAYS[(((value.day + 4) % 7) + 7) % 7] ?? "" };
    },
  ],
]);
const ZERO: Value = { kind: "number", number: exact(0n) };
const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

function order(one: Value, other: Value): number {
  if (one.kind === "day" && other.kind === "day") return one.day - other.day;
  return compare(numberOf(one), numberOf(other));
}

function plus(one: Value, other: Value): Value {
  if (one.kind === "day") return { kind: "day", day: one.day + daysOf(other) };
  if (other.kind === "day") return { kind: "day", day: other.day + daysOf(one) };
  return withKindOf(one, other, add(numberOf(one), numberOf(other)));
}

function minus(one: Value, other: Value): Value {
  if (one.kind === "day" && other.kind === "day") {
    return { kind: "span", days: exact(BigInt(one.day - other.day)) };
  }
  if (one.kind === "day") return { kind: "day", day: one.day - daysOf(other) };
  return withKindOf(one, other, subtract(numberOf(one), numberOf(other)));
}

const times = (one: Value, other: Value): Value =>
  withKindOf(one, other, multiply(numberOf(one), numberOf(other)));

function over(one: Value, other: Value): Value {
  const number = divide(numberOf(one), numberOf(other));
  return one.kind === "span" && other.kind === "number"
    ? { kind: "span", days: number }
    : { kind: "number", number };
}

const withKindOf = (one: Value, other: Value, number: Exact): Value =>
  one.kind === "span" || other.kind === "span"
    ? { kind: "span", days: number }
    : { kind: "number", number };

/** Whole days to add to a date. */
function daysOf(value: Value): number {
  const { over: days, under } = numberOf(value);
  if (under !== 1n || days > MOST_DAYS || days < -MOST_DAYS) {
    throw new ExpressionError("a date goes on by whole days, ten thousand years at most");
  }
  return Number(days);
}
const MOST_DAYS = 3_652_425n;
const DAY_MS = 86_400_000;

function dayOf(text: string): number {
  const time = Date.parse(`${text}T00:00:00Z`);
  const isDay = !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
  if (!isDay) throw new ExpressionError(`${text} is no day of the calendar`);
  return time / DAY_MS;
}

function formatValue(value: Value): string {
  switch (value.kind) {
    case "number":
      return formatExact(value.number);
    case "span":
      return `${formatExact(value.days)} days`;
    case "day":
      return new Date(value.day * DAY_MS).toISOString().replace(/T.*/, "");
    case "text":
      return value.text;
  }
}
