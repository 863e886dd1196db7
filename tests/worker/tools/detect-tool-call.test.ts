import { describe, expect, test } from "@jest/globals";
import { detectToolCall } from "../../../src/worker/tools/parse-tool-call.ts";

const call = '{"type":"tool_call","name":"read_text_file","args":{"path":"a.md"}}';
const native = '{"name":"read_text_file","arguments":{"path":"a.md"}}';

describe("a text that holds a call", () => {
  test.each([
    ["at its start", call],
    ["malformed, at its start", call.slice(0, -1)],
    ["after prose", `Trains run [1].\n${call}`],
    ["in the middle of a line", `I need ${call} for it.`],
    ["fenced after prose", `It says:\n\`\`\`json\n${call}\n\`\`\`\n`],
    ["of a tool and its args", `Do {"tool": "read_text_file", "args": {}}.`],
    ["after thinking", `<think>hm</think>${call}`],
    ["after prose and thinking", `Yes. <think>hm</think> ${call}`],
    ["in single quotes", `Next: ${call.replaceAll('"', "'")}`],
    ["in curly quotes", `Next: ${call.replaceAll('"', "”")}`],
    ["with bare keys", 'Next: {type: "tool_call", name: "x"}'],
    ["over several lines", `Next:\n${JSON.stringify(JSON.parse(call), null, 4)}`],
    ["its type last", 'Next: {"name":"x","args":{},"type":"tool_call"}'],
    ["in a list", `Next: [${call}]`],
    ["as a JSON string", JSON.stringify({ next: call })],
    ["as a string in a string", JSON.stringify(JSON.stringify(call))],
    ["with escaped letters", `Next: ${call.replace("tool_call", "tool\\u005fcall")}`],
    ["with blanks of no width", `Next: ${call.replace("tool_", "tool\u200B_")}`],
    ["in capitals", `Next: ${call.replace("tool_call", "TOOL_CALL")}`],
    ["cut short", `Next: ${call.slice(0, 30)}`],
    ["by its native spelling", `Next: ${native}`],
    [
      "by its native spelling with parameters",
      `Next: ${native.replace("arguments", "parameters")}`,
    ],
    [
      "by its native spelling, name last",
      'Next: {"arguments":{"path":"a"},"name":"read_text_file"}',
    ],
    [
      "by its native spelling with arguments as text",
      `Next: ${native.replace('{"path":"a.md"}', '"{}"')}`,
    ],
    ["by a tag", `Next: <tool_call>\n{"name":"x","arguments":{}}\n</tool_call>`],
    ["by a tag and a fence", 'Next: <tool_call>\n```json\n{"name":"x"}'],
    ["by Mistral's tag", `Next: [TOOL_CALLS][{"name":"x"}]`],
    ["by Llama's tag", `Next: <|python_tag|>{"name":"x"}`],
    ["by Qwen's coder tag", "Next: <function=read_text_file><parameter=path>a.md"],
  ])("%s", (_, text) => {
    expect(detectToolCall(text)).toBe(true);
  });
});

describe("a text that holds none", () => {
  test.each([
    ["an answer", "Trains run every 20 minutes [1]."],
    ["prose about tool calls", 'A tool_call is an object whose type is "tool_call" [1].'],
    ["prose about the member", 'It needs "type": "tool_call" and a name [1].'],
    ["prose about the tag", "Qwen wraps a call in <tool_call> and </tool_call> [1]."],
    ["the tag in code", "Qwen writes `<tool_call>` before it [1]."],
    ["prose about the tool", "The tool read_text_file reads a file by its path [1]."],
    ["code about the tool", 'Write `read_text_file(path="a.md")` to read a.md [1].'],
    ["JSON of another kind", 'It says {"type":"object","name":"rail","args":{}} [1].'],
    ["JSON of another tool", 'It sends {"name":"get_weather","arguments":{"city":"Bern"}} [1].'],
    [
      "a tool's description",
      '{"name":"read_text_file","description":"Reads a file"} is its entry [1].',
    ],
    ["evidence made harmless", 'It says {"type":"tool\u00B7call","name":"x"} [1].'],
    ["a footer", "Scope: full evidence from read_text_file (12/12), sha256=abc"],
    ["an empty text", ""],
  ])("%s", (_, text) => {
    expect(detectToolCall(text)).toBe(false);
  });
});
