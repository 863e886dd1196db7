import { isRecord } from "../../../shared/schema/json-value.ts";
import { allowsNull, memberPointer, membersOf, unfold } from "../fields-schema.ts";
import type { Fields, FieldsSchema } from "../fields-schema.ts";
import { isDate } from "./figures-in.ts";
import type { FigureType } from "./labels.ts";

/** Keywords whose value is one schema, a list of schemas, or schemas by name. */
const OF_PARTS = ["items", "additionalProperties", "contains"] as const;
const LISTS = ["prefixItems", "anyOf", "oneOf", "allOf"] as const;
const BY_NAME = ["properties", "patternProperties", "$defs", "definitions"] as const;

/**
 * Wraps a user's schema for the request to a model: each single value becomes `{value, quote}`, where the quote may be null.
 * Quote properties of the schema itself stay unchanged.
 */
export function wrapSchema(schema: FieldsSchema): FieldsSchema {
  if (isLeafSchema(schema)) {
    return {
      type: "object",
      properties: { value: schema, quote: { type: ["string", "null"] } },
      required: ["value", "quote"],
      additionalProperties: false,
    };
  }
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, wrapKeyword(keyword, value)]),
  );
}

function wrapKeyword(keyword: string, value: unknown): unknown {
  if (isOneOf(OF_PARTS, keyword)) return isRecord(value) ? wrapSchema(value) : value;
  if (isOneOf(LISTS, keyword)) {
    return Array.isArray(value)
      ? value.map((one: unknown) => (isRecord(one) ? wrapSchema(one) : one))
      : value;
  }
  if (!isOneOf(BY_NAME, keyword) || !isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      isRecord(one) && !(keyword === "properties" && isQuoteIn(name, [one]))
        ? wrapSchema(one)
        : one,
    ]),
  );
}

const isOneOf = (keywords: readonly string[], keyword: string): boolean =>
  keywords.includes(keyword);

const COMPOSITE = new Set<string>([...OF_PARTS, ...LISTS, ...BY_NAME, "$ref", "required"]);

/** Whether a schema is for a text, number, boolean or null: by its type, else by its keywords. */
function isLeafSchema(schema: FieldsSchema): boolean {
  const { type } = schema;
  if (type !== undefined) return ![type].flat().some((one) => one === "object" || one === "array");
  return !Object.keys(schema).some((keyword) => COMPOSITE.has(keyword));
}

/** A value with its quote. No field of a user has the key "=". */
type QuotedValue = { readonly "=": unknown; readonly quote: string | null };

export const isQuotedValue = (value: unknown): value is QuotedValue =>
  isRecord(value) && Object.hasOwn(value, "=") && Object.keys(value).length === 2;

type Place = {
  /** All schemas of the value, unfolded. */
  readonly schemas: readonly FieldsSchema[];
  readonly root: FieldsSchema;
  /** The quote that came with a whole list or object. */
  readonly quote: string | null;
};

/**
 * Turns each value of a reply that came with a quote into a `QuotedValue`. A value without a quote, which models also write,
 * stays unchanged. Idempotent.
 */
export function pairQuotes(reply: Fields, schema: FieldsSchema): Fields {
  const paired = pair(reply, { schemas: unfold(schema, schema), root: schema, quote: null });
  return isRecord(paired) ? paired : {};
}

function pair(value: unknown, { schemas, root, quote }: Place): unknown {
  if (isQuotedValue(value)) return value;
  if (isWrapped(value, schemas)) {
    const { quote: own } = value;
    const isGiven = typeof own === "string" && own.trim() !== "";
    return pair(value["value"], { schemas, root, quote: isGiven ? own : null });
  }
  if (Array.isArray(value)) {
    // Unfolded once for all items, because a reply may hold 21,000.
    const items = schemas.flatMap(({ items: one }) => (isRecord(one) ? unfold(one, root) : []));
    return value.map((item) => pair(item, { schemas: items, root, quote }));
  }
  if (isRecord(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => {
        const ofMember = membersOf(schemas, name).flatMap((one) => unfold(one, root));
        const isQuote = isQuoteIn(name, ofMember);
        return [name, isQuote ? member : pair(member, { schemas: ofMember, root, quote })];
      }),
    );
  }
  return quote === null || value === null ? value : { "=": value, quote };
}

const isWrapped = (
  value: unknown,
  schemas: readonly FieldsSchema[],
): value is Record<string, unknown> =>
  isRecord(value) &&
  Object.hasOwn(value, "value") &&
  Object.keys(value).every((key) => key === "value" || key === "quote") &&
  membersOf(schemas, "value").length === 0;

/** Whether a property is a quote: by "x-quote", or by its name, unless it is the figure of a quotation: a price. */
const isQuoteIn = (name: string, schemas: readonly FieldsSchema[]): boolean =>
  schemas.some((one) => one["x-quote"] === true) || (name === "quote" && !schemas.some(isOfFigure));

const isOfFigure = ({ type }: FieldsSchema): boolean =>
  [type].flat().some((one) => one === "number" || one === "integer");

/** The fields in the form of the user's schema, without the quotes of their values. */
export function plainFields(paired: Fields): Fields {
  const plain = withoutQuotes(paired);
  return isRecord(plain) ? plain : {};
}

/** `plainFields` for any part of fields. */
export function withoutQuotes(value: unknown): unknown {
  if (isQuotedValue(value)) return value["="];
  if (Array.isArray(value)) return value.map(withoutQuotes);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutQuotes(one)]));
}

