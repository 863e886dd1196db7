import { Failure } from "../../shared/failure.ts";
import { schemaCompiler } from "../../shared/json-schema.ts";
import type { SchemaCompiler, SchemaFault } from "../../shared/json-schema.ts";
import { isRecord } from "../../shared/json-value.ts";
import { WorkTooLong } from "../offload/offload.ts";
import type { Offload, PureWork } from "../offload/offload.ts";

/** What is wrong with fields by their schema, and the quotes in them where nothing is. */
type CheckedFields = {
  readonly faults: readonly SchemaFault[];
  readonly quotes: readonly FieldQuote[];
};

/** @throws the signal's reason */
export type CheckFields = (fields: Fields, signal: AbortSignal) => Promise<CheckedFields>;

/** By a schema of our own, whose work grows with the fields alone. */
export async function checkByPreset(
  schema: FieldsSchema,
  compile: SchemaCompiler,
): Promise<CheckFields> {
  const validate = await compile(schema);
  return async (fields) => checked(fields, schema, validate(fields));
}

/** Reading and checking take milliseconds: what takes so long was made to. */
const LONGEST_CHECK_MS = 10_000;

/**
 * By a schema that somebody wrote. Whatever it asks for (items that must all differ, lists of alternatives in lists of
 * alternatives), the check is done in a thread, and one that takes more time or memory than it may is a fault of
 * the fields, as is any other that they have.
 */
export const checkByUser =
  (schema: FieldsSchema, offload: Offload): CheckFields =>
  async (fields, signal) => {
    try {
      return await offload(
        CHECK_FIELDS,
        { fields, schema },
        { chars: 0, place: "thread", limitMs: LONGEST_CHECK_MS, signal },
      );
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== "TOOL_ERROR") throw error;
      const limit =
        error instanceof WorkTooLong ? `${LONGEST_CHECK_MS / 1000} s` : "the memory that it may";
      const message = `checking it against the schema takes more than ${limit}: the schema asks for too much work, or the reply is too long`;
      return { faults: [{ path: "/", message }], quotes: [] };
    }
  };

type Checkable = { readonly fields: Fields; readonly schema: FieldsSchema };

export async function checkFields({ fields, schema }: Checkable): Promise<CheckedFields> {
  const validate = await schemaCompiler()(schema);
  return checked(fields, schema, validate(fields));
}

const CHECK_FIELDS: PureWork<Checkable, CheckedFields> = {
  home: import.meta.url,
  run: checkFields,
};

const checked = (
  fields: Fields,
  schema: FieldsSchema,
  faults: readonly SchemaFault[],
): CheckedFields => ({
  faults,
  quotes: faults.length === 0 ? findFieldQuotes(fields, schema) : [],
});

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

type ValueContext = {
  /** All schemas that speak of the value. */
  readonly schemas: readonly FieldsSchema[];
  readonly root: FieldsSchema;
  readonly path: string;
  readonly isQuote: boolean;
  readonly found: FieldQuote[];
};

function collect(value: unknown, place: ValueContext): void {
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

/** What an extraction gave: JSON that fits its schema. */
export type Fields = Readonly<Record<string, unknown>>;

/** A JSON schema that was checked when it was queued. */
export type FieldsSchema = Readonly<Record<string, unknown>>;
