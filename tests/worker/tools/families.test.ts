import { describe, expect, test } from "@jest/globals";
import { splitReasoning } from "../../../src/worker/models/reasoning.ts";
import { checkToolCallPath } from "../../../src/worker/tools/check-tool-call-path.ts";
import { detectToolCall, parseToolCall } from "../../../src/worker/tools/parse-tool-call.ts";
import { FAMILY_REPLIES, NO_CALLS } from "./calls-of-families.ts";
import type { FamilyReply } from "./calls-of-families.ts";

const titleOf = ({ family, what }: FamilyReply): string => `${family}: ${what}`;
const withTitle = FAMILY_REPLIES.map((reply) => [titleOf(reply), reply] as const);

describe("a call as a family of models writes it", () => {
  test.each(withTitle)("is read: %s", (_, { reply, name, args, trailing }) => {
    expect(parseToolCall(splitReasoning(reply).text)).toEqual({
      kind: "call",
      name: name ?? "read_text_file",
      args: args ?? { path: "notes/rail.md" },
      trailingText: trailing ?? "",
    });
  });

  test.each(withTitle)("is read with blanks around it: %s", (_, { reply, name }) => {
    expect(parseToolCall(`\n\n  ${splitReasoning(reply).text}\n\n`)).toMatchObject({
      kind: "call",
      name: name ?? "read_text_file",
    });
  });

  test.each(withTitle.filter(([, { name }]) => name === undefined))(
    "may name only what may be read: %s",
    (_, { reply }) => {
      const call = parseToolCall(splitReasoning(reply).text);
      if (call?.kind !== "call") throw new Error("no call");
      const readable = { namedFiles: ["notes/bus.md"], snapshotPaths: [] };
      expect(checkToolCallPath(call, readable)).toMatchObject({ code: "PATH_DENIED" });
    },
  );

  test.each(withTitle)("is found in an answer: %s", (_, { reply }) => {
    expect(detectToolCall(splitReasoning(reply).text)).toBe(true);
  });

  test.each(withTitle.filter(([, { family, name }]) => family !== "Python" || name === undefined))(
    "is found behind an answer: %s",
    (_, { reply }) => {
      expect(detectToolCall(`Trains run [1].\n\n${splitReasoning(reply).text}`)).toBe(true);
    },
  );

  test.each(withTitle)("is never taken when it is cut short: %s", (_, { reply }) => {
    const text = splitReasoning(reply).text;
    const whole = parseToolCall(text);
    for (let length = 1; length < text.length; length += 1) {
      const cut = parseToolCall(text.slice(0, length));
      if (cut?.kind === "call" && whole?.kind === "call") expect(cut.args).toEqual(whole.args);
    }
  });
});

test.each(NO_CALLS)("no call: %s", (answer) => {
  expect(parseToolCall(answer)).toBeNull();
  expect(detectToolCall(answer)).toBe(false);
});

describe("a call that can't be read is malformed", () => {
  test.each([
    ["Mistral without arguments", "[TOOL_CALLS]read_text_file[ARGS]", "read_text_file"],
    ["Mistral cut short", '[TOOL_CALLS]read_text_file[ARGS]{"path": "a', "read_text_file"],
    ["Mistral with a list", '[TOOL_CALLS]read_text_file[ARGS]["a.md"]', "read_text_file"],
    ["Llama with words", "<function=read_text_file>a.md</function>", "read_text_file"],
    [
      "Qwen cut short",
      "<tool_call>\n<function=read_text_file>\n<parameter=path>\na",
      "read_text_file",
    ],
    ["gpt-oss cut short", 'to=functions.read_text_file <|message|>{"path": "a', "read_text_file"],
    [
      "DeepSeek cut short",
      "<｜tool▁call▁begin｜>function<｜tool▁sep｜>read_text_file\n```json\n{",
      "read_text_file",
    ],
    ["Gemma with a variable", "```tool_code\nread_text_file(path=name)\n```", null],
    ["Gemma cut short", '```tool_code\nread_text_file(path="a.', null],
    ["a NUL in Python", '[read_text_file(path="a\\x00.md")]', "read_text_file"],
    ["half a pair in Python", '[read_text_file(path="\\ud800")]', "read_text_file"],
    [
      "__proto__ in tags",
      "<function=read_text_file><parameter=__proto__>a</parameter></function>",
      "read_text_file",
    ],
    [
      "a value of a megabyte",
      `<function=read_text_file><parameter=path>${"a".repeat(1_000_000)}</parameter></function>`,
      "read_text_file",
    ],
    ["an argument without a name, of another tool", '```tool_code\nlist_files("notes")\n```', null],
  ])("%s", (_, reply, name) => {
    expect(parseToolCall(reply)).toMatchObject({ kind: "malformed", name });
    expect(detectToolCall(reply)).toBe(true);
  });
});
