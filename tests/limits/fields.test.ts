import { describe, expect, test } from "@jest/globals";
import { findSchemaProblem } from "../../src/shared/schema/check-schema.ts";
import { checkByUser } from "../../src/worker/verify/check-fields.ts";
import type { Fields } from "../../src/worker/verify/fields-schema.ts";
import { mergeFields } from "../../src/worker/jobs/extraction.ts";
import { timeTaken } from "../support/time-taken.ts";
import { longestTurn, testSchemaThread } from "../worker/offload/test-offload.ts";

const { signal } = new AbortController();
const LARGEST_REPLY = 65_536;

const listOf = (items: unknown, rest: Fields = {}): Fields => ({
  type: "object",
  properties: { a: { type: "array", items, ...rest } },
});

/** A list in which everything differs, as long as a reply may be. */
function longList(item: (index: number) => unknown): Fields {
  const items: unknown[] = [];
  for (let chars = 0, index = 10_000; chars < LARGEST_REPLY - 100; index += 1) {
    items.push(item(index));
    chars += JSON.stringify(items.at(-1)).length + 1;
  }
  return { a: items };
}

const lists = longList((index) => [index]);
const texts = longList((index) => `Straße ${index}`);
const long: Fields = { a: ["ab".repeat(LARGEST_REPLY / 2 - 20)] };
const alternatives = (count: number, one: (index: number) => unknown) =>
  Array.from({ length: count }, (_, index) => one(index));

describe("a schema that was taken, and the largest reply, leave the event loop to others:", () => {
  test.each<readonly [string, Fields, Fields]>([
    ["items that all differ, over and over", listOf(true, unique(15)), lists],
    [
      "alternatives for each item",
      listOf({ anyOf: alternatives(200, (n) => ({ const: [n] })) }),
      lists,
    ],
    ["lists that none equals", listOf({ enum: alternatives(3_000, (n) => [n]) }), lists],
    [
      "what a list must hold",
      listOf(true, { allOf: alternatives(200, (n) => ({ contains: { const: [n] } })) }),
      lists,
    ],
    ["references in references", { ...listOf({ $ref: "#/$defs/d0" }), $defs: nest(3) }, texts],
    ["faults without end", listOf({ allOf: alternatives(200, () => ({ type: "null" })) }), texts],
    ["the largest pattern", listOf({ pattern: "(?:\\p{L}?){600}\\p{L}{600}$" }), long],
    [
      "large patterns on many texts",
      listOf({ allOf: alternatives(4, (n) => ({ pattern: `(?:\\p{L}?){600}${n}$` })) }),
      texts,
    ],
  ])(
    "%s",
    async (_, schema, fields) => {
      expect(findSchemaProblem(schema)).toBeUndefined();
      const checking = checkByUser(schema, testSchemaThread())(fields, signal);
      const heldMs = await longestTurn(checking);
      const { faults } = await checking;
      expect(faults.length).toBeLessThanOrEqual(10);
      // Of a machine that is busy with more than this; on an idle one it is a tenth.
      expect(heldMs).toBeLessThan(1_000);
    },
    60_000,
  );
});

function unique(times: number): Fields {
  return { allOf: alternatives(times, () => ({ uniqueItems: true })) };
}

function nest(levels: number): Fields {
  const level = (index: number) => {
    const next = { $ref: `#/$defs/d${index + 1}` };
    return index === levels ? { minLength: 1, maxLength: 5 } : { anyOf: [next, next] };
  };
  return Object.fromEntries(alternatives(levels + 1, level).map((one, n) => [`d${n}`, one]));
}

test("a check that takes longer than it may is a fault of the fields, and the next is done", async () => {
  const check = checkByUser(listOf(true, unique(1_500)), testSchemaThread());
  const { faults, quotes } = await check(lists, signal);
  expect(faults).toEqual([{ path: "/", message: expect.stringContaining("takes more than 10 s") }]);
  expect(quotes).toEqual([]);
  expect(await check({ a: [1, 2] }, signal)).toMatchObject({ faults: [], quotes: [] });
}, 60_000);

test("fields of very many parts are put together in time that grows with them", () => {
  const part = (n: number): Fields => ({
    people: Array.from({ length: 100 }, (_, person) => ({ name: `P${n} ${person}`, quote: "x" })),
    total: n === 0 ? null : n,
  });
  const parts = Array.from({ length: 1_000 }, (_, n) => part(n));
  const merge = () => mergeFields(parts);
  expect(merge()).toMatchObject({ people: { length: 100_000 }, total: 1 });
  expect(timeTaken(merge, 3_000)).toBeLessThan(3_000);
});
