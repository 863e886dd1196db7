import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  classifyQuestion,
  findNamedFiles,
} from "../../../src/worker/question/classify-question.ts";
import { knownFilesOf } from "../../../src/worker/question/known-files.ts";
import {
  detectToolCall,
  fromNativeCalls,
  parseToolCall,
} from "../../../src/worker/tools/parse-tool-call.ts";

const call = '{"type":"tool_call","name":"read_text_file","args":{"path":"a.md"}}';
const EXTENSIONS = [".md", ".txt", ".json"];
const TRIGGERS = ["deep", "in depth", "failure modes", "summary", "a a a a b"];
const settings = {
  allowedExts: EXTENSIONS,
  summaryTriggers: TRIGGERS,
  fullTriggers: TRIGGERS,
  extent: "as_needed",
} as const;

const noFiles = async () => knownFilesOf([]);

const MARKS = [
  ..."{}[]()<>\"'`\\/|#@:,.;*_~-\0 \n\t\u00a0\u200b\ud800\udc00".split(""),
  ...["<think>", "</think>", "```json\n", "~~~", "<tool_call>", "</tool_call>", "[TOOL_CALLS]"],
  ...['"type":"tool_call"', '"name":"read_text_file"', '"arguments":{', "read_text_file(", call],
  ...[
    "a.md",
    ".md",
    "../",
    "[[",
    "]]",
    "](",
    "https://",
    "1e999",
    "deep",
    "in depth",
    "how",
    "é",
    "笔记",
  ],
];
const text = fc
  .array(fc.oneof(fc.constantFrom(...MARKS), fc.string({ unit: "binary" })), { maxLength: 40 })
  .map((parts) => parts.join(""));

describe("no text", () => {
  test("makes the parser throw, or give something without a kind", () => {
    fc.assert(
      fc.property(text, (reply) => {
        expect([undefined, "call", "malformed"]).toContain(parseToolCall(reply)?.kind);
      }),
    );
  });

  test("keeps a call from being found after it", () => {
    fc.assert(
      fc.property(text, (before) => {
        expect(detectToolCall(`${before}\n${call}`)).toBe(true);
      }),
    );
  });

  test("opens as a call that the detector does not see", () => {
    fc.assert(
      fc.property(text, (reply) => {
        expect(parseToolCall(reply) === null || detectToolCall(reply)).toBe(true);
      }),
    );
  });

  test("changes the arguments of the call that it follows", () => {
    fc.assert(
      fc.property(text, (after) => {
        expect(parseToolCall(call + after)).toMatchObject({ kind: "call", args: { path: "a.md" } });
      }),
    );
  });

  test("names a file that it does not hold", async () => {
    await fc.assert(
      fc.asyncProperty(text, async (question) => {
        for (const name of (await findNamedFiles(question, EXTENSIONS, noFiles)).names) {
          expect(question.includes(name) || question.includes(name.slice(0, -3))).toBe(true);
        }
      }),
    );
  });

  test("makes the classification contradict itself", async () => {
    await fc.assert(
      fc.asyncProperty(text, async (question) => {
        const classified = await classifyQuestion(question, settings, noFiles);
        const { need, namedFiles, wholeBecause } = classified;
        expect(need === "passages").toBe(namedFiles.length === 0);
        expect(need === "whole_file").toBe(wholeBecause !== null);
      }),
    );
  });
});

describe("arguments of any JSON", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "\0", "\ud83d", "\ude00", "\\", '"', "é") });
  const { json } = fc.letrec<{ json: unknown; list: unknown; record: unknown }>((tie) => ({
    json: fc.oneof({ maxDepth: 4 }, word, fc.double(), tie("list"), tie("record")),
    list: fc.array(tie("json"), { maxLength: 3 }),
    record: fc.dictionary(fc.oneof(fc.constant("__proto__"), word), tie("json"), { maxKeys: 3 }),
  }));

  test("come back as they were written, or with a reason", () => {
    fc.assert(
      fc.property(fc.dictionary(word, json, { maxKeys: 3 }), (args) => {
        const reply = JSON.stringify({ type: "tool_call", name: "read_text_file", args });
        const parsed = parseToolCall(reply);
        if (parsed?.kind !== "call") {
          expect(parsed?.reason).toMatch(/^it /);
          return;
        }
        expect(JSON.stringify(parsed.args)).toBe(JSON.stringify(args));
        for (const held of stringsIn(parsed.args)) {
          expect(held).not.toContain("\0");
          expect(Buffer.from(held).toString()).toBe(held);
        }
      }),
    );
  });

  test("are read alike from a host and from a text", () => {
    fc.assert(
      fc.property(fc.dictionary(word, json, { maxKeys: 3 }), (args) => {
        const written = JSON.parse(JSON.stringify(args)) as unknown;
        const reply = JSON.stringify({ type: "tool_call", name: "x", args });
        expect(fromNativeCalls([{ name: "x", args: written }], "")).toEqual(parseToolCall(reply));
      }),
    );
  });
});

function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [key, ...stringsIn(member)]);
}
