import { describe, expect, test } from "@jest/globals";
import { fieldName, isCutField } from "../../../src/shared/views/field-blocks.ts";

const LONG = "word ".repeat(2_000);
const WIDE = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`column${at}`, at]));

describe("fields are cut", () => {
  test.each([
    ["a table of nine columns", { items: [WIDE] }],
    ["a long text", { text: LONG }],
    ["a long text in a list", { items: ["a", LONG] }],
    ["a long text in a record", { item: { text: LONG } }],
    ["a long text in a cell", { items: [{ text: LONG }] }],
    ["a long list", { items: Array.from({ length: 41 }, () => 1) }],
  ])("with %s", (_, output) => {
    expect(isCutField(output)).toBe(true);
  });

  test("but not with short ones", () => {
    expect(isCutField({ a: "b", items: [{ a: 1, b: null }], list: ["a", {}], none: [] })).toBe(
      false,
    );
  });
});

test("a name of digits in a record is no index", () => {
  expect(fieldName("/items/0/price", { items: [{ price: 1 }] })).toBe("items 1 price");
  expect(fieldName("/2024")).toBe("2024");
  expect(fieldName("/items/0/price")).toBe("items 1 price");
  expect(fieldName("/totals/2024", { totals: { 2024: 1 } })).toBe("totals 2024");
});
