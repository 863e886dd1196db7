import { isRecord } from "../../shared/json-value.ts";

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
