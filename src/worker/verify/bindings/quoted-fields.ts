import { isRecord } from "../../../shared/schema/json-value.ts";
import { membersOf, unfolded } from "../fields-schema.ts";
import type { Fields, FieldsSchema } from "../fields-schema.ts";
import { isDate } from "./figures-in.ts";
import type { FigureType } from "./labels.ts";

/** Keywords whose schemas speak of parts of the value, one or by name. */
const OF_PARTS = ["items", "additionalProperties", "contains"] as const;
const LISTS = ["prefixItems", "anyOf", "oneOf", "allOf"] as const;
const BY_NAME = ["properties", "patternProperties", "$defs", "definitions"] as const;

/**
 * A schema of the user as a model is asked for it: each single value is `{value, quote}`, where the quote may be null. What
 * the schema itself calls a quote stays as it is.
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
      isRecord(one) && !(keyword === "properties" && isQuoteProperty(name, one))
        ? wrapSchema(one)
        : one,
    ]),
  );
}

const isOneOf = (keywords: readonly string[], keyword: string): boolean =>
  keywords.includes(keyword);

const isQuoteProperty = (name: string, schema: FieldsSchema): boolean =>
  name === "quote" || schema["x-quote"] === true;

const COMPOSITE = new Set<string>([...OF_PARTS, ...LISTS, ...BY_NAME, "$ref", "required"]);

/** Of a text, a number, a truth value or null, by what the schema says of its type, else by the keywords that it has. */
function isLeafSchema(schema: FieldsSchema): boolean {
  const { type } = schema;
  if (type !== undefined) return ![type].flat().some((one) => one === "object" || one === "array");
  return !Object.keys(schema).some((keyword) => COMPOSITE.has(keyword));
}

/** A value of fields with the words that it was given with. Two keys, of which no field of a user has the first. */
type QuotedValue = { readonly "=": unknown; readonly quote: string | null };

export const isQuotedValue = (value: unknown): value is QuotedValue =>
  isRecord(value) && Object.hasOwn(value, "=") && Object.keys(value).length === 2;

type Place = {
  /** All schemas that speak of the value, unfolded. */
  readonly schemas: readonly FieldsSchema[];
  readonly root: FieldsSchema;
  /** Given with a whole list or object. */
  readonly quote: string | null;
};

/**
 * The fields of a reply, each value that came with a quote beside it. A value without one, as models also write it, stays as
 * it is. Does nothing to fields that it made.
 */
export function pairQuotes(reply: Fields, schema: FieldsSchema): Fields {
  const paired = pair(reply, { schemas: unfolded(schema, schema), root: schema, quote: null });
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
    // Once for all items: a reply may hold 21,000.
    const items = schemas.flatMap(({ items: one }) => (isRecord(one) ? unfolded(one, root) : []));
    return value.map((item) => pair(item, { schemas: items, root, quote }));
  }
  if (isRecord(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => {
        const ofMember = membersOf(schemas, name).flatMap((one) => unfolded(one, root));
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

/** @param schemas unfolded */
const isQuoteIn = (name: string, schemas: readonly FieldsSchema[]): boolean =>
  name === "quote" || schemas.some((one) => one["x-quote"] === true);

/** The fields as the user's schema means them: without quotes beside their values. */
export function plainFields(paired: Fields): Fields {
  const plain = unpair(paired);
  return isRecord(plain) ? plain : {};
}

/** The same for what is part of them. */
export function unpair(value: unknown): unknown {
  if (isQuotedValue(value)) return value["="];
  if (Array.isArray(value)) return value.map(unpair);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, unpair(one)]));
}

/** A single value of fields, and what it is held against the document with. */
export type FieldValue = {
  /** JSON pointer. */
  readonly pointer: string;
  readonly value: string | number | boolean | null;
  /** Its own. */
  readonly quote: string | null;
  /** Of the object that it stands in, or of one around it. */
  readonly quoteBeside: string | null;
  /** Name of the field, and what the schema says of it. */
  readonly about: string;
  /** The texts that the schema lets it be; null where it names none. */
  readonly options: readonly string[] | null;
  /** Where nothing carries it: null where the schema takes that, else left out where it need not be there. */
  readonly without: "null" | "omitted" | "kept";
  /** Chosen or worded by the model, by our own schemas: not asked for again. */
  readonly isJudged: boolean;
};

