/** What may stand behind a keyword of a JSON schema. */
export type Shape =
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

/** The keywords of JSON Schema 2020-12 that are taken, and those of earlier drafts that mean the same. */
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

export const SCHEMA_TYPES: readonly string[] = [
  "string",
  "number",
  "integer",
  "boolean",
  "object",
  "array",
  "null",
];
