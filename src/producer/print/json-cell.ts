import type { ReaderColumn } from "../../shared/db/reader-sql.ts";
import { formatInZone, offsetAt } from "../../shared/zoned-time.ts";

/** OIDs of pg_type. */
const BOOL = 16;
const INTEGERS = [20, 21, 23, 26];
const FLOATS = [700, 701];
const NUMERIC = 1700;
const JSON_TYPES = [114, 3802];
const TIMESTAMPTZ = 1184;
const TIMESTAMP = 1114;

/**
 * The JSON of a value that came as the server's text. A number that a double would change stays a text, a time is
 * ISO 8601, and `json` keeps its own form.
 */
export function jsonCell(value: string | null, typeId: number): string {
  if (value === null) return "null";
  if (typeId === BOOL) return value === "t" ? "true" : "false";
  if (INTEGERS.includes(typeId))
    return Number.isSafeInteger(Number(value)) ? value : JSON.stringify(value);
  if (FLOATS.includes(typeId) && Number.isFinite(Number(value))) return String(Number(value));
  if (typeId === NUMERIC && isExact(value)) return String(Number(value));
  if (JSON_TYPES.includes(typeId)) return oneLine(value);
  return JSON.stringify(isoTime(value, typeId));
}

/** Whether a double holds the number as it is written, apart from zeros at its end. */
function isExact(value: string): boolean {
  const written = value.includes(".") ? value.replace(/\.?0+$/, "") : value;
  return String(Number(value)) === written && Number.isFinite(Number(value));
}

/** Line feeds stand only between the tokens of JSON: in its texts they are escaped. */
const oneLine = (json: string): string => json.replace(/\s*[\r\n]+\s*/g, " ");

/** Times as another reader takes them; `infinity` stays. The reader's session is in UTC. */
export function isoTime(value: string, typeId: number): string {
  if (!/^\d{4,}-\d\d-\d\d \d\d:/.test(value)) return value;
  if (typeId === TIMESTAMPTZ) return `${value.replace(" ", "T").replace(/\+00$/, "")}Z`;
  return typeId === TIMESTAMP ? value.replace(" ", "T") : value;
}

/**
 * A time with a zone, as `isoTime` gives it, by the clocks of a zone and so that Postgres takes it back:
 * `2026-11-21 23:04:11.25+01:00`. Anything else stays.
 */
export function localTime(value: string, typeId: number, zone: string): string {
  const time = new Date(value);
  if (typeId !== TIMESTAMPTZ || Number.isNaN(time.getTime())) return value;
  const fraction = /\.\d+/.exec(value)?.[0] ?? "";
  return `${formatInZone(time, zone, "seconds").slice(0, 19)}${fraction}${offsetAt(time, zone)}`;
}

/** Keys of a row's object: a name that comes a second time gets a number. */
export function keysOf(columns: readonly ReaderColumn[]): readonly string[] {
  const used = new Set<string>();
  return columns.map(({ name }) => {
    let key = name;
    for (let again = 2; used.has(key); again += 1) key = `${name}_${again}`;
    used.add(key);
    return key;
  });
}

export const isNumeric = ({ typeId }: ReaderColumn): boolean =>
  [...INTEGERS, ...FLOATS, NUMERIC].includes(typeId);
