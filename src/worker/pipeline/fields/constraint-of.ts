import { isRecord } from "../../../shared/json-value.ts";
import type { FieldsSchema } from "./fields.ts";

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
