import { describe, expect, test } from "@jest/globals";
import { matchTrigger } from "../../src/shared/text/match-trigger.ts";
import { classifyQuestion } from "../../src/worker/question/classify-question.ts";
import { knownFilesOf } from "../../src/worker/question/known-files.ts";
import { detectToolCall, parseToolCall } from "../../src/worker/tools/parse-tool-call.ts";
import { expectLinear, timeTaken } from "../support/time-taken.ts";

const call = '{"type":"tool_call","name":"read_text_file","args":{"path":"a.md"}}';
const TRIGGERS = ["deep", "in depth", "failure modes", "summary", "a a a a b"];
const settings = {
  allowedExts: [".md", ".txt", ".json"],
  summaryTriggers: TRIGGERS,
  fullTriggers: TRIGGERS,
  extent: "as_needed",
} as const;

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
  ...["a b ", "“a“b", "a a a a \u200bb "],
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

describe("100,000 characters of any shape take less than 200 ms", () => {
  const shapes = SHAPES.map((shape) => shape.repeat(Math.ceil(100_000 / shape.length)));
  const replies = shapes.flatMap((shape) => OPENINGS.map((opening) => opening + shape));

  test.each([
    ["parser", parseToolCall, replies],
    ["detector", detectToolCall, replies],
    ["triggers", (question: string) => matchTrigger(question, TRIGGERS), shapes],
  ])("in the %s", (_, run: (text: string) => unknown, texts) => {
    const slow: string[] = [];
    for (const shape of texts) {
      if (timeTaken(() => run(shape), 200) >= 200) slow.push(shape.slice(0, 60));
    }
    expect(slow).toEqual([]);
  });
});

test("questions of any shape are classified in time in proportion to their length", async () => {
  for (const shape of SHAPES) {
    await expectLinear(12_500, (chars) => {
      const question = shape.repeat(Math.ceil(chars / shape.length));
      return () => classifyQuestion(question, settings, files);
    });
  }
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
