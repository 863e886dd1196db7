import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { checkAnswer } from "../../../src/worker/pipeline/check-answer.ts";
import type { AnswerRules } from "../../../src/worker/pipeline/check-answer.ts";
import { numberEvidence } from "../../../src/worker/pipeline/number-evidence.ts";
import { passageOf, sha256Of } from "./pipeline-world.ts";

const evidence = numberEvidence({
  kind: "admitted",
  file: null,
  passages: [
    passageOf("a.md", "Bikes must be back\nby “six o’clock” in the evening."),
    passageOf("b.md", "The deposit is 40 EUR; see [7] for tool_call rules."),
  ],
  snapshotHash: sha256Of("x"),
});
const footer = `Scope: 2 passages from 2 files, snapshot=${sha256Of("x")}`;
const rules: AnswerRules = { footer, evidence, citations: "required" };
const check = (text: string, more: Partial<AnswerRules> = {}): ReturnType<typeof checkAnswer> =>
  checkAnswer({ text, doneReason: "stop" }, { ...rules, ...more });
const codes = (text: string): string[] => {
  const checked = check(text);
  return checked.kind === "violated" ? checked.violations.map(({ code }) => code) : [checked.kind];
};

describe("the scope footer", () => {
  test.each([
    ["exact", `Back by six [1].\n${footer}`, "exact"],
    ["with blank lines after it", `Back by six [1].\n\n${footer}\n\n`, "exact"],
    ["missing", "Back by six [1].", "appended"],
    ["altered", `Back by six [1].\n${footer.replace("2 files", "9 files")}`, "replaced"],
    ["twice", `Back by six [1].\n${footer}\n${footer}`, "replaced"],
  ])("%s", (_, text, state) => {
    expect(check(text)).toMatchObject({
      kind: "passed",
      footer: state,
      text: `Back by six [1].\n${footer}`,
    });
  });

  test("a last line of the answer that opens with Scope: stays", () => {
    const checked = check("It covers repairs [1].\nScope: the whole shop");
    expect(checked).toMatchObject({
      footer: "appended",
      text: `It covers repairs [1].\nScope: the whole shop\n${footer}`,
    });
  });
});

describe("violations", () => {
  test.each([
    ["an empty answer", "", ["EMPTY_ANSWER"]],
    ["a footer alone", footer, ["EMPTY_ANSWER"]],
    ["a tool call", '{"type":"tool_call","name":"x","args":{}}', ["TOOL_CALL"]],
    [
      "a fenced tool call",
      '```json\n{"type":"tool_call","name":"x","args":{}}\n```',
      ["TOOL_CALL"],
    ],
    ["a table", "a [1] | b\n--- | ---\n1 | 2", ["MARKDOWN_TABLE"]],
    ["a boxed table", "| a [1] |\n|:-:|\n| 1 |", ["MARKDOWN_TABLE"]],
    ["no citation", "Back by six.", ["CITATION_MISSING"]],
    ["an unknown citation", "Back by six [3].", ["CITATION_UNKNOWN"]],
    ["a citation in code only", "Back by `x[1]`.", ["CITATION_MISSING"]],
    ["another spelling of a citation", "Back by six [source: a.md].", ["CITATION_MISSING"]],
    ["an invented quote", 'It says "by seven o\'clock sharp" [1].', ["QUOTE_NOT_FOUND"]],
    ["a stitched quote", 'It says "Bikes must be in the evening" [1].', ["QUOTE_NOT_FOUND"]],
    [
      "several at once",
      'a|b\n-|-\nIt says "by seven o\'clock sharp"',
      ["MARKDOWN_TABLE", "CITATION_MISSING", "QUOTE_NOT_FOUND"],
    ],
  ])("%s", (_, text, expected) => {
    const more = text.startsWith("{") || text.startsWith("```") || text === "" || text === footer;
    const found = codes(text).filter((code) => !(more && code === "CITATION_MISSING"));
    expect(found).toEqual(expected);
  });

  test("a reply that was cut off", () => {
    const checked = checkAnswer({ text: "Back by [1]", doneReason: "length" }, rules);
    expect(checked).toMatchObject({ kind: "violated", violations: [{ code: "CUT_SHORT" }] });
  });
});

describe("what is no violation", () => {
  test.each([
    ["shell pipes", "Run ls | sort || true, then cat a | b | c | d [1]."],
    ["a rule under a line with a pipe", "a | b [1]\n---"],
    ["a table in a fence", "As [1]:\n```\n|a|b|\n|-|-|\n```"],
    ["a quote over a line break", 'Bikes "must be back by "six o\'clock" in" [1]'],
    ["a quote with other marks and a full stop", "It says “Bikes must be back by.” [1]"],
    ["a short term in quotes", 'The "deposit" [2].'],
    ["inches", 'A 26" wheel and a 28" wheel [1].'],
    ["a list of citations", "Both [1, 2]."],
    ["a range of citations", "Both [1-2]."],
    ["a quote of a neutralised footnote", 'It says "see (7) for tool·call rules" [2].'],
  ])("%s", (_, text) => {
    expect(codes(text)).toEqual(["passed"]);
  });

  test("without citations enabled nothing has to be cited", () => {
    expect(check("Back by six.", { citations: "off" })).toMatchObject({
      kind: "passed",
      cited: [],
    });
    expect(check("Back by six.", { citations: "known" })).toMatchObject({ kind: "passed" });
  });
});

describe("declining", () => {
  test.each([
    "INSUFFICIENT_EVIDENCE",
    "**INSUFFICIENT_EVIDENCE.**",
    `INSUFFICIENT_EVIDENCE\n${footer}`,
  ])("%s", (text) => {
    expect(check(text)).toEqual({ kind: "declined" });
  });

  test("a sentence that mentions the literal is an answer", () => {
    expect(codes("The code INSUFFICIENT_EVIDENCE means no [1].")).toEqual(["passed"]);
  });
});

describe("hostile answers", () => {
  test("the result ends with the footer, whatever the model writes", () => {
    const piece = fc.constantFrom(
      "[1]",
      "|",
      "-",
      "\n",
      '"',
      "“",
      "`",
      "```",
      "Scope:",
      footer,
      " ",
      "{",
      "INSUFFICIENT_EVIDENCE",
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 60 }), (parts) => {
        const checked = check(parts.join(""));
        if (checked.kind === "passed") expect(checked.text.split("\n").at(-1)).toBe(footer);
      }),
    );
  });

  test.each([
    ["pipes", "|".repeat(1_000_000)],
    ["delimiter cells", `a|b\n${"-|".repeat(500_000)}x`],
    ["dashes", `a|b\n|${"-".repeat(1_000_000)}x`],
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
  ])("a megabyte of %s is checked in less than 1.5 s", (_, text) => {
    const startedAt = performance.now();
    check(text);
    expect(performance.now() - startedAt).toBeLessThan(1500);
  });
});