/** Of some options, or worded: its quote says why, and may not say it. */
export const isChosen = ({ isJudged, options, value }: FieldValue): boolean =>
  isJudged || options !== null || typeof value === "boolean";

/** Items of a list are told apart by their rows. */
export const isInList = ({ pointer }: Pick<FieldValue, "pointer">): boolean =>
  /\/\d+(?:\/|$)/.test(pointer);

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
  readonly judged: ReadonlySet<string>;
  readonly found: FieldValue[];
};

/** The values among paired fields, in their order. Quotes are none. */
export function fieldValues(
  paired: Fields,
  schema: FieldsSchema,
  judged: ReadonlySet<string> = new Set(),
): FieldValue[] {
  const found: FieldValue[] = [];
  const start = { schemas: [schema], root: schema, pointer: "", name: "", quoteBeside: null };
  walk(paired, { ...start, isRequired: true, judged, found });
  return found;
}

function walk(value: unknown, at: Walk): void {
  const schemas = at.schemas.flatMap((schema) => unfolded(schema, at.root));
  if (isQuotedValue(value)) {
    addValue(value["="], value.quote, { ...at, schemas });
  } else if (Array.isArray(value)) {
    const items = schemas.flatMap(({ items: one }) => (isRecord(one) ? [one] : []));
    for (const [index, item] of value.entries()) {
      const pointer = `${at.pointer}/${String(index)}`;
      walk(item, { ...at, schemas: items, pointer, isRequired: false });
    }
  } else if (isRecord(value)) {
    walkObject(value, { ...at, schemas });
  } else {
    addValue(value, null, { ...at, schemas });
  }
}

function walkObject(value: Fields, at: Walk): void {
  const { quote } = value;
  const quoteBeside = typeof quote === "string" ? quote : at.quoteBeside;
  for (const [name, member] of Object.entries(value)) {
    const schemas = membersOf(at.schemas, name);
    const all = schemas.flatMap((schema) => unfolded(schema, at.root));
    if (isQuoteIn(name, all)) continue;
    const isRequired = at.schemas.some(
      ({ required }) => Array.isArray(required) && required.includes(name),
    );
    const pointer = `${at.pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    walk(member, { ...at, schemas, pointer, name, quoteBeside, isRequired });
  }
}

function addValue(value: unknown, quote: string | null, at: Walk): void {
  const isScalar =
    typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  if (!isScalar && value !== null) return;
  const descriptions = at.schemas.flatMap(({ description, title }) => [description, title]);
  at.found.push({
    pointer: at.pointer,
    value: isScalar ? value : null,
    quote,
    quoteBeside: at.quoteBeside,
    about: [at.name, ...descriptions].filter((one) => typeof one === "string").join(" "),
    options: optionsOf(at.schemas),
    without: takesNull(at.schemas) ? "null" : at.isRequired ? "kept" : "omitted",
    isJudged: at.judged.has(at.name),
  });
}

const membersOfEnum = ({ enum: members }: FieldsSchema): unknown[][] =>
  Array.isArray(members) ? [[...(members as readonly unknown[])]] : [];

function optionsOf(schemas: readonly FieldsSchema[]): string[] | null {
  const options = schemas.flatMap((schema) => [...membersOfEnum(schema).flat(), schema["const"]]);
  const texts = options.filter((one) => typeof one === "string");
  return texts.length === 0 ? null : texts;
}

const takesNull = (schemas: readonly FieldsSchema[]): boolean => {
  const types = schemas.flatMap(({ type }) => (type === undefined ? [] : [type].flat()));
  return (
    types.includes("null") && schemas.flatMap(membersOfEnum).every((all) => all.includes(null))
  );
};

/** Paired fields without the values at these pointers: null there, or left out. */
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
      const at = `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      return without.get(at) === "omitted" ? [] : [[name, dropIn(member, at, without)]];
    }),
  );
}
