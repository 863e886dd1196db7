import { isRecord } from "../../../shared/json-value.ts";
import type { Fields } from "./fields.ts";

/**
 * The fields of a document from those of its parts, in their order: lists one behind the other, each item once (the same
 * but for its quote is the same); members of objects by name; of other values the first that is there. Linear in all of
 * them.
 */
export function mergeFields(parts: readonly Fields[]): Fields {
  const byName = new Map<string, unknown[]>();
  for (const fields of parts) {
    for (const [name, value] of Object.entries(fields)) {
      const values = byName.get(name);
      if (values === undefined) byName.set(name, [value]);
      else values.push(value);
    }
  }
  return Object.fromEntries([...byName].map(([name, values]) => [name, mergeValues(values)]));
}

/** What the first value that is there is decides about those after it. */
function mergeValues(values: readonly unknown[]): unknown {
  const first = values.find((value) => value !== undefined && value !== null);
  if (isList(first)) return distinct(values.filter(isList).flat());
  const records = isRecord(first) ? values.filter(isRecord) : [];
  return records.length > 1 ? mergeFields(records) : (first ?? null);
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
