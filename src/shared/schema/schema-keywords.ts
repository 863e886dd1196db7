import { isRecord } from "./json-value.ts";

/** The type of a JSON schema keyword's value. */
type Shape =
  | "schema"
  | "schemas"
  | "schema list"
  | "schemas by pattern"
  | "types"
  | "names"
  | "list"
  | "names by name"
  | "text"
  | "pattern"
  | "reference"
  | "count"
  | "number"
  | "positive number"
  | "flag"
  | "anything";

/** Supported keywords of JSON Schema 2020-12, and keywords of earlier drafts with the same meaning. */
export const SCHEMA_KEYWORDS: Readonly<Record<string, Shape>> = {
  type: "types",
  enum: "list",
  const: "anything",
  nullable: "flag",
  properties: "schemas",
  required: "names",
  additionalProperties: "schema",
  patternProperties: "schemas by pattern",
  propertyNames: "schema",
  minProperties: "count",
  maxProperties: "count",
  dependentRequired: "names by name",
  items: "schema",
  prefixItems: "schema list",
  contains: "schema",
  minContains: "count",
  maxContains: "count",
  minItems: "count",
  maxItems: "count",
  uniqueItems: "flag",
  minLength: "count",
  maxLength: "count",
  pattern: "pattern",
  format: "text",
  minimum: "number",
  maximum: "number",
  exclusiveMinimum: "number",
  exclusiveMaximum: "number",
  multipleOf: "positive number",
  allOf: "schema list",
  anyOf: "schema list",
  oneOf: "schema list",
  not: "schema",
  if: "schema",
  then: "schema",
  else: "schema",
  $ref: "reference",
  $defs: "schemas",
  definitions: "schemas",
  $schema: "text",
  $comment: "text",
  title: "text",
  description: "text",
  default: "anything",
  example: "anything",
  examples: "anything",
  deprecated: "flag",
  readOnly: "flag",
  writeOnly: "flag",
};

const SCHEMA_TYPES: readonly string[] = [
  "string",
  "number",
  "integer",
  "boolean",
  "object",
  "array",
  "null",
];

type PlainShape = Exclude<
  Shape,
  "schema" | "schemas" | "schemas by pattern" | "schema list" | "pattern"
>;

/** The fault of a keyword whose value contains no schema, as a clause; undefined when the value is valid. */
export function keywordFault(shape: PlainShape, value: unknown): string | undefined {
  switch (shape) {
    case "anything":
      return undefined;
    case "types":
      return namesOf(value).every((name) => SCHEMA_TYPES.includes(name)) &&
        namesOf(value).length > 0
        ? undefined
        : `must be one of ${SCHEMA_TYPES.join(", ")}, or a list of them`;
    case "reference":
      return typeof value === "string" && /^#\/./.test(value)
        ? undefined
        : 'must lead to a place in the same schema, as "#/$defs/name" does';
    case "names by name":
      return isRecord(value) && Object.values(value).every(isNames)
        ? undefined
        : "must be lists of names by name";
    case "names":
    case "list":
    case "text":
    case "count":
    case "number":
    case "positive number":
    case "flag":
      return IS[shape](value) ? undefined : `must be ${WORDS[shape]}`;
  }
}

/** The names in a string or a list of strings; empty for any other value. */
const namesOf = (value: unknown): readonly string[] =>
  typeof value === "string" ? [value] : isNames(value) ? value : [];

const isNames = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((name) => typeof name === "string");

const isNumber = (value: unknown): value is number =>
  typeof value === "number" && Number.isFinite(value);

type SimpleShape = "names" | "list" | "text" | "count" | "number" | "positive number" | "flag";

const IS: Readonly<Record<SimpleShape, (value: unknown) => boolean>> = {
  names: isNames,
  list: (value) => Array.isArray(value) && value.length > 0,
  text: (value) => typeof value === "string",
  count: (value) => Number.isInteger(value) && Number(value) >= 0,
  number: isNumber,
  "positive number": (value) => isNumber(value) && value > 0,
  flag: (value) => typeof value === "boolean",
};

const WORDS: Readonly<Record<SimpleShape, string>> = {
  names: "a list of names",
  list: "a list that is not empty",
  text: "a text",
  count: "a whole number from 0",
  number: "a number",
  "positive number": "a number above 0",
  flag: "true or false",
};
