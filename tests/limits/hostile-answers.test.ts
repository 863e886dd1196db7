import { describe, expect, test } from "@jest/globals";
import { markdownText } from "../../src/producer/export/markdown.ts";
import {
  cleanForDatabase,
  cleanForTerminal,
  cleanLine,
  cleanMessage,
} from "../../src/shared/styled-text.ts";
import { removeThinking } from "../../src/worker/models/streamed-reply.ts";
import { detectToolCall, parseToolCall } from "../../src/worker/tools/parse-tool-call.ts";
import { checkAnswer } from "../../src/worker/verify/check-answer.ts";
import { splitFooters } from "../../src/worker/verify/reply.ts";
import { sha256Of } from "../support/pipeline-world.ts";
import { timeTaken } from "../support/time-taken.ts";
import { blockOf, rulesFor } from "../worker/verify/support-world.ts";

describe("an answer", () => {
  const rules = rulesFor([
    blockOf(1, "a.md", "Bikes must be back\nby “six o’clock” in the evening."),
    blockOf(
      2,
      "b.md",
      "The deposit is 40 EUR; see [7] for tool_call rules, or https://desk.example/x.",
    ),
  ]);
  const check = (text: string) => checkAnswer({ text, toolCalls: [], doneReason: "stop" }, rules);

  test.each([
    ["pipes", "|".repeat(1_000_000)],
    ["delimiter cells", `a|b\n${"-|".repeat(500_000)}x`],
    ["dashes", `a|b\n|${"-".repeat(1_000_000)}x`],
    ["opening brackets", "[".repeat(1_000_000)],
    ["braces and line breaks", "{\n".repeat(500_000)],
    ["blanks of no width", "\u200B".repeat(1_000_000)],
    ["fences", "```\n~~~\n".repeat(125_000)],
    ["scopes", "Scope ".repeat(160_000)],
    ["open brackets", "[1, ".repeat(250_000)],
    ["digits in brackets", `[${"1".repeat(1_000_000)}`],
    ["quote marks", '" "'.repeat(300_000)],
    ["quotes", '"a quote that is long enough" '.repeat(35_000)],
    ["blanks", `a${" ".repeat(1_000_000)}b`],
    ["backticks", "`".repeat(1_000_000)],
    ["backticks with gaps", "` ".repeat(500_000)],
    ["footers", "Scope: full evidence from\n".repeat(40_000)],
    ["stops in a quote", `“${".".repeat(1_000_000)}a”`],
    ["line breaks", "\n".repeat(1_000_000)],
    ["accents", `a${"\u0301\u0316".repeat(500_000)}`],
  ])("a megabyte of %s is checked in less than 2 s", (_, text) => {
    expect(timeTaken(() => check(text), 2_000)).toBeLessThan(2_000);
  });
});

const FOOTER = `Scope: full evidence from read_text_file (1/1), sha256=${sha256Of("a")}`;

test.each([
  ["one line", " "],
  ["lines of their own", "\n"],
])("a reply of thousands of footers on %s takes no longer than its length", (_, between) => {
  const reply = `It rains.${between}${`${FOOTER}${between}`.repeat(20_000)}`;
  expect(timeTaken(() => splitFooters(reply), 500)).toBeLessThan(500);
});

/** Pieces of the forms above, over which a careless pattern starts again and again. */
const PIECES = [
  ...[
    "<tool_call>",
    "<tool_call> ",
    "<tool_call>a",
    "[TOOL_CALLS]a",
    "<function=a>",
    "<function=a> ",
  ],
  ...[
    "<parameter=a>",
    "</parameter>",
    '<invoke name="a"> ',
    "<arg_key>",
    "<tool_call>a <arg_key>a</arg_key><arg_value>",
  ],
  ...[
    "to=functions.a ",
    "to=functions.a<|message|>",
    "<|channel|>commentary<|message|>a",
    "commentary ",
    "assistant ",
  ],
  ...[
    "```tool_code ",
    "```tool_code a(",
    "[a(",
    "print(",
    "read_text_file(",
    "read_text_file( \n",
    '[a(b="',
    "[a(b=[",
    "a(b={",
  ],
  ...[
    "<｜tool▁call▁begin｜>",
    "<｜tool▁call▁begin｜>a",
    "call:a{",
    "<start_function_call>call:a{b:<escape>",
    "Action: ",
    "functools[ ",
  ],
  ...[
    "Action: read_text_file\n",
    "read_text_file\n",
    "<|python_tag|> ",
    "'",
    '"',
    "\\",
    "# ",
    " , ",
  ],
];
const OPENINGS = [
  "",
  "<tool_call>",
  "[TOOL_CALLS]",
  "<function=a><parameter=b>",
  "```tool_code\na(b=",
  "[read_text_file(path=",
  "<start_function_call>call:a{",
  "<tool_call>a<arg_key>b</arg_key><arg_value>c</arg_value>",
];

test.each(OPENINGS)("no text of a megabyte takes long to look through, behind %j", (opening) => {
  for (const piece of PIECES) {
    const text = opening + piece.repeat(Math.ceil(1_000_000 / piece.length));
    const taken = timeTaken(() => [parseToolCall(text), detectToolCall(text)], 2_000);
    expect({ piece, isLong: taken > 2_000 }).toEqual({ piece, isLong: false });
  }
});

describe("removeThinking", () => {
  test("a megabyte of marks takes less than 200 ms", () => {
    const marks = ["<think>", "<thinking>", "[THINK]", "<|channel|>analysis<|message|>"];
    const texts = marks.map((mark) => mark.repeat(40_000) + `</think>${mark}`.repeat(20_000));
    expect(
      timeTaken(() => {
        for (const text of texts) removeThinking(text);
      }, 200),
    ).toBeLessThan(200);
  });
});

test("escaping takes time linear in the text", () => {
  for (const piece of ["....a", "a.", "(((", "www.", "://", "a@", "`", "_"]) {
    const text = piece.repeat(200_000 / piece.length);
    expect(timeTaken(() => markdownText(text))).toBeLessThan(1_000);
  }
});

test("two million hostile characters take linear time", () => {
  const started = performance.now();
  const hostile = "\u001b\u0000\ud800\u202e".repeat(500_000);
  expect(cleanForTerminal(hostile).length).toBeGreaterThan(hostile.length);
  expect(cleanForDatabase(hostile)).toHaveLength(1_500_000);
  expect(cleanLine(" \n".repeat(1_000_000))).toBe(" ");
  expect(cleanMessage("\n".repeat(1_000_000)).length).toBeGreaterThan(1_000_000);
  expect(performance.now() - started).toBeLessThan(15_000);
});
