import { z } from "zod";
import { escapePointer, isRecord } from "../schema/json-value.ts";
import { RUN_GRADES } from "../job/run-result.ts";
import type { Queryable } from "../store/connection/database.ts";
import { rowsOf } from "../store/connection/rows.ts";
import { decidedColumns } from "../store/jobs/field-reviews.ts";
import { decisionText } from "./field-blocks.ts";

/**
 * The extracted fields of a batch as one table with a column for each path to a value. A row is a file, or an item of one
 * list of records.
 */

/** Keys from the root of the fields, or of an item of the list, to a value. */
export type FieldPath = readonly string[];

export type ExtractionShape = {
  readonly columns: readonly FieldPath[];
  /** Names of fields that hold lists of records. */
  readonly lists: readonly string[];
  /** Columns of the items of each list. */
  readonly itemColumns: Readonly<Record<string, readonly FieldPath[]>>;
  /** A sentence, if some fields may have no column. */
  readonly leftOut: string | null;
};

const SAMPLED_RUNS = 200;
const MOST_COLUMNS = 24;
const MOST_LEVELS = 3;

/** The columns of a batch, found in its first 200 extractions; at most 24. */
export async function selectExtractionShape(
  db: Queryable,
  batchId: string,
): Promise<ExtractionShape> {
  const rows = await rowsOf(db, sampleSchema, [batchId])`
     select r.summary from nightdesk_data.jobs j join nightdesk_data.runs r on r.run_id = j.run_id
      where j.batch_id = $1 and ${SUCCEEDED} order by j.seq limit ${SAMPLED_RUNS}`;
  return shapeOf(rows.flatMap(({ summary }) => (isRecord(summary) ? [summary] : [])));
}

// No jsonb_typeof here: the planner assumes that a call such as this one matches one row in 200, and plans badly.
const SUCCEEDED = "j.kind = 'extract' and j.state = 'succeeded' and r.summary is not null";
const sampleSchema = z.object({ summary: z.unknown() });

type Fields = Readonly<Record<string, unknown>>;

const isRecordList = (value: unknown): value is readonly Fields[] =>
  Array.isArray(value) && value.length > 0 && value.every(isRecord);

function shapeOf(samples: readonly Fields[]): ExtractionShape {
  const lists = [
    ...new Set(
      samples.flatMap((fields) =>
        Object.entries(fields).flatMap(([name, value]) => (isRecordList(value) ? [name] : [])),
      ),
    ),
  ];
  const itemsOf = (name: string): readonly Fields[] =>
    samples.flatMap((fields) => (isRecordList(fields[name]) ? fields[name] : []));
  const columns = columnsOf(samples);
  const items = lists.map((name) => [name, columnsOf(itemsOf(name))] as const);
  const tables = [columns, ...items.map(([, own]) => own)];
  const isFull = tables.some(({ length }) => length === MOST_COLUMNS);
  const leftOut = isFull || samples.length === SAMPLED_RUNS ? LEFT_OUT : null;
  return { columns, lists, itemColumns: Object.fromEntries(items), leftOut };
}

const LEFT_OUT = `The columns are at most ${MOST_COLUMNS} fields of the first ${SAMPLED_RUNS} extractions; any others have none.`;

/** Each path once, in the order of first occurrence. */
function columnsOf(samples: readonly Fields[]): readonly FieldPath[] {
  const paths = new Map<string, FieldPath>();
  for (const fields of samples) {
    for (const path of pathsOf(fields, MOST_LEVELS)) paths.set(JSON.stringify(path), path);
  }
  return [...paths.values()].slice(0, MOST_COLUMNS);
}

function pathsOf(fields: Fields, levels: number): readonly FieldPath[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    levels > 1 && isRecord(value) && Object.keys(value).length > 0
      ? pathsOf(value, levels - 1).map((path) => [name, ...path])
      : [[name]],
  );
}

export const valueAt = (fields: unknown, path: FieldPath): unknown =>
  path.reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), fields);

const rowSchema = z.object({
  seq: z.string(),
  run_id: z.string(),
  custom_id: z.string(),
  path: z.string().nullable(),
  grade: z.enum(RUN_GRADES).nullable(),
  /** The number of an item, from 1; 0 for the fields of a whole file. */
  item: z.coerce.number(),
  fields: z.unknown(),
  /** JSON pointers to values that no words of the file support. */
  unbound: z.array(z.string()),
  /** Values with a decision of a person. */
  decided: z.array(z.object({ pointer: z.string(), ...decidedColumns })),
});
export type ExtractionRow = z.infer<typeof rowSchema>;

