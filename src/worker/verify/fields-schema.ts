import { escapePointer, isRecord, unescapePointer } from "../../shared/schema/json-value.ts";

/** The result of an extraction: JSON that fits its schema. */
export type Fields = Readonly<Record<string, unknown>>;

/** A JSON schema that was checked when it was queued. */
export type FieldsSchema = Readonly<Record<string, unknown>>;

/** The JSON pointer of an object's member, below the pointer of the object. */
export const memberPointer = (pointer: string, name: string): string =>
  `${pointer}/${escapePointer(name)}`;

/** The schemas of an object's member. */
export const membersOf = (schemas: readonly FieldsSchema[], name: string): FieldsSchema[] =>
  schemas.flatMap(({ properties }) => memberOf(properties, name));

const memberOf = (properties: unknown, name: string): FieldsSchema[] => {
  const schema = isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : null;
  return isRecord(schema) ? [schema] : [];
};

/** The schema, and all schemas that it references or combines. References never form a cycle: the queue refuses those. */
export function unfold(schema: FieldsSchema, root: FieldsSchema): FieldsSchema[] {
  const { $ref: reference } = schema;
  const joined = ["allOf", "anyOf", "oneOf"].flatMap((keyword) => {
    const schemas = schema[keyword];
    return Array.isArray(schemas) ? schemas.filter(isRecord) : [];
  });
  const target = typeof reference === "string" ? targetOf(reference, root) : null;
  const further = target === null ? joined : [target, ...joined];
  return [schema, ...further.flatMap((one) => unfold(one, root))];
}

/** Whether a schema names null among its types or values, and no other part of it excludes null. */
export const allowsNull = (schema: FieldsSchema, root: FieldsSchema): boolean =>
  acceptsNull(schema, root) &&
  unfold(schema, root).some(
    (one) => one["const"] === null || isListed(one["type"], "null") || isListed(one["enum"], null),
  );

function acceptsNull(schema: FieldsSchema, root: FieldsSchema): boolean {
  const { type = "null", enum: members = null, const: only = null, $ref: reference } = schema;
  const target = typeof reference === "string" ? targetOf(reference, root) : null;
  const [all = [], ...choices] = ["allOf", "anyOf", "oneOf"].map((keyword) => {
    const parts = schema[keyword];
    return Array.isArray(parts) ? parts.filter(isRecord).map((one) => acceptsNull(one, root)) : [];
  });
  return (
    [isListed(type, "null"), isListed(members, null), only === null, ...all].every(Boolean) &&
    choices.every((each) => each.length === 0 || each.includes(true)) &&
    (target === null || acceptsNull(target, root))
  );
}

const isListed = (given: unknown, value: unknown): boolean => [given].flat().includes(value);

function targetOf(reference: string, root: FieldsSchema): FieldsSchema | null {
  const target = reference
    .slice(2)
    .split("/")
    .map((step) => unescapePointer(decodeURIComponent(step)))
    .reduce<unknown>((at, name) => (isRecord(at) ? at[name] : undefined), root);
  return isRecord(target) ? target : null;
}

/** Keywords that hosts turn into a grammar. Only our check uses the others, because hosts differ in which they refuse. */
const KEPT: ReadonlySet<string> = new Set([
  "type",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "enum",
  "const",
  "anyOf",
  "oneOf",
  "allOf",
  "$ref",
  "$defs",
  "definitions",
]);
/** Keywords whose members have names of the user, not keywords. */
const NAMED: ReadonlySet<string> = new Set(["properties", "$defs", "definitions"]);

/** The part of a schema that a host enforces: its shape, without patterns, lengths and annotations. */
export const enforcedSchema = (schema: FieldsSchema): FieldsSchema =>
  Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword]) => KEPT.has(keyword))
      .map(([keyword, value]) => [keyword, constrainKeyword(keyword, value)]),
  );

function constrainKeyword(keyword: string, value: unknown): unknown {
  if (keyword === "enum" || keyword === "const") return value;
  if (Array.isArray(value)) {
    return value.map((one: unknown) => (isRecord(one) ? enforcedSchema(one) : one));
  }
  if (!isRecord(value)) return value;
  if (!NAMED.has(keyword)) return enforcedSchema(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, isRecord(one) ? enforcedSchema(one) : one]),
  );
}
