import { isRecord } from "../../../shared/json-value.ts";
import type { Fields } from "./fields.ts";

/**
 * The fields of a document from those of its parts, in their order: lists one behind the other, each item once (the same
 * but for its quote is the same); members of objects by name; of other values the first that is there.
 */
export const mergeFields = (parts: readonly Fields[]): Fields =>
  parts.reduce<Fields>((merged, fields) => mergeObjects(merged, fields), {});

function mergeObjects(one: Fields, other: Fields): Fields {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return Object.fromEntries(names.map((name) => [name, mergeValues(one[name], other[name])]));
}

function mergeValues(one: unknown, other: unknown): unknown {
  if (one === undefined || one === null) return isList(other) ? distinct(other) : (other ?? one);
  if (isList(one) && isList(other)) return distinct([...one, ...other]);
  return isRecord(one) && isRecord(other) ? mergeObjects(one, other) : one;
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

function distinct(items: readonly unknown[]): unknown[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const key = keyOf(item);
    return !seen.has(key) && seen.add(key);
  });
}

/** Case and blanks do not make two things of one. */
const keyOf = (item: unknown): string =>
  JSON.stringify(isRecord(item) ? Object.entries({ ...item, quote: null }).sort() : item)
    .toLowerCase()
    .replace(/\s+/g, " ");