export type ExtractionOrder = {
  /** Null sorts by the order in which jobs were queued. */
  readonly path: FieldPath | null;
  readonly direction: "asc" | "desc";
};

type ExtractionPage = {
  readonly batchId: string;
  /** The list whose items are the rows; null for one row per file. */
  readonly list: string | null;
  readonly order: ExtractionOrder;
  readonly offset: number;
  readonly limit: number;
};

const MARKS = `array(select f.pointer from nightdesk_data.field_bindings f where f.run_id = p.run_id and (f.state = 'unbound' or f.grade = 'unsupported')) as unbound,
            (select coalesce(jsonb_agg(to_jsonb(f) order by f.ordinal), '[]')
               from nightdesk_data.field_bindings f where f.run_id = p.run_id and f.decision is not null) as decided`;

/** SQL: the fields of a file, or each item of the list $2. */
const rowsOfSummary = (run: string): string => `
     select 0 as item, ${run}.summary as fields where $2::text is null and jsonb_typeof(${run}.summary) = 'object'
      union all
     select i.item, i.fields
       from jsonb_array_elements(case when jsonb_typeof(${run}.summary->$2) = 'array' then ${run}.summary->$2 end)
            with ordinality i (fields, item)`;

/** Matches a number, also one stored as text: numbers sort first, by value, then texts, and missing values last. */
const NUMBER = "'^-?[0-9]{1,15}(\\.[0-9]{1,15})?$'";

export async function selectExtractions(
  db: Queryable,
  { batchId, list, order, offset, limit }: ExtractionPage,
): Promise<readonly ExtractionRow[]> {
  const direction = order.direction === "desc" ? "desc" : "asc";
  const sorted =
    order.path === null ? "" : `number ${direction} nulls last, word ${direction} nulls last, `;
  return rowsOf(db, rowSchema, [batchId, list, order.path ?? [], limit, offset])`
     with page as (
       select j.seq, r.run_id, j.custom_id, j.input->>'path' as path, r.grade, each.item, each.fields, key.value as word,
              case when key.value ~ ${NUMBER} then key.value::numeric end as number
         from nightdesk_data.jobs j
         join nightdesk_data.runs r on r.run_id = j.run_id
        cross join lateral (${rowsOfSummary("r")}) each
        cross join lateral (select each.fields #>> $3::text[] as value) key
        where j.batch_id = $1 and ${SUCCEEDED}
        order by ${sorted}seq, item limit $4 offset $5)
     select p.seq::text, p.run_id, p.custom_id, p.path, p.grade, p.item, p.fields,
            ${MARKS}
       from page p order by ${sorted}p.seq, p.item`;
}

/** All rows of the table in the order in which their jobs were queued, READ_AT_ONCE jobs per page. */
export async function* readExtractions(
  db: Queryable,
  batchId: string,
  list: string | null,
): AsyncGenerator<readonly ExtractionRow[]> {
  for (let after = "0"; ;) {
    const read = await rowsOf(db, rowSchema, [batchId, list, after])`
     with page as (
         select j.seq, r.run_id, j.custom_id, j.input->>'path' as path, r.grade, r.summary
           from nightdesk_data.jobs j join nightdesk_data.runs r on r.run_id = j.run_id
          where j.batch_id = $1 and j.seq > $3::bigint and ${SUCCEEDED} order by j.seq limit ${READ_AT_ONCE})
       select p.seq::text, p.run_id, p.custom_id, p.path, p.grade, each.item, each.fields,
              ${MARKS}
         from page p
         left join lateral (${rowsOfSummary("p")}) each on true
        order by p.seq, each.item`;
    const last = read.at(-1)?.seq;
    if (last === undefined) return;
    // A file with an empty list has a row without fields, so that the next page starts after it.
    yield read.filter(({ fields }) => fields !== null);
    after = last;
  }
}

const READ_AT_ONCE = 1_000;

export const pointerOf = (path: FieldPath): string =>
  path.map((part) => `/${escapePointer(part)}`).join("");

/** The decisions on a value and on the values inside it, and whether any value without a decision lacks supporting words. */
export function marksOf(
  { unbound, decided, item }: ExtractionRow,
  list: string | null,
  path: FieldPath,
): { readonly isUnbound: boolean; readonly decided: string | null } {
  const start = list === null ? [] : [list, String(item - 1)];
  const pointer = pointerOf([...start, ...path]);
  const isIn = (each: string): boolean => each === pointer || each.startsWith(`${pointer}/`);
  const chosen = decided.filter((field) => isIn(field.pointer));
  return {
    isUnbound: unbound.some(
      (each) => isIn(each) && !chosen.some((field) => field.pointer === each),
    ),
    decided: chosen.map(decisionText).join("; ") || null,
  };
}
