import type { RunResult } from "../../job/run-result.ts";
import { camelName } from "../connection/rows.ts";
import type { Camel } from "../connection/rows.ts";

export type RunRecord = Omit<RunResult, "outcome">;

/** A table for a part of a run's result. `insert` is a CTE after `job` that reads its rows from a parameter. */
export type RunTable = {
  readonly rowsOf: (record: RunRecord) => readonly object[];
  readonly insert: (parameter: string) => string;
};

type Trimmed<Text> = Text extends ` ${infer Rest}` | `\n${infer Rest}` ? Trimmed<Rest> : Text;

type NamesIn<List> = List extends `${infer Column},${infer Rest}`
  ? NamesIn<Column> | NamesIn<Rest>
  : Trimmed<List> extends `${infer Name} ${string}`
    ? Camel<Name>
    : never;

/** Returns rows for a list of columns, with camel case names. */
type RowsOf<Columns extends string> = (
  record: RunRecord,
) => readonly Readonly<Record<NamesIn<Columns>, unknown>>[];

/** `names`: the columns without types. `rows`: the rows of the parameter, as a table `c`. */
type Insert = (names: string, rows: string) => string;

/** @param columns with their types, such as `ordinal int, kind text`; other properties of a row are ignored */
export function runTable<const Columns extends string>(
  columns: Columns,
  rowsOf: RowsOf<Columns>,
  insert: Insert,
): RunTable {
  const names = columns.split(",").map((column) => column.trim().split(" ", 1)[0] ?? "");
  const pairs = names.map((name) => [name, camelName(name)] as const);
  return {
    rowsOf: (record) =>
      rowsOf(record).map((row: object) =>
        Object.fromEntries(pairs.map(([name, property]) => [name, Reflect.get(row, property)])),
      ),
    insert: (parameter) =>
      insert(names.join(", "), `jsonb_to_recordset(${parameter}) as c (${columns})`),
  };
}

/** A table with rows of the run. */
export const tableOfRun = <const Columns extends string>(
  table: string,
  columns: Columns,
  rowsOf: RowsOf<Columns>,
): RunTable =>
  runTable(
    columns,
    rowsOf,
    (names, rows) => `
${table} as (
  insert into nightdesk_data.${table} (run_id, ${names}) select $1, c.* from job, ${rows})`,
  );

/** A table with rows of the job, which later runs update. @param key columns that identify a row; `changes` can be updated */
export const tableOfJob = <const Columns extends string>(
  table: string,
  columns: Columns,
  { key, changes }: { readonly key: string; readonly changes: readonly string[] },
  rowsOf: RowsOf<Columns>,
): RunTable =>
  runTable(
    columns,
    rowsOf,
    (names, rows) => `
${table} as (
  insert into nightdesk_data.${table} (job_id, ${names}) select job.job_id, c.* from job, ${rows}
  on conflict (job_id, ${key}) do update set ${changes.map((name) => `${name} = excluded.${name}`).join(", ")})`,
  );
