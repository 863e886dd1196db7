import { describe, expect, test } from "@jest/globals";
import { placeOf, plainValue } from "../../../src/shared/config/config-tree.ts";
import { parseYaml } from "../../../src/shared/config/parse-yaml.ts";
import { Failure } from "../../../src/shared/failure.ts";

function errorOf(text: string): string {
  try {
    parseYaml(text, "f.yaml");
  } catch (error) {
    if (error instanceof Failure && error.code === "CONFIG_ERROR") return error.message;
    throw error;
  }
  throw new Error("expected a CONFIG_ERROR, and nothing was thrown");
}

const valueOf = (text: string): unknown => plainValue(parseYaml(text, "f.yaml"));

describe("plain YAML", () => {
  test.each([
    ["a: 1\nb: [x, 'y', \"z\"]\n", { a: 1, b: ["x", "y", "z"] }],
    ["a: yes\nb: on\nc: 0o17\nd: 2024-01-01\n", { a: "yes", b: "on", c: 15, d: "2024-01-01" }],
    ["a: ~\nb:\nc: null\n", { a: null, b: null, c: null }],
    ["a: &x [1]\nb: *x\n", { a: [1], b: [1] }],
    ["a: !!str 5\n", { a: "5" }],
    ["1: x\ntrue: y\n", { "1": "x", true: "y" }],
    ["a: |\n  one\n  two\n", { a: "one\ntwo\n" }],
    ["\uFEFFa: 1\r\nb: 2\r\n", { a: 1, b: 2 }],
    ["", null],
    ["# only a comment\n", null],
    ["--- {a: 1}\n...\n", { a: 1 }],
  ])("%j is read", (text, expected) => {
    expect(valueOf(text)).toEqual(expected);
  });

  test("keeps __proto__ as an ordinary key", () => {
    const value = valueOf("__proto__: { polluted: true }\n");
    expect(Object.keys(value as object)).toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect("polluted" in {}).toBe(false);
  });

  test("knows line and column of every key", () => {
    const tree = parseYaml("a:\n  b: 1\n  c: [x,\n    y]\n", "f.yaml");
    expect(placeOf(tree, ["a", "b"])).toEqual({ origin: "f.yaml", line: 2, column: 3 });
    expect(placeOf(tree, ["a", "c", 1])).toEqual({ origin: "f.yaml", line: 4, column: 5 });
    expect(placeOf(tree, ["a", "gone", "more"])).toEqual({ origin: "f.yaml", line: 1, column: 1 });
  });
});

describe("what is more than plain values", () => {
  test.each([
    ["a: 1\nb: 2\na: 3\n", "f.yaml:3:1: Map keys must be unique"],
    ["a: { b: 1, b: 2 }\n", "f.yaml:1:12: Map keys must be unique"],
    ["a: !!js/function 'x'\n", "f.yaml:1:4: Unresolved tag"],
    ["a: !env HOME\n", "f.yaml:1:4: Unresolved tag"],
    ["a: !!binary aGk=\n", "f.yaml:1:4: Unresolved tag"],
    ["a: !!set { b }\n", "f.yaml:1:4: Unresolved tag"],
    ["%YAML 1.1\n---\na: yes\n", "f.yaml:1:1: YAML directives are not accepted"],
    ["%TAG ! tag:x,2000:\n---\na: 1\n", "f.yaml:1:1: YAML directives are not accepted"],
    ["a: 1\n---\nb: 2\n", "a second document begins here"],
    ["? [a]\n: 1\n", "all keys must be strings"],
    ["a: *gone\n", "f.yaml:1:1: an alias has no anchor before it"],
    ["a: 'open\n", "Missing closing 'quote"],
    ["a: [1\nb: 2\n", "f.yaml:2"],
    ["\tb: 1\n", "f.yaml:1:1"],
    ["a: b: c\n", "Nested mappings are not allowed"],
    ["a: @x\n", "f.yaml:1:4: Plain value cannot start with reserved character @"],
  ])("%j is refused with its line and column", (text, expected) => {
    expect(errorOf(text)).toContain(expected);
  });

  test("has all its problems in one message", () => {
    expect(errorOf("a: 1\na: 2\nb: !x 1\nc: !y 2\n").split("\n")).toHaveLength(3);
  });

  test("does not show the line that it stands in", () => {
    expect(errorOf("database: { url: 'postgres://nd:hush@db/nd' extra }\n")).not.toContain("hush");
  });
});

describe("YAML that was written to hurt", () => {
  const size = 64 * 1024;
  const manyKeys = (end: string) =>
    Array.from({ length: 12_000 }, (_, n) => `${n.toString(36)}${end}`).join("");
  const laughs = Array.from(
    { length: 12 },
    (_, n) =>
      `a${n}: &a${n} [${
        n === 0
          ? "ha"
          : Array(9)
              .fill(`*a${n - 1}`)
              .join(",")
      }]`,
  ).join("\n");

  test.each([
    ["nested flow lists", "[".repeat(size), "nested deeper than 32 levels"],
    ["nested flow mappings", "{a: ".repeat(size / 4), "nested deeper than 32 levels"],
    ["nested block lists", "- ".repeat(size / 2), "nested deeper than 32 levels"],
    ["nested complex keys", "? ".repeat(size / 2), "nested deeper than 32 levels"],
    ["a billion laughs", laughs, "through its aliases"],
    ["an alias to itself", "a: &a [*a]", "through its aliases"],
    ["an alias to a folder above", "a: &a { b: { c: *a } }", "through its aliases"],
    ["commas", `[${",".repeat(size - 1)}`, "more than 10000 keys, values and marks"],
    ["a run of anchors", "&a ".repeat(size / 3), "at most one anchor"],
    ["keys in a block", manyKeys(":\n"), "more than 10000 keys"],
    ["keys in braces", `{${manyKeys(",")}}`, "more than 10000 keys"],
    ["one key again and again", "a:\n".repeat(3_000), "Map keys must be unique"],
    ["pairs of brackets", "[]".repeat(size / 2), "f.yaml:1:"],
    ["ends of documents", "...\n".repeat(size / 4), "a second document"],
    ["a run of tags", "!".repeat(size), "f.yaml:1:1: "],
    ["an open quote", `a: "${"x\n".repeat(size / 2 - 2)}`, "f.yaml:"],
    ["many documents", "---\n".repeat(size / 4), "a second document begins here"],
  ])("%s ends in an error and in time", (_name, text, expected) => {
    const started = performance.now();
    const message = errorOf(text);
    expect(message).toContain(expected);
    expect(message.length).toBeLessThan(4_000);
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  test("twenty thousand values are too many", () => {
    expect(errorOf(`[${"1,".repeat(20_001)}]`)).toContain("has more than 10000 keys");
  });
});
