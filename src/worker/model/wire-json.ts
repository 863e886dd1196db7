import { isRecord, parseJson } from "../../shared/json-value.ts";

/** An object as a host wrote it: nothing of it is checked yet. */
export type Wire = Readonly<Record<string, unknown>>;

/** The JSON object of a text; null where it is none. */
export function parseWire(text: string): Wire | null {
  const value = parseJson(text);
  return isRecord(value) ? value : null;
}

export const textAt = (wire: Wire | null | undefined, key: string): string | null => {
  const value = wire?.[key];
  return typeof value === "string" && value !== "" ? value : null;
};

export const wireAt = (wire: Wire | null | undefined, key: string): Wire | null => {
  const value = wire?.[key];
  return isRecord(value) ? value : null;
};

/** The objects of a list; none where there is no list. */
export const wiresAt = (wire: Wire | null | undefined, key: string): readonly Wire[] => {
  const value = wire?.[key];
  return Array.isArray(value) ? value.filter(isRecord) : [];
};

/** The largest count that a column of the database takes. */
const MAX_COUNT = 2_147_483_647;

/** A whole number from 0; 0 where there is none, because Go leaves zeros out, and where it can't be one. */
export const countAt = (wire: Wire | null | undefined, key: string): number => {
  const value = wire?.[key];
  const isCount = Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= MAX_COUNT;
  return isCount ? Number(value) : 0;
};
