import { describe, expect, test } from "@jest/globals";
import { splitReasoning } from "../../../src/worker/models/reasoning.ts";
import { checkToolCallPath } from "../../../src/worker/tools/check-tool-call-path.ts";
import { detectToolCall, parseToolCall } from "../../../src/worker/tools/parse-tool-call.ts";
import { DIALECT_REPLIES, NO_CALLS, READ_REPLIES } from "./calls-of-families.ts";

const withTitle = READ_REPLIES.map((reply) => [reply.what, reply] as const);

describe("a call in JSON", () => {
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

  test.each(withTitle)("is never taken when it is cut short: %s", (_, { reply }) => {
    const text = splitReasoning(reply).text;
    const whole = parseToolCall(text);
    for (let length = 1; length < text.length; length += 1) {
      const cut = parseToolCall(text.slice(0, length));
      if (cut?.kind === "call" && whole?.kind === "call") expect(cut.args).toEqual(whole.args);
    }
  });
});

describe("a call in a dialect", () => {
  test.each(DIALECT_REPLIES)("is malformed, so that it is asked for again: %s", (_, reply) => {
    const { text } = splitReasoning(reply);
    for (const written of [text, `\n\n  ${text}\n\n`]) {
      expect(parseToolCall(written)).toMatchObject({ kind: "malformed" });
    }
  });

  test.each(DIALECT_REPLIES)("is never taken when it is cut short: %s", (_, reply) => {
    const { text } = splitReasoning(reply);
    for (let length = 1; length < text.length; length += 1) {
      expect(parseToolCall(text.slice(0, length))?.kind).not.toBe("call");
    }
  });

  test.each([
    ["Mistral without arguments", "[TOOL_CALLS]read_text_file[ARGS]"],
    ["Mistral with a list", '[TOOL_CALLS]read_text_file[ARGS]["a.md"]'],
    ["Llama with words", "<function=read_text_file>a.md</function>"],
    ["gpt-oss cut short", 'to=functions.read_text_file <|message|>{"path": "a'],
    ["Gemma with a variable", "```tool_code\nread_text_file(path=name)\n```"],
    ["Gemma cut short", '```tool_code\nread_text_file(path="a.'],
    ["Python cut short", 'read_text_file(path="a.md'],
    [
      "a value of a megabyte",
      `<function=read_text_file><parameter=path>${"a".repeat(1_000_000)}</parameter></function>`,
    ],
    ["unknown tags in the tag", "<tool_call><run>ls</run></tool_call>"],
  ])("is malformed, whole or not: %s", (_, reply) => {
    expect(parseToolCall(reply)).toMatchObject({ kind: "malformed", name: null });
    expect(detectToolCall(reply)).toBe(true);
  });
});

const ALL = [...READ_REPLIES.map(({ what, reply }) => [what, reply] as const), ...DIALECT_REPLIES];

test.each(ALL)("a call is found in an answer: %s", (_, reply) => {
  expect(detectToolCall(splitReasoning(reply).text)).toBe(true);
});

test.each(ALL.filter(([what]) => !what.startsWith("Python: another tool")))(
  "a call is found behind an answer: %s",
  (_, reply) => {
    expect(detectToolCall(`Trains run [1].\n\n${splitReasoning(reply).text}`)).toBe(true);
  },
);

test.each(NO_CALLS)("no call: %s", (answer) => {
  expect(parseToolCall(answer)).toBeNull();
  expect(detectToolCall(answer)).toBe(false);
});
