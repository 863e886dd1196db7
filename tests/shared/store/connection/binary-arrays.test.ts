import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  integerArray,
  openBigintArray,
  textArray,
} from "../../../../src/shared/store/connection/binary-arrays.ts";
import { ENGINES } from "../../../support/test-databases.ts";
import type { TestDatabase } from "../../../support/test-databases.ts";

describe.each(ENGINES)("arrays in binary on $engine", ({ open }) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await open();
  });
  afterAll(() => database.close());

  const read = async (type: "integer" | "text" | "bigint", values: Buffer) => {
    const { rows } = await database.db.query(
      `select to_json(array(select value::text from unnest($1::${type}[]) with ordinality as u (value, place)
                             order by place)) as read`,
      [values],
    );
    return (rows as [{ read: unknown }])[0].read;
  };

  test.each([[[]], [["", null, 'a "b" \\ {c},', "ß日本🎉", "\n\t"]]])(
    "are the texts %j",
    async (texts) => {
      expect(await read("text", textArray(texts))).toEqual(texts);
    },
  );

  test("are integers of either sign", async () => {
    const numbers = [0, -1, 2_147_483_647, -2_147_483_648];
    expect(await read("integer", integerArray(numbers))).toEqual(numbers.map(String));
  });

  test("are bigints by their halves", async () => {
    const numbers = [0n, 1n, 2n ** 32n - 1n, 2n ** 62n + 2n ** 31n, -1n];
    const { bytes, set } = openBigintArray(numbers.length);
    for (const [at, number] of numbers.entries()) {
      set(at, Number(number >> 32n), Number(BigInt.asIntN(32, number)));
    }
    expect(await read("bigint", bytes)).toEqual(numbers.map(String));
  });
});
