import { expect, test } from "@jest/globals";
import { fromNativeCalls } from "../../../src/worker/tools/parse-tool-call.ts";

const read = { name: "read_text_file", args: { path: "a.md" } };

test("one call is taken, and the text beside it is its trailing text", () => {
  expect(fromNativeCalls([read], " I will read it.\n")).toEqual({
    kind: "call",
    ...read,
    trailingText: "I will read it.",
  });
});

test("of several the first is taken, and the others are trailing text", () => {
  const other = { name: "read_text_file", args: { path: "b.md" } };
  expect(fromNativeCalls([read, other], "Both.")).toEqual({
    kind: "call",
    ...read,
    trailingText: "Both.\n(a further call of read_text_file)",
  });
});

test("arguments that the host left as JSON text are parsed", () => {
  const calls = [{ name: "read_text_file", args: ' {"path":"a.md"} ' }];
  expect(fromNativeCalls(calls, "")).toEqual({ kind: "call", ...read, trailingText: "" });
});

test("another tool is a call, for the check to refuse", () => {
  expect(fromNativeCalls([{ name: "run_shell", args: {} }], "")).toMatchObject({
    kind: "call",
    name: "run_shell",
  });
});

test.each([
  "functions.read_text_file",
  "read_text_file<|channel|>commentary",
  "functions.read_text_file:0",
  "tools.read_text_file<|constrain|>json",
])("the name %j is read as that of the tool", (name) => {
  expect(fromNativeCalls([{ ...read, name }], "")).toEqual({
    kind: "call",
    ...read,
    trailingText: "",
  });
});

test("without a call the text is read by the text protocol", () => {
  const text = '{"type":"tool_call","name":"read_text_file","args":{"path":"a.md"}}';
  expect(fromNativeCalls([], text)).toEqual({ kind: "call", ...read, trailingText: "" });
  expect(fromNativeCalls([], "ENOUGH")).toBeNull();
});

test.each([
  ["two calls, the first malformed", [{ name: " ", args: {} }, read], "name"],
  ["a blank name", [{ name: " ", args: {} }], "name"],
  ["no arguments", [{ name: "x", args: undefined }], "arguments"],
  ["a list of arguments", [{ name: "x", args: [] }], "arguments"],
  ["arguments that are no JSON", [{ name: "x", args: "{path: a.md}" }], "arguments"],
  ["arguments with more behind", [{ name: "x", args: '{"a":1} {"b":2}' }], "arguments"],
  ["the text of a list", [{ name: "x", args: "[1]" }], "arguments"],
  [
    "text of 40 levels",
    [{ name: "x", args: '{"a":'.repeat(40) + "1" + "}".repeat(40) }],
    "arguments",
  ],
  ["data of 40 levels", [{ name: "x", args: nested(40) }], "32 levels"],
  ["an infinite number", [{ name: "x", args: { n: Infinity } }], "number"],
  ["what is no JSON", [{ name: "x", args: { n: 1n } }], "not JSON"],
  ["a NUL", [{ name: "x", args: { path: "a\0.md" } }], "NUL"],
  ["a megabyte", [{ name: "x", args: { path: "a".repeat(1_000_000) } }], "65536"],
])("malformed: %s", (_, calls, reason) => {
  expect(fromNativeCalls(calls, "")).toMatchObject({
    kind: "malformed",
    reason: expect.stringContaining(reason),
  });
});

function nested(levels: number): Record<string, unknown> {
  return Array.from({ length: levels }).reduce<Record<string, unknown>>((a) => ({ a }), {});
}
