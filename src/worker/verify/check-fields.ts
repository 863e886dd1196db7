import { Failure } from "../../shared/failure.ts";
import { schemaCompiler } from "../json-schema.ts";
import type { SchemaCompiler, SchemaFault } from "../json-schema.ts";
import { isRecord } from "../../shared/schema/json-value.ts";
import { WorkTooLong } from "../offload/offload.ts";
import type { Offload, PureWork } from "../offload/offload.ts";
import { fieldValues, pairQuotes, plainFields } from "./bindings/quoted-fields.ts";
import type { FieldValue } from "./bindings/quoted-fields.ts";
import { membersOf, unfolded } from "./fields-schema.ts";
import type { Fields, FieldsSchema } from "./fields-schema.ts";

/** Fields as they were given, what is wrong with them by their schema, and what is in them where nothing is. */
export type CheckedFields = {
  readonly faults: readonly SchemaFault[];
  /** As the schema means them. */
  readonly fields: Fields;
  /** The same with the quotes beside their values. */
  readonly paired: Fields;
  readonly quotes: readonly FieldQuote[];
  readonly values: readonly FieldValue[];
};

/**
 * @param given with quotes beside the values, or without
 * @throws the signal's reason
 */
export type CheckFields = (given: Fields, signal: AbortSignal) => Promise<CheckedFields>;

/**
 * By a schema of our own, whose work grows with the fields alone.
 * @param judged names of the fields that the model chooses or words
 */
export async function checkByPreset(
  schema: FieldsSchema,
  compile: SchemaCompiler,
  judged: ReadonlySet<string>,
): Promise<CheckFields> {
  const validate = await compile(schema);
  return async (given) => checked(given, schema, validate, judged);
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
  async (given, signal) => {
    try {
      return await offload(
        CHECK_FIELDS,
        { given, schema },
        { chars: 0, place: "thread", limitMs: LONGEST_CHECK_MS, signal },
      );
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== "TOOL_ERROR") throw error;
      const limit =
        error instanceof WorkTooLong ? `${LONGEST_CHECK_MS / 1000} s` : "the memory that it may";
      const message = `checking it against the schema takes more than ${limit}: the schema asks for too much work, or the reply is too long`;
      const faults = [{ path: "/", message }];
      return { faults, fields: {}, paired: {}, quotes: [], values: [] };
    }
  };

type Checkable = { readonly given: Fields; readonly schema: FieldsSchema };

export async function checkFields({ given, schema }: Checkable): Promise<CheckedFields> {
  const validate = await schemaCompiler()(schema);
  return checked(given, schema, validate, new Set());
}

const CHECK_FIELDS: PureWork<Checkable, CheckedFields> = {
  home: import.meta.url,
  run: checkFields,
};

function checked(
  given: Fields,
  schema: FieldsSchema,
  validate: (fields: Fields) => readonly SchemaFault[],
  judged: ReadonlySet<string>,
): CheckedFields {
  const paired = pairQuotes(given, schema);
  const fields = plainFields(paired);
  const faults = validate(fields);
  if (faults.length > 0) return { faults, fields, paired, quotes: [], values: [] };
  const quotes = findFieldQuotes(fields, schema);
  return { faults, fields, paired, quotes, values: fieldValues(paired, schema, judged) };
}

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
      const schemasOf = membersOf(schemas, name);
      collect(member, { ...place, schemas: schemasOf, isQuote: name === "quote", path });
    }
  }
}
