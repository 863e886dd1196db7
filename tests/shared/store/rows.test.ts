import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { z } from "zod";
import {
  anyRow,
  camelRow,
  countRows,
  execute,
  oneRowOf,
  rowOf,
  rowsOf,
  valueOf,
  valuesOf,
} from "../../../src/shared/store/connection/rows.ts";
import { describeOnPostgres, openPostgres } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

const numbered = z.object({ n: z.coerce.number() });
const SERIES = "generate_series(1, $1::bigint) n";

let database: TestDatabase;
beforeAll(async () => {
  database = await openPostgres();
});
afterAll(() => database.close());

describeOnPostgres("the rows of a statement", () => {
  test("are as their schema has them, in their order", async () => {
    const { db } = database;
    expect(await rowsOf(db, numbered, [3])`select n, 'x' as other from ${SERIES}`).toEqual([
      { n: 1 },
      { n: 2 },
      { n: 3 },
    ]);
    expect(await rowOf(db, numbered, [2])`select n from ${SERIES} order by n desc`).toEqual({
      n: 2,
    });
    expect(await rowOf(db, numbered, [0])`select n from ${SERIES}`).toBeUndefined();
    expect(await valuesOf(db, z.coerce.number(), [2])`select n from ${SERIES}`).toEqual([1, 2]);
    expect(await valueOf(db, z.coerce.number(), [4])`select sum(n) from ${SERIES}`).toBe(10);
  });

  test("have the names of this program where their schema gives them", async () => {
    const { db } = database;
    const named = camelRow({
      batch_id: z.coerce.number(),
      text_sha256: z.string().nullable(),
      n: z.int(),
    });
    expect(
      await rowsOf(db, named, [2])`
        select n as batch_id, null as text_sha256, 1 as n, 'x' as left_out from ${SERIES}`,
    ).toEqual([
      { batchId: 1, textSha256: null, n: 1 },
      { batchId: 2, textSha256: null, n: 1 },
    ]);
    await expect(rowsOf(db, named, [1])`select n as batch_id from ${SERIES}`).rejects.toThrow(
      /text_sha256/,
    );
  });

  test("are counted where a statement changes them", async () => {
    const { db } = database;
    await db.transaction(async (transaction) => {
      await execute(
        transaction,
      )`create temporary table numbers on commit drop as select n from generate_series(1, 5) n`;
      expect(await countRows(transaction, [3])`update numbers set n = 0 where n <= $1`).toBe(3);
      expect(await countRows(transaction)`delete from numbers where n = 9`).toBe(0);
      expect(await anyRow(transaction)`select from numbers where n = 0`).toBe(true);
      expect(await anyRow(transaction)`delete from numbers where n = 9`).toBe(false);
    });
  });

  test("are refused where they are of another form or number", async () => {
    const { db } = database;
    const texts = z.object({ n: z.boolean() });
    await expect(rowsOf(db, texts, [1])`select n from ${SERIES}`).rejects.toThrow(/boolean/);
    for (const many of [0, 2]) {
      const asked = oneRowOf(db, numbered, [many])`select n from ${SERIES}`;
      await expect(asked).rejects.toThrow(`a statement gave ${many} rows, not one`);
    }
  });
});
