import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { parseToolCall } from "../../../src/worker/pipeline/parse-tool-call.ts";

const call = '{"type":"tool_call","name":"read_text_file","args":{"path":"a.md"}}';
const parsed = { name: "read_text_file", args: { path: "a.md" } };

describe("calls", () => {
  test.each([
    ["strict", call, ""],
    ["white space around", `\n\u00a0 ${call} \n`, ""],
    ["a prefix with trailing text", `${call}\nI will read it.`, "I will read it."],
    ["two calls: the first", `${call} ${call}`, call],
    ["a code fence", `\`\`\`json\n${call}\n\`\`\``, ""],
    ["a fence without a language", `\`\`\`\n${call}\n\`\`\`\nok`, "ok"],
    ["thinking before it", `<think>hm {"type":1}</think>\n${call}`, ""],
    ["extra keys", call.replace("{", '{"id":1,'), ""],
  ])("%s", (_, reply, trailingText) => {
    expect(parseToolCall(reply)).toEqual({ ...parsed, trailingText });
  });

  test("braces and quotes inside strings do not end it", () => {
    const path = 'a}"{\\.md';
    const reply = JSON.stringify({ type: "tool_call", name: "read_text_file", args: { path } });
    expect(parseToolCall(`${reply} after`)).toEqual({
      name: "read_text_file",
      args: { path },
      trailingText: "after",
    });
  });
});

describe("no calls", () => {
  test.each([
    ["prose before it", `Sure: ${call}`],
    ["another object first", `{"a":1}${call}`],
    ["an array", `[${call}]`],
    ["a JSON string", JSON.stringify(call)],
    ["single quotes", call.replaceAll('"', "'")],
    ["cut short", call.slice(0, -1)],
    ["a trailing comma", call.replace('"a.md"', '"a.md",')],
    ["another type", call.replace("tool_call", "tool-call")],
    ["a blank name", call.replace("read_text_file", " ")],
    ["args that are a list", call.replace('{"path":"a.md"}', "[]")],
    ["args missing", '{"type":"tool_call","name":"x"}'],
    ["thinking that never ends", `<think>${call}`],
    [
      "nesting beyond the bound",
      `{"type":"tool_call","name":"x","args":${'{"a":'.repeat(40)}1${"}".repeat(41)}`,
    ],
    ["empty", ""],
  ])("%s", (_, reply) => {
    expect(parseToolCall(reply)).toBeNull();
  });
});

describe("hostile replies", () => {
  test("no text makes the parser throw", () => {
    const piece = fc.constantFrom(
      "{",
      "}",
      '"',
      "\\",
      "[",
      "]",
      "<think>",
      "</think>",
      "```",
      call,
      " ",
      "1e999",
      "\ud800",
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 60 }), (parts) => {
        const result = parseToolCall(parts.join(""));
        expect(result === null || typeof result.name === "string").toBe(true);
      }),
    );
  });

  test.each([
    ["open braces", "{".repeat(4_000_000)],
    ["open brackets in an object", `{"a":${"[".repeat(4_000_000)}`],
    ["a string that never ends", `{"${"\\".repeat(4_000_000)}`],
    ["white space", " ".repeat(4_000_000)],
    ["a huge number", `{"type":"tool_call","name":"x","args":{"n":${"9".repeat(4_000_000)}}}`],
    ["thinking marks", "<think>".repeat(600_000)],
  ])("four megabytes of %s take less than 200 ms", (_, reply) => {
    const startedAt = performance.now();
    expect(parseToolCall(reply)).toBeNull();
    expect(performance.now() - startedAt).toBeLessThan(200);
  });
});
