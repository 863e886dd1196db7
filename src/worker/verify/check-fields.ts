import { Failure } from "../../shared/failure.ts";
import { schemaCompiler } from "../json-schema.ts";
import type { SchemaCompiler, SchemaFault } from "../json-schema.ts";
import { isRecord } from "../../shared/schema/json-value.ts";
import { WorkTooLong } from "../offload/offload.ts";
import type { Offload, PureWork } from "../offload/offload.ts";
import { fieldValues, pairQuotes, plainFields } from "./bindings/quoted-fields.ts";
import type { FieldValue } from "./bindings/quoted-fields.ts";
import { memberPointer, membersOf, unfold } from "./fields-schema.ts";
import type { Fields, FieldsSchema } from "./fields-schema.ts";

/** The fields of a reply, their faults by the schema, and, if there are none, their quotes and values. */
export type CheckedFields = {
  readonly faults: readonly SchemaFault[];
  /** In the form of the schema. */
  readonly fields: Fields;
  /** With quotes beside the values. */
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
 * Checks by one of our own schemas, whose work depends only on the size of the fields.
 * @param judged names of the fields that the model chooses or words
 */
export async function checkByPreset(
  schema: FieldsSchema,
  compile: SchemaCompiler,
  judged: ReadonlySet<string>,
): Promise<CheckFields> {
  const validate = await compile(schema);
  return async (given) => inspect(given, schema, validate, judged);
}

/** Reading and checking take milliseconds: only hostile input takes this long. */
const LONGEST_CHECK_MS = 10_000;

/**
 * Checks by a user's schema. The check runs in a thread, because such a schema may require much work (items that must all
 * differ, alternatives within alternatives). A check that exceeds its time or memory is a fault of the fields.
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
  return inspect(given, schema, validate, new Set());
}

const CHECK_FIELDS: PureWork<Checkable, CheckedFields> = {
  home: import.meta.url,
  run: checkFields,
};

function inspect(
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

/** The quotes among fields, in order: every text under a property named `quote`, or whose schema has `"x-quote": true`. */
export function findFieldQuotes(fields: Fields, schema: FieldsSchema): FieldQuote[] {
  const found: FieldQuote[] = [];
  collect(fields, { schemas: [schema], root: schema, path: "", isQuote: false, found });
  return found;
}

type ValueContext = {
  /** All schemas of the value. */
  readonly schemas: readonly FieldsSchema[];
  readonly root: FieldsSchema;
  readonly path: string;
  readonly isQuote: boolean;
  readonly found: FieldQuote[];
};

function collect(value: unknown, place: ValueContext): void {
  const schemas = place.schemas.flatMap((schema) => unfold(schema, place.root));
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
      const path = memberPointer(place.path, name);
      const schemasOf = membersOf(schemas, name);
      collect(member, { ...place, schemas: schemasOf, isQuote: name === "quote", path });
    }
  }
}
