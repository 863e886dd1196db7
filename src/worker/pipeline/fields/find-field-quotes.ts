import { isRecord } from "../../../shared/json-value.ts";
import type { Fields, FieldsSchema } from "./fields.ts";

/** A quote in the fields of an extraction. `path` is a JSON pointer. */
export type FieldQuote = { readonly path: string; readonly quote: string };

/**
 * The quotes among fields, in their order: every text under a property that is called `quote`, and every one under a
 * property whose schema says `"x-quote": true`.
 */
export function findFieldQuotes(fields: Fields, schema: FieldsSchema): FieldQuote[] {
  const found: FieldQuote[] = [];
  collect(fields, { schemas: [schema], root: schema, path: "", isQuote: false, found });
  return found;
}

type Place = {
  /** All schemas that speak of the value. */
  readonly schemas: readonly FieldsSchema[];
  readonly root: FieldsSchema;
  readonly path: string;
  readonly isQuote: boolean;
  readonly found: FieldQuote[];
};

function collect(value: unknown, place: Place): void {
  const schemas = place.schemas.flatMap((schema) => unfolded(schema, place.root));
  const isQuote = place.isQuote || schemas.some((schema) => schema["x-quote"] === true);
  if (typeof value === "string") {
    if (isQuote) place.found.push({ path: place.path, quote: value });
  } else if (Array.isArray(value)) {
    const items = schemas.flatMap(({ items: one }) => (isRecord(one) ? [one] : []));
    for (const [index, item] of value.entries()) {
      collect(item, { ...place, schemas: items, isQuote, path: `${place.path}/${String(index)}` });
    }
  } else if (isRecord(value)) {
    for (const [name, member] of Object.entries(value)) {
      const path = `${place.path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      const schemasOf = schemas.flatMap(({ properties }) => memberOf(properties, name));
      collect(member, { ...place, schemas: schemasOf, isQuote: name === "quote", path });
    }
  }
}

const memberOf = (properties: unknown, name: string): FieldsSchema[] => {
  const schema = isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : null;
  return isRecord(schema) ? [schema] : [];
};

/** The schema itself, and all that it takes together: references never lead back to where they came from. */
function unfolded(schema: FieldsSchema, root: FieldsSchema): FieldsSchema[] {
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
