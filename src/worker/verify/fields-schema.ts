import { isRecord } from "../../shared/schema/json-value.ts";

/** What an extraction gave: JSON that fits its schema. */
export type Fields = Readonly<Record<string, unknown>>;

/** A JSON schema that was checked when it was queued. */
export type FieldsSchema = Readonly<Record<string, unknown>>;

/** What schemas say of the member of an object. */
export const membersOf = (schemas: readonly FieldsSchema[], name: string): FieldsSchema[] =>
  schemas.flatMap(({ properties }) => memberOf(properties, name));

const memberOf = (properties: unknown, name: string): FieldsSchema[] => {
  const schema = isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : null;
  return isRecord(schema) ? [schema] : [];
};

/** The schema itself, and all that it takes together: references never lead back to where they came from. */
export function unfolded(schema: FieldsSchema, root: FieldsSchema): FieldsSchema[] {
  const { $ref: reference } = schema;
  const joined = ["allOf", "anyOf", "oneOf"].flatMap((keyword) => {
    const schemas = schema[keyword];
    return Array.isArray(schemas) ? schemas.filter(isRecord) : [];
  });
  const target = typeof reference === "string" ? targetOf(reference, root) : null;
  const further = target === null ? joined : [target, ...joined];
  return [schema, ...further.flatMap((one) => unfolded(one, root))];
}

function targetOf(reference: string, root: FieldsSchema): FieldsSchema | null {
  const target = reference
    .slice(2)
    .split("/")
    .map((step) => decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((at, name) => (isRecord(at) ? at[name] : undefined), root);
  return isRecord(target) ? target : null;
}

/** Keywords that hosts make a grammar of. Others are left to the check: hosts differ in which they refuse. */
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
/** Their members are called by names of the user, not by keywords. */
const NAMED: ReadonlySet<string> = new Set(["properties", "$defs", "definitions"]);

/** The schema as a host is asked to hold a reply to: its shape, without patterns, lengths and annotations. */
export const constraintOf = (schema: FieldsSchema): FieldsSchema =>
  Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword]) => KEPT.has(keyword))
      .map(([keyword, value]) => [keyword, constrained(keyword, value)]),
  );

function constrained(keyword: string, value: unknown): unknown {
  if (keyword === "enum" || keyword === "const") return value;
  if (Array.isArray(value)) {
    return value.map((one: unknown) => (isRecord(one) ? constraintOf(one) : one));
  }
  if (!isRecord(value)) return value;
  if (!NAMED.has(keyword)) return constraintOf(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, isRecord(one) ? constraintOf(one) : one]),
  );
}
