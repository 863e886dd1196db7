import { isRecord } from "../../../shared/json-value.ts";
import type { FieldsSchema } from "./fields.ts";

const ASKS_FOR_ALL: ReadonlySet<string> = new Set([
  "required",
  "minProperties",
  "dependentRequired",
  "minItems",
]);

/**
 * The schema for a part of a document: what the whole must have, a part need not, so that nobody has to invent it. Items
 * of a list are asked for whole.
 */
export const relaxSchema = (schema: FieldsSchema): FieldsSchema =>
  Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword]) => !ASKS_FOR_ALL.has(keyword))
      .map(([keyword, value]) => [
        keyword,
        keyword === "properties" && isRecord(value) ? relaxMembers(value) : value,
      ]),
  );

const relaxMembers = (properties: FieldsSchema): FieldsSchema =>
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      isRecord(schema) ? relaxSchema(schema) : schema,
    ]),
  );
