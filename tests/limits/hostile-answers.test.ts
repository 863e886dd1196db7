import { describe, expect, test } from "@jest/globals";
import { markdownText } from "../../src/producer/export/markdown.ts";
import {
  cleanForDatabase,
  cleanForTerminal,
  cleanLine,
  cleanMessage,
} from "../../src/shared/terminal/styled-text.ts";
import { splitReasoning } from "../../src/worker/models/reasoning.ts";
import { detectToolCall, parseToolCall } from "../../src/worker/tools/parse-tool-call.ts";
import { checkAnswer } from "../../src/worker/verify/check-answer.ts";
import { splitFooters } from "../../src/worker/verify/reply.ts";
import { sha256Of } from "../support/pipeline-world.ts";
import { expectLinear, LONGEST_TURN_MS, timeTaken } from "../support/time-taken.ts";
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

  const of = (piece: string, before = "", after = "") => ({ piece, before, after });
  test.each([
    ["pipes", of("|")],
    ["delimiter cells", of("-|", "a|b\n", "x")],
    ["dashes", of("-", "a|b\n|", "x")],
    ["opening brackets", of("[")],
    ["braces and line breaks", of("{\n")],
    ["blanks of no width", of("\u200B")],
    ["fences", of("```\n~~~\n")],
    ["scopes", of("Scope ")],
    ["open brackets", of("[1, ")],
    ["digits in brackets", of("1", "[")],
    ["quote marks", of('" "')],
    ["quotes", of('"a quote that is long enough" ')],
    ["blanks", of(" ", "a", "b")],
    ["blanks behind a label", of(" ", "**a**", "b")],
    ["backticks", of("`")],
    ["backticks with gaps", of("` ")],
    ["footers", of("Scope: full evidence from\n")],
    ["stops in a quote", of(".", "“", "a”")],
    ["line breaks", of("\n")],
    ["accents", of("\u0301\u0316", "a")],
  ])("of 100,000 characters of %s is checked in time in proportion to it", async (_, made) => {
    await expectLinear(25_000, (chars) => {
      const { piece, before, after } = made;
      const text = before + piece.repeat(chars / piece.length) + after;
      return () => check(text);
    });
  });
});

const FOOTER = `Scope: full evidence from read_text_file (1/1), sha256=${sha256Of("a")}`;

test.each([
  ["one line", " "],
  ["lines of their own", "\n"],
])("a reply of thousands of footers on %s takes no longer than its length", async (_, between) => {
  await expectLinear(1_000, (footers) => {
    const reply = `It rains.${between}${`${FOOTER}${between}`.repeat(footers)}`;
    return () => splitFooters(reply);
  });
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
    `<function=${"a".repeat(127)}`,
    `[TOOL_CALLS]${" ".repeat(40)}`,
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

test.each(OPENINGS)(
  "100,000 characters are looked through in time in proportion to them, behind %j",
  async (opening) => {
    for (const piece of PIECES) {
      await expectLinear(25_000, (chars) => {
        const text = opening + piece.repeat(chars / piece.length);
        return () => [parseToolCall(text), detectToolCall(text)];
      });
    }
  },
);

describe("splitReasoning", () => {
  test("a megabyte of marks takes less than 200 ms", () => {
    const marks = ["<think>", "<thinking>", "[THINK]", "<|channel|>analysis<|message|>"];
    const texts = marks.map((mark) => mark.repeat(40_000) + `</think>${mark}`.repeat(20_000));
    expect(
      timeTaken(() => {
        for (const text of texts) splitReasoning(text);
      }, LONGEST_TURN_MS),
    ).toBeLessThan(LONGEST_TURN_MS);
  });
});

test("escaping takes time linear in the text", async () => {
  for (const piece of ["....a", "a.", "(((", "www.", "://", "a@", "`", "_"]) {
    await expectLinear(12_500, (chars) => {
      const text = piece.repeat(chars / piece.length);
      return () => markdownText(text);
    });
  }
});

test.each([
  ["the terminal", cleanForTerminal, "\u001b\u0000\ud800\u202e"],
  ["the database", cleanForDatabase, "\u001b\u0000\ud800\u202e"],
  ["a line", cleanLine, " \n"],
  ["a message", cleanMessage, "\n"],
])(
  "hundreds of thousands of hostile characters take linear time for %s",
  async (_, clean, piece) => {
    // Where a text passes some 3 MB, memory for it costs more at once: both sizes lie below.
    await expectLinear(100_000, (chars) => {
      const hostile = piece.repeat(chars / piece.length);
      return () => clean(hostile);
    });
  },
);

test("two hundred thousand hostile characters are cleaned", () => {
  const hostile = "\u001b\u0000\ud800\u202e".repeat(50_000);
  expect(cleanForTerminal(hostile).length).toBeGreaterThan(hostile.length);
  expect(cleanForDatabase(hostile)).toHaveLength(150_000);
  expect(cleanLine(" \n".repeat(100_000))).toBe(" ");
  expect(cleanMessage("\n".repeat(100_000)).length).toBeGreaterThan(100_000);
});
