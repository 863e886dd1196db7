import { z } from "zod";
import type { Queryable, Rows } from "./database.ts";

/** Runs the statement in its template. `${…}` inserts parts of the statement's text, never values: those are parameters. */
type StatementTag<T> = (
  texts: TemplateStringsArray,
  ...fragments: readonly (string | number)[]
) => Promise<T>;

/** The parameters of a statement, and its name as in `Queryable`. */
type StatementArgs = readonly [db: Queryable, values?: readonly unknown[], name?: string];

const send =
  (...[db, values = [], name]: StatementArgs): StatementTag<Rows> =>
  (texts, ...fragments) =>
    db.query(texts.map((text, at) => `${text}${fragments[at] ?? ""}`).join(""), values, name);

/** Runs a statement that returns no rows: execute(db, [batchId])`delete from … where batch_id = $1`. */
export const execute =
  (...args: StatementArgs): StatementTag<void> =>
  async (...statement) => {
    await send(...args)(...statement);
  };

/** Runs a statement and returns how many rows it changed or found. */
export const countRows =
  (...args: StatementArgs): StatementTag<number> =>
  async (...statement) =>
    (await send(...args)(...statement)).rowCount ?? 0;

/** Runs a statement and returns whether it changed or found a row. */
export const anyRow =
  (...args: StatementArgs): StatementTag<boolean> =>
  async (...statement) =>
    (await countRows(...args)(...statement)) > 0;

type RowArgs<Row> = readonly [
  db: Queryable,
  row: z.ZodType<Row>,
  values?: readonly unknown[],
  name?: string,
];

/** The rows of a statement, parsed by a schema: rowsOf(db, schema, [batchId])`select … where batch_id = $1`. */
export const rowsOf =
  <Row>(...[db, row, values, name]: RowArgs<Row>): StatementTag<Row[]> =>
  async (...statement) => {
    const { rows } = await send(db, values, name)(...statement);
    return rows.map((each) => row.parse(each));
  };

/** The first row; undefined when there is none. */
export const rowOf =
  <Row>(...args: RowArgs<Row>): StatementTag<Row | undefined> =>
  async (...statement) =>
    (await rowsOf(...args)(...statement))[0];

/** The row of a statement that always returns one. @throws Error for any other number of rows */
export const oneRowOf =
  <Row>(...args: RowArgs<Row>): StatementTag<Row> =>
  async (...statement) =>
    onlyOne(await rowsOf(...args)(...statement));

/** The first column of each row. */
export const valuesOf =
  <Value>(...[db, value, values, name]: RowArgs<Value>): StatementTag<Value[]> =>
  async (...statement) => {
    const { rows } = await send(db, values, name)(...statement);
    return rows.map((row) => value.parse(Object.values(row ?? {})[0]));
  };

/** The first column of a statement that always returns one row. @throws Error for any other number of rows */
export const valueOf =
  <Value>(...args: RowArgs<Value>): StatementTag<Value> =>
  async (...statement) =>
    onlyOne(await valuesOf(...args)(...statement));

function onlyOne<T>(rows: readonly T[]): T {
  const [first] = rows;
  if (first === undefined || rows.length > 1) {
    throw new Error(`a statement gave ${rows.length} rows, not one`);
  }
  return first;
}

/** `batch_id` as `batchId`. */
export type Camel<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

type CamelRow<Row> = { [Name in keyof Row as Camel<Name>]: Row[Name] };

/** The name of a column in TypeScript. */
export const camelName = (column: string): string =>
  column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** A schema of rows: the shape names the columns, and the parsed row has them in camel case. */
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
