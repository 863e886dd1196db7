import { describe, expect, test } from "@jest/globals";
import { parseJobInput } from "../../../src/shared/job/job.ts";
import { schemaCompiler } from "../../../src/worker/json-schema.ts";
import { findSchemaProblem } from "../../../src/shared/schema/check-schema.ts";
import { timeTaken } from "../../support/time-taken.ts";

const objectOf = (properties: Readonly<Record<string, unknown>>, rest = {}) => ({
  type: "object",
  properties,
  ...rest,
});

describe("a schema that is queued", () => {
  test.each([
    ["plain properties", objectOf({ total: { type: "number" }, at: { type: ["string", "null"] } })],
    ["definitions", objectOf({ a: { $ref: "#/$defs/x" } }, { $defs: { x: { enum: [1, "b"] } } })],
    [
      "a draft of its own",
      objectOf({ a: true }, { $schema: "http://json-schema.org/draft-07/schema#" }),
    ],
    ["annotations", objectOf({ a: { type: "string", title: "A", "x-quote": true } })],
    [
      "a property that is called like a keyword",
      objectOf({ $ref: { type: "string" }, type: { type: "string" } }),
    ],
  ])("may hold %s", (_, schema) => {
    expect(findSchemaProblem(schema)).toBeUndefined();
  });

  test.each<readonly [string, Record<string, unknown>, string]>([
    ["no object", { type: "array", items: {} }, "/type: the schema must be one of an object"],
    [
      "a type that there is none of",
      objectOf({ a: { type: "strin" } }),
      "/properties/a/type: must be one of string",
    ],
    [
      "a keyword that is misspelt",
      objectOf({ a: {} }, { requried: ["a"] }),
      "/requried: is not a supported keyword",
    ],
    [
      "required that is no list",
      objectOf({ a: {} }, { required: "a" }),
      "/required: must be a list of names",
    ],
    [
      "an empty enum",
      objectOf({ "a/b": { enum: [] } }),
      "/properties/a~1b/enum: must be a list that is not empty",
    ],
    [
      "a reference to the web",
      objectOf({ a: { $ref: "https://example.com/s.json" } }),
      "/properties/a/$ref: must lead",
    ],
    [
      "a reference to nothing",
      objectOf({ a: { $ref: "#/$defs/x" } }),
      'the $ref "#/$defs/x" leads to no schema',
    ],
    [
      "a reference that is no address",
      objectOf({ a: { $ref: "#/$defs/%zz" } }),
      'the $ref "#/$defs/%zz" leads to no schema',
    ],
    ["a reference to itself", objectOf({ a: { $ref: "#/properties/a" } }), "leads back"],
    ["an id of its own", objectOf({ a: {} }, { $id: "x" }), "/$id: is not a supported keyword"],
    [
      "a pattern that is none",
      objectOf({ a: { pattern: "(" } }),
      '/properties/a/pattern: "(" is no regular expression',
    ],
    [
      "a pattern that looks ahead",
      objectOf({ a: { pattern: "^(?=a)b" } }),
      '/properties/a/pattern: "^(?=a)b" looks ahead or back ((?= at character 2)',
    ],
    [
      "a pattern for names that refers back",
      objectOf({}, { patternProperties: { "(x)\\1": {} } }),
      '/patternProperties/(x)\\1: "(x)\\\\1" refers back to a group (\\1 at character 4)',
    ],
    ["a pattern that is no text", objectOf({ a: { pattern: 7 } }), "pattern: must be a text"],
    [
      "patterns that are too large together",
      objectOf(Object.fromEntries("abcdef".split("").map((n) => [n, { pattern: "x{999}" }]))),
      "/properties/f/pattern: makes the patterns of the schema too large together",
    ],
    [
      "more than it may",
      objectOf({ a: { description: "x".repeat(40_000) } }),
      "longer than 32,768",
    ],
  ])("may not hold %s, and is told where", (_, schema, problem) => {
    expect(findSchemaProblem(schema)).toContain(problem);
  });

  test("may not be nested without end, nor unfold without end", () => {
    let deep: Record<string, unknown> = { type: "string" };
    for (let level = 0; level < 40; level += 1) deep = objectOf({ a: deep });
    expect(findSchemaProblem(deep)).toContain("nested deeper than 24 levels");
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, level) => [
        `d${level}`,
        level === 39
          ? {}
          : { anyOf: [{ $ref: `#/$defs/d${level + 1}` }, { $ref: `#/$defs/d${level + 1}` }] },
      ]),
    );
    expect(findSchemaProblem(objectOf({ a: { $ref: "#/$defs/d0" } }, { $defs }))).toContain(
      "10,000 parts",
    );
  });

  test("may not hold values that are nested without end, also where any value is taken", () => {
    const nested = (levels: number): unknown =>
      JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`);
    expect(findSchemaProblem(objectOf({}, { default: nested(40) }))).toBeUndefined();
    for (const key of ["default", "const", "x-note"]) {
      expect(findSchemaProblem(objectOf({}, { [key]: nested(15_000) }))).toContain(
        "nested deeper than 256 levels",
      );
    }
  });

  test("is refused with its line when it is bad, and with the place in it", () => {
    const line = { kind: "extract", path: "a.md", schema: objectOf({ a: { type: "text" } }) };
    expect(parseJobInput(line)).toEqual({
      ok: false,
      reason: expect.stringContaining("schema: /properties/a/type: must be one of"),
    });
  });
});

describe("a line for extract", () => {
  test.each<readonly [string, Record<string, unknown>, string]>([
    ["neither preset nor schema", {}, "needs either preset or schema"],
    ["both", { preset: "people", schema: objectOf({}) }, "needs either preset or schema"],
    ["a preset that there is none of", { preset: "peopl" }, "preset"],
    ["classify without labels", { preset: "classify" }, "needs labels"],
    ["labels without classify", { preset: "people", labels: ["a", "b"] }, "needs labels"],
    ["one label", { preset: "classify", labels: ["a"] }, "labels"],
    ["the same label twice", { preset: "classify", labels: ["a", "a"] }, "labels must differ"],
  ])("with %s is refused", (_, rest, reason) => {
    const parsed = parseJobInput({ kind: "extract", path: "a.md", ...rest });
    expect(parsed).toEqual({ ok: false, reason: expect.stringContaining(reason) });
  });
});

describe("a validator", () => {
  const schema = objectOf(
    {
      label: { enum: ["a", "b"] },
      day: { type: "string", format: "date" },
      code: { type: "string", pattern: "^[A-Z]{2}\\d+$" },
    },
    {
      required: ["label"],
      additionalProperties: false,
      $schema: "http://json-schema.org/draft-07/schema#",
    },
  );

  test("names the places of all faults and none of the values", async () => {
    const validate = await schemaCompiler()(schema);
    expect(validate({ label: "a", day: "2026-02-28", code: "AB1" })).toEqual([]);
    const faults = validate({ label: "secret words", day: "soon", code: "x", extra: 1 });
    expect(faults.map(({ path }) => path).sort()).toEqual(["/", "/code", "/day", "/label"]);
    expect(JSON.stringify(faults)).toContain(
      'must be equal to one of the allowed values: [\\"a\\",\\"b\\"]',
    );
    expect(JSON.stringify(faults)).not.toContain("secret");
  });

  test("says no more than ten faults, and works no longer on a value with very many", async () => {
    const words = Array.from({ length: 2_500 }, (_, n) => `word${n}`);
    const validate = await schemaCompiler()(
      objectOf({ a: { type: "array", items: { enum: words } } }),
    );
    const value = { a: Array.from({ length: 50_000 }, () => 0) };
    expect(validate(value)).toHaveLength(10);
    expect(timeTaken(() => validate(value), 1_000)).toBeLessThan(1_000);
  });

  test("tries a pattern on a text of any length", async () => {
    const validate = await schemaCompiler()(objectOf({ a: { type: "string", pattern: "^a*$" } }));
    expect(validate({ a: "a".repeat(60_000) })).toEqual([]);
    expect(validate({ a: `${"a".repeat(60_000)}b` })).toHaveLength(1);
  });

  test("is made once for equal schemas", () => {
    const compile = schemaCompiler();
    expect(compile(schema)).toBe(compile(structuredClone(schema)));
  });
});