/** A single value of fields, with everything that is needed to compare it with the document. */
export type FieldValue = {
  /** JSON pointer. */
  readonly pointer: string;
  readonly value: string | number | boolean | null;
  /** Items of a list differ by their rows, not by labels. */
  readonly isInList: boolean;
  /** Its own quote. */
  readonly quote: string | null;
  /** The quote of its object, or of an object around that. */
  readonly quoteBeside: string | null;
  /** Name of the field, with title and description from the schema. */
  readonly about: string;
  /** The texts that the schema allows; null where it lists none. */
  readonly options: readonly string[] | null;
  /** How an unsupported value is removed: set to null if the schema allows it, else omitted if it is not required. */
  readonly without: "null" | "omitted" | "kept";
  /** Chosen or worded by the model under our own schemas: it is not requested again. */
  readonly isJudged: boolean;
};

/** A value from options, or worded by the model: its quote gives a reason, and need not contain it. */
export const isChosen = ({ isJudged, options, value }: FieldValue): boolean =>
  isJudged || options !== null || typeof value === "boolean";

export function figureTypeOf({ value }: Pick<FieldValue, "value">): FigureType | null {
  if (typeof value === "number") return "number";
  return typeof value === "string" && isDate(value) ? "date" : null;
}

type Walk = {
  readonly schemas: readonly FieldsSchema[];
  readonly root: FieldsSchema;
  readonly pointer: string;
  readonly name: string;
  readonly quoteBeside: string | null;
  readonly isRequired: boolean;
  readonly isInList: boolean;
  readonly judged: ReadonlySet<string>;
  readonly found: FieldValue[];
};

/** The values of paired fields, in order, without quotes. */
export function fieldValues(
  paired: Fields,
  schema: FieldsSchema,
  judged: ReadonlySet<string> = new Set(),
): FieldValue[] {
  const found: FieldValue[] = [];
  const start = { schemas: [schema], root: schema, pointer: "", name: "", quoteBeside: null };
  walk(paired, { ...start, isRequired: true, isInList: false, judged, found });
  return found;
}

function walk(value: unknown, at: Walk): void {
  const schemas = at.schemas.flatMap((schema) => unfold(schema, at.root));
  if (isQuotedValue(value)) {
    addValue(value["="], value.quote, at, schemas);
  } else if (Array.isArray(value)) {
    const items = schemas.flatMap(({ items: one }) => (isRecord(one) ? [one] : []));
    for (const [index, item] of value.entries()) {
      const pointer = `${at.pointer}/${String(index)}`;
      walk(item, { ...at, schemas: items, pointer, isRequired: false, isInList: true });
    }
  } else if (isRecord(value)) {
    walkObject(value, { ...at, schemas });
  } else {
    addValue(value, null, at, schemas);
  }
}

function walkObject(value: Fields, at: Walk): void {
  const { quote } = value;
  const quoteBeside = typeof quote === "string" ? quote : at.quoteBeside;
  for (const [name, member] of Object.entries(value)) {
    const schemas = membersOf(at.schemas, name);
    const all = schemas.flatMap((schema) => unfold(schema, at.root));
    if (isQuoteIn(name, all)) continue;
    const isRequired = at.schemas.some(
      ({ required }) => Array.isArray(required) && required.includes(name),
    );
    const pointer = memberPointer(at.pointer, name);
    walk(member, { ...at, schemas, pointer, name, quoteBeside, isRequired });
  }
}

function addValue(
  value: unknown,
  quote: string | null,
  at: Walk,
  schemas: readonly FieldsSchema[],
): void {
  const isScalar =
    typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  if (!isScalar && value !== null) return;
  const isNullable = at.schemas.length > 0 && at.schemas.every((one) => allowsNull(one, at.root));
  const descriptions = schemas.flatMap(({ description, title }) => [description, title]);
  at.found.push({
    pointer: at.pointer,
    value: isScalar ? value : null,
    isInList: at.isInList,
    quote,
    quoteBeside: at.quoteBeside,
    about: [at.name, ...descriptions].filter((one) => typeof one === "string").join(" "),
    options: optionsOf(schemas),
    without: isNullable ? "null" : at.isRequired ? "kept" : "omitted",
    isJudged: at.judged.has(at.name),
  });
}

function optionsOf(schemas: readonly FieldsSchema[]): string[] | null {
  const options = schemas.flatMap(({ enum: members, const: only }): readonly unknown[] => [
    ...(Array.isArray(members) ? (members as readonly unknown[]) : []),
    only,
  ]);
  const texts = options.filter((one) => typeof one === "string");
  return texts.length === 0 ? null : texts;
}

/** Removes the values at these pointers from paired fields: sets them to null or omits them. */
export function withoutValues(
  paired: Fields,
  without: ReadonlyMap<string, "null" | "omitted">,
): Fields {
  const left = dropIn(paired, "", without);
  return isRecord(left) ? left : {};
}

function dropIn(
  value: unknown,
  pointer: string,
  without: ReadonlyMap<string, "null" | "omitted">,
): unknown {
  if (without.get(pointer) === "null") return null;
  if (isQuotedValue(value)) return value;
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown, index) => {
      const at = `${pointer}/${String(index)}`;
      return without.get(at) === "omitted" ? [] : [dropIn(item, at, without)];
    });
  }
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const at = memberPointer(pointer, name);
      return without.get(at) === "omitted" ? [] : [[name, dropIn(member, at, without)]];
    }),
  );
}
