import { parseUrl } from "../../shared/http/parse-url.ts";
import { parseJson } from "../../shared/schema/json-value.ts";
import { isDay } from "../../shared/text/date-period.ts";
import { cleanForDatabase } from "../../shared/terminal/styled-text.ts";
import { countCodePoints } from "../text/clean-text.ts";
import type { BoundValue } from "../../shared/store/index/write-backs.ts";

type Value = BoundValue["value"];
type Sent = { readonly value: Exclude<Value, null> } | { readonly problem: string };

/** The limit of paperless-ngx for a text of one line. */
const MOST_STRING_CHARS = 128;
/** The format in which paperless-ngx stores money. */
const MONEY = /^[A-Z]{3}-?\d+\.\d\d$/;
const isDate = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text) && isDay(text);

/** The type of custom field to create for a value. */
export function typeFor(value: Value): string {
  if (typeof value === "number") return "float";
  if (typeof value === "boolean") return "boolean";
  return isDate(value ?? "") ? "date" : "string";
}

const NUMBERS: ReadonlySet<string> = new Set(["integer", "float", "monetary"]);

/** Parses what a person typed: a number or boolean if the field's type takes one, otherwise the text. */
export function readTyped(type: string, value: Value): Value {
  const parsed = typeof value === "string" ? parseJson(value.trim()) : undefined;
  if (typeof parsed === "number" && Number.isFinite(parsed) && NUMBERS.has(type)) return parsed;
  return typeof parsed === "boolean" && type === "boolean" ? parsed : value;
}

/** Converts a value to a custom field's type, or returns the problem: bulk edits of paperless-ngx validate nothing. */
export function fieldValue(type: string, value: Value, bindings: readonly BoundValue[]): Sent {
  const text = typeof value === "boolean" ? "" : cleanForDatabase(String(value ?? ""));
  switch (type) {
    case "longtext":
      return text === "" ? typeMismatch(type, value) : { value: text };
    case "string":
      if (countCodePoints(text) > MOST_STRING_CHARS)
        return {
          problem: `takes ${MOST_STRING_CHARS} characters, and the value has ${countCodePoints(text)}`,
        };
      return text === "" ? typeMismatch(type, value) : { value: text };
    case "date":
      return isDate(text) ? { value: text } : typeMismatch(type, value);
    case "boolean":
      return typeof value === "boolean" ? { value } : typeMismatch(type, value);
    case "integer":
      return typeof value === "number" && Math.abs(value) < 2 ** 31 && Number.isInteger(value)
        ? { value }
        : typeMismatch(type, value);
    case "float":
      return typeof value === "number" ? { value } : typeMismatch(type, value);
    case "monetary":
      if (MONEY.test(text)) return { value: text };
      return typeof value === "number" ? moneyValue(value, bindings) : typeMismatch(type, value);
    case "url":
      return parseUrl(text)?.protocol.startsWith("http") === true
        ? { value: text }
        : typeMismatch(type, value);
    default:
      return { problem: `is of the type ${type.slice(0, 50)}, which is not written` };
  }
}

const typeMismatch = (type: string, value: Value): Sent => ({
  problem: `is of the type ${type}, which ${JSON.stringify(value).slice(0, 100).toWellFormed()} is not`,
});

const CURRENCIES: Readonly<Record<string, string>> = { "€": "EUR", EURO: "EUR", "£": "GBP" };

/** Adds the currency of the field `currency`. Without that field, the custom field's default applies; a doubtful one is a problem. */
function moneyValue(amount: number, bindings: readonly BoundValue[]): Sent {
  const figure = amount.toFixed(2);
  if (!MONEY.test(`EUR${figure}`) || Number(figure) !== amount)
    return { problem: `takes cents, and the value is ${amount}` };
  const currency = bindings.find(({ pointer }) => pointer === "/currency");
  const given = currency?.correction ?? currency?.value ?? null;
  if (currency === undefined || (given === null && currency.reason === null))
    return { value: figure };
  const written = String(given ?? "")
    .trim()
    .toUpperCase();
  const code = CURRENCIES[written] ?? written;
  const { decision, grade } = currency;
  const isSure = decision === null ? grade === "supported" : decision !== "rejected";
  return isSure && /^[A-Z]{3}$/.test(code)
    ? { value: `${code}${figure}` }
    : {
        problem: `is of money, and the currency ${JSON.stringify(given)} is not sure; a correction like EUR${figure} names it`,
      };
}
