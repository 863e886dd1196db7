import type { RunResult } from "../../job/run-result.ts";
import { camelName } from "../connection/rows.ts";
import type { Camel } from "../connection/rows.ts";

export type RunRecord = Omit<RunResult, "outcome">;

/** A table of what a run leaves behind. Its insert comes after `job`, and takes its rows from the parameter that it is given. */
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

/** The rows of a list of columns, under the names of this program. */
type RowsOf<Columns extends string> = (
  record: RunRecord,
) => readonly Readonly<Record<NamesIn<Columns>, unknown>>[];

/** `names`: the columns alone. `given`: the rows of the parameter, as a table `c`. */
type Insert = (names: string, given: string) => string;

/** @param columns with their types, such as `ordinal int, kind text`; a row has more than is stored of it */
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

/** Rows of the run. */
export const tableOfRun = <const Columns extends string>(
  table: string,
  columns: Columns,
  rowsOf: RowsOf<Columns>,
): RunTable =>
  runTable(
    columns,
    rowsOf,
    (names, given) => `
${table} as (
  insert into nightdesk_data.${table} (run_id, ${names}) select $1, c.* from job, ${given})`,
  );

/** Rows of the job, of which a later run writes what has become of them. @param key with the job; the other columns that may change */
export const tableOfJob = <const Columns extends string>(
  table: string,
  columns: Columns,
  { key, changes }: { readonly key: string; readonly changes: readonly string[] },
  rowsOf: RowsOf<Columns>,
): RunTable =>
  runTable(
    columns,
    rowsOf,
    (names, given) => `
${table} as (
  insert into nightdesk_data.${table} (job_id, ${names}) select job.job_id, c.* from job, ${given}
  on conflict (job_id, ${key}) do update set ${changes.map((name) => `${name} = excluded.${name}`).join(", ")})`,
  );
