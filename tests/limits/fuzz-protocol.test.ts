import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { matchTrigger } from "../../src/shared/match-trigger.ts";
import { classifyQuestion, findNamedFiles } from "../../src/worker/question/classify-question.ts";
import { knownFilesOf } from "../../src/worker/question/known-files.ts";
import {
  detectToolCall,
  fromNativeCalls,
  parseToolCall,
} from "../../src/worker/tools/parse-tool-call.ts";
import { timeTaken, timeTakenBy } from "../support/time-taken.ts";

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

/** Shapes over which a careless scanner or pattern starts again and again, each repeated to the wanted length. */
const SHAPES = [
  ..."{[(\"'\\`~ \n\t_*.-:/<>|#@1é\0\u200b".split(""),
  ...[
    "{}",
    "[]",
    "()",
    '""',
    '"a',
    "'a ",
    "\\u",
    "\\\\u0041",
    "<think>",
    "</think>",
    "<think></think>",
  ],
  ...[
    "<tool_call>",
    "[TOOL_CALLS]",
    "```json ",
    "~~~ ",
    '{"type":',
    '{"type" :  ',
    '{ "type":"tool_call"',
  ],
  ...[', "name":"read_text_file"', "read_text_file(", '"arguments":', '{"a":', "[1,", "{'type':"],
  ...[
    "../",
    "/../",
    "[[",
    "]]",
    "[[a",
    "[[a]] ",
    "](",
    "[a](",
    "a.md",
    "a.md ",
    ".md.",
    "a.md-",
    "“a",
    "«a",
  ],
  ...[
    "a@",
    "a.b/",
    "a.com/",
    "https://",
    "Read /a/",
    "in ",
    "in-",
    "how deep",
    "a ",
    "a a a a ",
    "笔",
    "ſ",
  ],
  ...[
    "foo.xyz ",
    "Read foo.xyz ",
    "foo.xyz.",
    "and/or ",
    "a/b.xyz ",
    "../x ",
    ".env ",
    ".env.",
    "README ",
  ],
  ...[
    "l'a.md ",
    "l'",
    "x.c.",
    "U.S. ",
    "Node.js ",
    "“foo.xyz” ",
    "'b/c' ",
    "what says ",
    "a.xyz\n",
    "v1.2.",
  ],
  ...["/a", "~/", "C:\\", "localhost:", "a-", "LICENSE-", "\u00a0a.md", "plan 2026.md "],
];
const OPENINGS = ["", '{"type":"tool_call","name":"x","args":{"n":', '"', "<think>", "```"];

/** Names that nearly fit, and names with blanks that end alike: what a question is compared with most often. */
const manyFiles = knownFilesOf(
  Array.from({ length: 20_000 }, (_, at) => [
    `corpus/foo${at % 10}.xy${at}`,
    `corpus/part ${at} plan 2026.md`,
    `corpus/${at}/l'a.md`,
  ]).flat(),
);
const files = async () => manyFiles;

describe("200,000 characters of any shape take less than 400 ms", () => {
  const shapes = SHAPES.map((shape) => shape.repeat(Math.ceil(200_000 / shape.length)));
  const replies = shapes.flatMap((shape) => OPENINGS.map((opening) => opening + shape));

  test.each([
    ["parser", parseToolCall, replies],
    ["detector", detectToolCall, replies],
    ["classification", (question: string) => classifyQuestion(question, settings, files), shapes],
    ["named files", (question: string) => findNamedFiles(question, EXTENSIONS, noFiles), shapes],
    ["triggers", (question: string) => matchTrigger(question, TRIGGERS), shapes],
  ])("in the %s", async (_, run: (text: string) => unknown, texts) => {
    const slow: string[] = [];
    for (const shape of texts) {
      if ((await timeTakenBy(async () => run(shape), 400)) >= 400) slow.push(shape.slice(0, 60));
    }
    expect(slow).toEqual([]);
  });
});

describe("four megabytes take less than 400 ms and end in an outcome", () => {
  const size = 4_000_000;
  const opening = '{"type":"tool_call","name":"x","args":{"n":';

  test.each([
    ["text behind a call", call + " and".repeat(size / 4), "call"],
    ["thinking before a call", `<think>${"hm. ".repeat(size / 4)}</think>${call}`, "call"],
    ["a number", `${opening}${"9".repeat(size)}}}`, "malformed"],
    ["a string", `${opening}"${"a".repeat(size)}"}}`, "malformed"],
    ["open brackets", opening + "[".repeat(size), "malformed"],
    ["backslashes", `${opening}"${"\\".repeat(size)}`, "malformed"],
    ["white space", " ".repeat(size), undefined],
    ["open braces", "{".repeat(size), undefined],
  ])("%s", (_, reply, kind) => {
    expect(parseToolCall(reply)?.kind).toBe(kind);
    expect(timeTaken(() => parseToolCall(reply), 400)).toBeLessThan(400);
  });
});
