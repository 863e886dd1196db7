import { Failure } from "../../../shared/failure.ts";
import { schemaCompiler } from "../../../shared/json-schema.ts";
import type { SchemaCompiler, SchemaFault } from "../../../shared/json-schema.ts";
import type { Aside } from "../../aside/aside.ts";
import { WorkTooLong } from "../../aside/open-thread.ts";
import type { PureWork } from "../../aside/open-thread.ts";
import type { Fields, FieldsSchema } from "./fields.ts";
import { findFieldQuotes } from "./find-field-quotes.ts";
import type { FieldQuote } from "./find-field-quotes.ts";

/** What is wrong with fields by their schema, and the quotes in them where nothing is. */
export type CheckedFields = {
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
  (schema: FieldsSchema, offload: Aside): CheckFields =>
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
