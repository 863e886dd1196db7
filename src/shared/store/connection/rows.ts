import { z } from "zod";
import type { Queryable, Rows } from "./database.ts";

/** Runs the statement that it is a tag of. Braces hold parts of its text, and never values: those are its parameters. */
type Ask<T> = (
  texts: TemplateStringsArray,
  ...fragments: readonly (string | number)[]
) => Promise<T>;

/** With which parameters a statement runs; the name of one that runs for each job, as `Queryable` has it. */
type Asked = readonly [db: Queryable, values?: readonly unknown[], name?: string];

const send =
  (...[db, values = [], name]: Asked): Ask<Rows> =>
  (texts, ...fragments) =>
    db.query(texts.map((text, at) => `${text}${fragments[at] ?? ""}`).join(""), values, name);

/** Runs a statement that gives no rows: execute(db, [batchId])`delete from … where batch_id = $1`. */
export const execute =
  (...asked: Asked): Ask<void> =>
  async (...statement) => {
    await send(...asked)(...statement);
  };

/** The number of rows that a statement changed, or found. */
export const countRows =
  (...asked: Asked): Ask<number> =>
  async (...statement) =>
    (await send(...asked)(...statement)).rowCount ?? 0;

/** Whether a statement changed a row, or found one. */
export const anyRow =
  (...asked: Asked): Ask<boolean> =>
  async (...statement) =>
    (await countRows(...asked)(...statement)) > 0;

type AskedRows<Row> = readonly [
  db: Queryable,
  row: z.ZodType<Row>,
  values?: readonly unknown[],
  name?: string,
];

/** The rows of a statement as their schema has them: rowsOf(db, schema, [batchId])`select … where batch_id = $1`. */
export const rowsOf =
  <Row>(...[db, row, values, name]: AskedRows<Row>): Ask<Row[]> =>
  async (...statement) => {
    const { rows } = await send(db, values, name)(...statement);
    return rows.map((each) => row.parse(each));
  };

/** The first row; undefined where there is none. */
export const rowOf =
  <Row>(...asked: AskedRows<Row>): Ask<Row | undefined> =>
  async (...statement) =>
    (await rowsOf(...asked)(...statement))[0];

/** The row of a statement that always gives one. @throws Error for any other number of rows */
export const oneRowOf =
  <Row>(...asked: AskedRows<Row>): Ask<Row> =>
  async (...statement) =>
    onlyOne(await rowsOf(...asked)(...statement));

/** The first column of the rows of a statement. */
export const valuesOf =
  <Value>(...[db, value, values, name]: AskedRows<Value>): Ask<Value[]> =>
  async (...statement) => {
    const { rows } = await send(db, values, name)(...statement);
    return rows.map((row) => value.parse(Object.values(row ?? {})[0]));
  };

/** The first column of the row of a statement that always gives one. @throws Error for any other number of rows */
export const valueOf =
  <Value>(...asked: AskedRows<Value>): Ask<Value> =>
  async (...statement) =>
    onlyOne(await valuesOf(...asked)(...statement));

function onlyOne<T>(rows: readonly T[]): T {
  const [first] = rows;
  if (first === undefined || rows.length > 1) {
    throw new Error(`a statement gave ${rows.length} rows, not one`);
  }
  return first;
}

/** `batchId` of `batch_id`. */
export type Camel<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

type CamelRow<Row> = { [Name in keyof Row as Camel<Name>]: Row[Name] };

/** The name that this program has for a column. */
export const camelName = (column: string): string =>
  column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** A schema of rows whose shape names their columns, and which gives them under the names of this program. */
export const camelRow = <Shape extends z.ZodRawShape>(
  shape: Shape,
): z.ZodType<CamelRow<z.infer<z.ZodObject<Shape>>>> => {
  const names = Object.keys(shape).map((column) => [column, camelName(column)] as const);
  return z.object(shape).transform((row) => {
    const named: Record<string, unknown> = {};
    for (const [column, name] of names) named[name] = Reflect.get(row, column);
    return named as CamelRow<typeof row>;
  });
};
