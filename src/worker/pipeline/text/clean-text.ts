import { cleanForDatabase } from "../../../shared/styled-text.ts";

/** The text of a document or a model as a record keeps it. */
export const cleanText = cleanForDatabase;

/** The same for every string in a JSON value; numbers that JSON can't hold become text. */
function cleanJson(value: unknown): unknown {
  if (typeof value === "string") return cleanText(value);
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (Array.isArray(value)) return value.map(cleanJson);
  if (typeof value !== "object" || value === null) return value;
  return cleanRecord(value);
}

export const cleanRecord = (value: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(value).map(([key, member]) => [cleanText(key), cleanJson(member)]),
  );
