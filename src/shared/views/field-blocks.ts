import { isRecord, unescapePointer } from "../schema/json-value.ts";
import type { DecidedField } from "../store/jobs/field-reviews.ts";
import { cut } from "./claims.ts";
import { doubtText } from "./doubtful-figures.ts";
import { formatCount } from "./quantity.ts";
import type { StoredBinding } from "./results.ts";
import { NAME, WORDS, fact, tableOf } from "./section.ts";
import type { Block, ColumnOf, Fact, Text } from "./section.ts";

const MOST_FIELDS = 40;
const MOST_COLUMNS = 8;

/**
 * The structured fields of an answer: single values as facts, lists of records as tables. Fields with bindings are one
 * table that shows each value beside the words of the document that support it.
 */
export function fieldBlocks(
  output: Readonly<Record<string, unknown>>,
  bindings: readonly StoredBinding[],
): readonly Block[] {
  if (bindings.length > 0) return [bindingTable(output, bindings)];
  const fields = Object.entries(output).slice(0, MOST_FIELDS);
  const facts = fields.filter(([, value]) => !isTable(value)).map(fieldFact);
  return [
    ...(facts.length === 0 ? [] : [{ kind: "facts" as const, facts }]),
    ...fields.flatMap(([name, value]) => (isTable(value) ? recordTable(name, value) : [])),
  ];
}

/** Whether `fieldBlocks` cuts a value or leaves one out. */
export const isCutField = (output: Readonly<Record<string, unknown>>): boolean =>
  Object.keys(output).length > MOST_FIELDS || Object.values(output).some(isCutValue);

function isCutValue(value: unknown): boolean {
  if (isTable(value))
    return (
      value.length > MOST_FIELDS ||
      namesOf(value).length > MOST_COLUMNS ||
      value.some((record) => Object.values(record).some(isCutText))
    );
  if (Array.isArray(value)) return value.length > MOST_FIELDS || value.some(isCutText);
  return isCutText(value);
}

const isCutText = (value: unknown): boolean => valueText(value) !== wholeText(value);

type Records = readonly Readonly<Record<string, unknown>>[];

const isTable = (value: unknown): value is Records =>
  Array.isArray(value) && value.length > 0 && value.every(isRecord);

function fieldFact([name, value]: readonly [string, unknown]): Fact {
  if (!Array.isArray(value)) return fact(name, valueText(value));
  const items = value.slice(0, MOST_FIELDS).map(valueText);
  return fact(name, ...(items.length === 0 ? ["none"] : items));
}

/** A value in words; only numbers and booleans are written as JSON. */
export const valueText = (value: unknown): string => cut(wholeText(value));

function wholeText(value: unknown): string {
  if (value === null || value === undefined) return "none";
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(wholeText).join(", ");
  if (isRecord(value)) {
    return Object.entries(value)
      .map(([name, each]) => `${name}: ${wholeText(each)}`)
      .join("; ");
  }
  return JSON.stringify(value);
}

const namesOf = (records: Records): readonly string[] => [
  ...new Set(records.flatMap((record) => Object.keys(record))),
];

function recordTable(name: string, records: Records): readonly Block[] {
  const shown = records.slice(0, MOST_FIELDS);
  const names = namesOf(shown).slice(0, MOST_COLUMNS);
  const columns = names.map((title): ColumnOf<Records[number]> => [
    title,
    ({ [title]: value }) => (value === null || value === undefined ? null : valueText(value)),
    WORDS,
  ]);
  const label = `${name}: ${formatCount(records.length)}`;
  return [{ kind: "line", text: label }, tableOf(shown, columns)];
}

const bindingTable = (output: unknown, bindings: readonly StoredBinding[]): Block =>
  tableOf(bindings, [
    ["Field", ({ pointer }) => fieldName(pointer, output), NAME],
    ["Value", ({ value }) => (value === null ? null : valueText(value)), WORDS],
    ["Grade", ({ grade }) => grade],
    ["What stands there", whatStandsThere, WORDS],
    ["Where", bindingPlace],
    ...(bindings.some(({ decision }) => decision !== null)
      ? ([["Decided", decisionText, WORDS]] as const)
      : []),
  ]);

/** `corrected to 149.32 by ada: the second page`; null without a decision. */
export function decisionText(field: DecidedField): string | null {
  const { decision, correction, decision_reason: reason, decided_by: by } = field;
  if (decision === null) return null;
  const to = correction === null ? "" : ` to ${valueText(correction)}`;
  return `${decision}${to} by ${by ?? ""}${reason === null ? "" : `: ${reason}`}`;
}

/**
 * `/items/0/price` is the price of the first item: `items 1 price`.
 * @param output the value that the pointer is of, where it is known: a name of digits in a record is no index
 */
export function fieldName(pointer: string, output: unknown = null): string {
  // The value of an extraction is a record.
  let within: unknown = output ?? {};
  const names = pointer
    .split("/")
    .slice(1)
    .map((part) => {
      const name = unescapePointer(part);
      const isIndex = /^\d+$/.test(part) && !isRecord(within);
      if (isRecord(within)) within = within[name];
      else within = Array.isArray(within) ? within[Number(part)] : null;
      return isIndex ? formatCount(Number(part) + 1) : name;
    });
  return names.join(" ");
}

function whatStandsThere(binding: StoredBinding): string | null {
  const { quote, reason, doubt, judge_detail: judgement } = binding;
  const why = [
    ...(reason === null ? [] : [unboundText(reason, doubt)]),
    ...(judgement === null ? [] : [judgement]),
  ];
  return [...(quote === null ? [] : [cut(quote)]), ...why].join("; ") || null;
}

/** Why a value lacks certain support in the document, and how OCR read its figure. */
export function unboundText(reason: string, doubt: StoredBinding["doubt"]): string {
  const why = UNBOUND_WORDS[reason] ?? reason;
  return doubt === null ? why : `${why}: ${doubtText(doubt).replace(/\.$/, "")}`;
}

const UNBOUND_WORDS: Readonly<Record<string, string>> = {
  no_quote: "no words of the document were given for it",
  quote_not_found: "its quote does not stand in the document",
  quote_short: "its quote says too little",
  not_in_quote: "its quote does not hold it",
  other_label: "its line names something else",
  reading: "its figure was not read for sure from the picture of its page",
  judge: "an examined model does not find it there",
};

const bindingPlace = ({ path, line_start, line_end }: StoredBinding): Text | null =>
  path === null || line_start === null || line_end === null
    ? null
    : { kind: "place", path, line_start, line_end };
