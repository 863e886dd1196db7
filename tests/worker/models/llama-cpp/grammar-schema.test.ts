import { describe, expect, test } from "@jest/globals";
import { grammarSchemaOf } from "../../../../src/worker/models/llama-cpp/grammar-schema.ts";

describe("the schema of a grammar", () => {
  test.each([
    [
      "an object, without what narrows its values further",
      {
        type: "object",
        properties: {
          day: { type: "string", format: "date" },
          code: { type: "string", pattern: "^a" },
        },
        required: ["day"],
        additionalProperties: false,
      },
      {
        type: "object",
        properties: { day: { type: "string", format: "date" }, code: { type: "string" } },
      },
    ],
    [
      "a list with bounds",
      { type: "array", items: { type: "integer", minimum: 1 }, minItems: 1, maxItems: 3 },
      { type: "array", items: { type: "integer" }, minItems: 1, maxItems: 3 },
    ],
    [
      "one of several",
      { anyOf: [{ type: "string" }, { type: "null" }] },
      { oneOf: [{ type: "string" }, { type: "null" }] },
    ],
    [
      "an object or nothing",
      { type: ["object", "null"], properties: { a: { type: "number" } } },
      {
        oneOf: [
          { type: "object", properties: { a: { type: "number" } } },
          { type: "null", properties: { a: { type: "number" } } },
        ],
      },
    ],
    ["any object", { type: "object" }, { type: "object", additionalProperties: true }],
    [
      "parts by reference",
      {
        type: "object",
        properties: { at: { $ref: "#/definitions/place" } },
        definitions: { place: { type: "string" } },
      },
      {
        type: "object",
        properties: { at: { $ref: "#/$defs/place" } },
        $defs: { place: { type: "string" } },
      },
    ],
  ])("of %s", (_, given, made) => {
    expect(grammarSchemaOf(given)).toEqual(made);
  });

  test.each([
    ["all of several", { allOf: [{ type: "string" }] }],
    ["what is not", { not: { type: "string" } }],
    ["a part that says nothing", { type: "object", properties: { a: {} } }],
    ["nothing at all", {}],
    ["a reference elsewhere", { $ref: "https://schemas.example/a" }],
    ["types that are no schema", { oneOf: "string" }],
  ])("is any JSON where the library can't hold a reply to it: %s", (_, given) => {
    expect(grammarSchemaOf(given)).toBe("json");
  });

  test("ends with one that holds itself", () => {
    const deep: Record<string, unknown> = { type: "object" };
    deep["properties"] = { more: deep };
    expect(grammarSchemaOf(deep)).toBe("json");
  });
});
