import { describe, expect, test } from "@jest/globals";
import { parseToolCall } from "../../../src/worker/tools/parse-tool-call.ts";

const call = '{"type":"tool_call","name":"read_text_file","args":{"path":"a.md"}}';
const native = '{"name":"read_text_file","arguments":{"path":"a.md"}}';
const parsed = { kind: "call", name: "read_text_file", args: { path: "a.md" } };
const fence = (body: string, mark = "```", language = "json"): string =>
  `${mark}${language}\n${body}\n${mark}`;
const nested = (levels: number): string =>
  `{"type":"tool_call","name":"x","args":${'{"a":'.repeat(levels)}1${"}".repeat(levels)}}`;

describe("a call", () => {
  test.each([
    ["alone", call, ""],
    ["white space around", `\n\u00a0 ${call} \n`, ""],
    ["a byte order mark and blanks of no width before it", `\uFEFF\u200B${call}`, ""],
    ["trailing text", `${call}\nI will read it.`, "I will read it."],
    ["two calls: the first", `${call} ${call}`, call],
    ["extra members", call.replace("{", '{"id":1,'), ""],
    [
      "members in another order",
      '{"args":{"path":"a.md"},"name":"read_text_file","type":"tool_call"}',
      "",
    ],
    ["white space inside", call.replaceAll(":", " :\n ").replaceAll(",", " ,\t"), ""],
    ["a member twice: the last", call.replace('"path"', '"path":"b.md","path"'), ""],
    ["escaped letters", call.replace("tool_call", "tool\\u005fcall"), ""],
    ["a code fence", fence(call), ""],
    ["a fence without a language", `${fence(call, "```", "")}\nok`, "ok"],
    ["a fence on one line", `\`\`\`json ${call} \`\`\``, ""],
    ["a fence with tildes", fence(call, "~~~"), ""],
    ["a longer fence", fence(call, "`````", "tool_call"), ""],
    ["a fence that nothing closes", `\`\`\`json\n${call}`, ""],
    ["thinking before it", `<think>hm {"type":1}</think>\n${call}`, ""],
    [
      "several blocks of thinking",
      `<think>a</think>\n<think></think><thinking>b</thinking>${call}`,
      "",
    ],
    ["thinking that the prompt opened", `I could call it.\n</think>\n${call}`, ""],
    ["thinking, then a fence", `<think>\n${call}\n</think>\n${fence(call)}`, ""],
    ["thinking of Gemma before it", `<|channel>thought\nhm\n<channel|>${call}`, ""],
    ["a tag", `<tool_call>\n${call}\n</tool_call>`, ""],
    ["a tag that nothing closes", `<tool_call>${call}`, ""],
    ["a tag around a fence", `<tool_call>\n${fence(call)}\n</tool_call>\nok`, "ok"],
    ["a fence around a tag", fence(`<tool_call>${call}</tool_call>`), ""],
    ["a native call", native, ""],
    ["a tool and its args", native.replace("name", "tool").replace("arguments", "args"), ""],
    [
      "a tag with the module before its name",
      `<tool_call>${native.replace("read", "functions.read")}</tool_call>`,
      "",
    ],
    ["a native call with an id", native.replace("{", '{"id":"1","type":"function",'), ""],
    ["Hermes and Qwen", `<tool_call>\n${native}\n</tool_call>`, ""],
    [
      "native arguments as JSON text",
      native.replace('{"path":"a.md"}', '"{\\"path\\":\\"a.md\\"}"'),
      "",
    ],
  ])("is seen with %s", (_, reply, trailingText) => {
    expect(parseToolCall(reply)).toEqual({ ...parsed, trailingText });
  });

  test("does not end at braces and quotes inside its strings", () => {
    const path = 'a}"{\\.md';
    const reply = JSON.stringify({ type: "tool_call", name: "read_text_file", args: { path } });
    expect(parseToolCall(`${reply} after`)).toEqual({
      ...parsed,
      args: { path },
      trailingText: "after",
    });
  });

  test.each(["other_tool", " read_text_file "])("keeps the name %j as it is", (name) => {
    const reply = JSON.stringify({ type: "tool_call", name, args: {} });
    expect(parseToolCall(reply)).toEqual({ kind: "call", name, args: {}, trailingText: "" });
  });

  test("by a native spelling in a tag may name any tool, for the check to refuse", () => {
    const reply = `<tool_call>${native.replace("read_text_file", "run_shell")}</tool_call>`;
    expect(parseToolCall(reply)).toMatchObject({ kind: "call", name: "run_shell" });
  });

  test("may nest 30 levels", () => {
    expect(parseToolCall(nested(30))).toMatchObject({ kind: "call" });
  });
});

describe("a reply that opens as a call and is none", () => {
  test.each([
    ["cut short", call.slice(0, -1), "does not end"],
    ["cut in a string", call.slice(0, -4), "does not end"],
    ["with single quotes", call.replaceAll('"', "'"), "not that of one call"],
    ["with curly quotes", call.replaceAll('"', "“"), "not that of one call"],
    ["with keys bare", '{type: "tool_call", name: "read_text_file"}', "not that of one call"],
    ["with a trailing comma", call.replace('"a.md"', '"a.md",'), "not that of one call"],
    ["with a comment", call.replace(',"args"', ', /* which */ "args"'), "not that of one call"],
    ["with NaN", call.replace('"a.md"', "NaN"), "not that of one call"],
    ["with a line feed in a string", call.replace("a.md", "a\n.md"), "not that of one call"],
    ["without a name", '{"type":"tool_call","args":{}}', "name"],
    ["with a blank name", call.replace("read_text_file", " "), "name"],
    ["with a number for a name", call.replace('"read_text_file"', "1"), "name"],
    ["with a list of arguments", call.replace('{"path":"a.md"}', "[]"), "arguments"],
    ["with no arguments", '{"type":"tool_call","name":"x"}', "arguments"],
    ["with null for arguments", call.replace('{"path":"a.md"}', "null"), "arguments"],
    ["with native arguments as text", native.replace('{"path":"a.md"}', '"a.md"'), "arguments"],
    [
      "with native arguments as text of a list",
      native.replace('{"path":"a.md"}', '"[1]"'),
      "arguments",
    ],
    [
      "with parameters for arguments",
      native.replace("arguments", "parameters"),
      "that of one call",
    ],
    ["inside a function", `{"type":"function","function":${native}}`, "that of one call"],
    ["with a number beyond all", call.replace('"a.md"', "1e999"), "number"],
    ["with a number below all", call.replace('"a.md"', "-1e999"), "number"],
    ["with an integer beyond 2^53", call.replace('"a.md"', "9007199254740993"), "number"],
    ["with an integer of 5,000 digits", call.replace('"a.md"', "9".repeat(5000)), "number"],
    ["with NUL in a path", call.replace("a.md", "a\\u0000.md"), "NUL"],
    ["with NUL in a key", call.replace("path", "pa\\u0000th"), "NUL"],
    ["with half a surrogate pair", call.replace("a.md", "\\ud800.md"), "surrogate"],
    ["with half a pair in its name", call.replace("read_text", "\\udc00"), "surrogate"],
    [
      "with __proto__ in its arguments",
      call.replace('"path"', '"__proto__":{},"path"'),
      "__proto__",
    ],
    ["with __proto__ deep inside", call.replace('"a.md"', '[{"__proto__":1}]'), "__proto__"],
    ["nested 40 levels", nested(40), "32 levels"],
    ["longer than the bound", call.replace("a.md", "a".repeat(70_000)), "65536"],
    ["in a list", `[${call}]`, "list"],
    ["in a list of two", `[${call},${call}]`, "list"],
    ["in a native spelling, in a list", `[${native}]`, "list"],
    ["in a list behind a tag", `<tool_call>[${native},${native}]</tool_call>`, "list"],
    ["in a member", `{"tool_calls":[${call}]}`, "not that of one call"],
    ["in a member __proto__", `{"__proto__":${call}}`, "not that of one call"],
    ["with another type", call.replace("tool_call", "tool-call"), "not that of one call"],
    ["with its type in capitals", call.replace("tool_call", "TOOL_CALL"), "not that of one call"],
    ["behind another mark", `[TOOL_CALLS]${call}`, "no form that is known"],
    ["in tags", "<tool_call><function=read_text_file>", "no form that is known"],
    ["as a line of code", 'read_text_file(path="a.md")', "no form that is known"],
    ["as a line of code in a fence", fence('read_text_file("a.md")', "```", "python"), "no form"],
    ["fenced and cut short", `\`\`\`json\n${call.slice(0, -9)}`, "does not end"],
  ])("is malformed: %s", (_, reply, reason) => {
    expect(parseToolCall(reply)).toMatchObject({
      kind: "malformed",
      reason: expect.stringContaining(reason),
    });
  });

  test("says which tool it names, if that can be told, and never its arguments", () => {
    const reply = call.replace('"a.md"', "1e999");
    expect(parseToolCall(reply)).toEqual({
      kind: "malformed",
      name: "read_text_file",
      reason: "it holds a number too large",
    });
  });
});

describe("no call", () => {
  test.each([
    ["empty", ""],
    ["blank", " \n\t "],
    ["the word ENOUGH", "ENOUGH"],
    ["prose before it", `Sure: ${call}`],
    ["prose before a fence", `I call it.\n${fence(call)}`],
    ["prose before a tag", `I call it. <tool_call>${call}</tool_call>`],
    ["a line of comment before it", `// call\n${call}`],
    ["inline code", `\`${call}\``],
    ["another object first", `{"a":1}${call}`],
    ["a JSON string", JSON.stringify(call)],
    ["another type", '{"type":"tool-call","name":"x","args":{}}'],
    ["a native call of another tool", native.replace("read_text_file", "run_shell")],
    ["a name alone", '{"name":"read_text_file"}'],
    ["JSON that answers", '{"answer":"a.md","arguments":{}}'],
    ["a list that answers", '["a.md",{"type":"file"}]'],
    ["a list of citations", "[1] and [2] say so."],
    ["a brace in prose", "{a} is a set"],
    ["thinking that never ends", `<think>${call}`],
    ["thinking alone", `<think>${call}</think>`],
    ["thinking, then prose", `<think>x</think>It is 4. ${call}`],
    ["a sentence about the tag", "<tool_call> is a tag of some models."],
    ["a sentence about the tool", "read_text_file(path) reads a file."],
    ["a fence of code", fence("print(1)", "```", "python")],
  ])("%s", (_, reply) => {
    expect(parseToolCall(reply)).toBeNull();
  });
});
