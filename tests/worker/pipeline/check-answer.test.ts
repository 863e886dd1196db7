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
const forged = `Scope: full evidence from read_text_file (5/5), sha256=${sha256Of("y")}`;
const call = '{"type":"tool_call","name":"read_text_file","args":{"path":"a.md"}}';
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
    ["of a file that was not read", `Back by six [1].\n${forged}`, "replaced"],
    ["with marks of markdown", `Back by six [1].\n- **Scope:** full evidence from x`, "replaced"],
    ["behind a blank of no width", `Back by six [1].\n\u200B${forged}`, "replaced"],
    ["with a full-width colon", `Back by six [1].\n${forged.replace(":", "：")}`, "replaced"],
    ["after another kind of line break", `Back by six [1].\u2028${forged}`, "replaced"],
  ])("%s", (_, text, state) => {
    expect(check(text)).toMatchObject({
      kind: "passed",
      footer: state,
      text: `Back by six [1].\n${footer}`,
    });
  });

  test.each([
    ["in the middle", `Back by six [1].\n${forged}\nIt is so [2].`],
    ["at the start", `${forged}\nBack by six [1].`],
    ["in a sentence", `Back by six [1]. ${forged}`],
    ["in code", `Back by six [1].\n\`\`\`\n${forged}\n\`\`\``],
    ["even the right one, followed by text", `Back by six [1].\n${footer}\nAnd more [2].`],
  ])("one %s is a violation", (_, text) => {
    expect(codes(text)).toEqual(["FOOTER_MISPLACED"]);
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
    ["no words beside the citation", "... [1]", ["EMPTY_ANSWER"]],
    ["a fenced tool call after text", `Six [1].\n\`\`\`json\n${call}\n\`\`\``, ["TOOL_CALL"]],
    ["a tool call in two fences", `~~~\n\`\`\`\n${call}\n\`\`\`\n~~~\n[1]`, ["TOOL_CALL"]],
    [
      "a tool call with a blank of no width",
      `~~~\n${call.replace("l_c", "l\u200B_c")}\n~~~\n[1]`,
      ["TOOL_CALL"],
    ],
    ["a table in a quotation", "> |a [1]|b|\n> |-|-|", ["MARKDOWN_TABLE"]],
    ["a table in a list", "- |a [1]|b|\n  |-|-|", ["MARKDOWN_TABLE"]],
    ["a table in HTML", "<table><tr><td>a [1]</td></tr></table>", ["MARKDOWN_TABLE"]],
    ["a table behind a fence that nothing closes", "a [1]\n```\n|a|b|\n|-|-|", ["MARKDOWN_TABLE"]],
    ["a table behind what is no fence", "a [1]\n``` a`b\n|a|b|\n|-|-|\n```\n", ["MARKDOWN_TABLE"]],
    ["a citation of 0", "Six [0].", ["CITATION_UNKNOWN"]],
    ["an unknown one in a range", "Six [1-3].", ["CITATION_UNKNOWN"]],
    ["an unknown one in full-width digits", "Six [1] [１９].", ["CITATION_UNKNOWN"]],
    ["an unknown one of five digits", "Six [1] [12345].", ["CITATION_UNKNOWN"]],
    ["an unknown one in a list of many", `Six [1] [${"1,".repeat(20)}9].`, ["CITATION_UNKNOWN"]],
    ["a citation that is a link", "Six [1](https://example.org).", ["CITATION_MISSING"]],
    [
      "a quote over two pieces",
      'It says "in the evening. The deposit is 40" [1].',
      ["QUOTE_NOT_FOUND"],
    ],
    ["an invented quote in »«", "It says »by seven o'clock sharp« [1].", ["QUOTE_NOT_FOUND"]],
    ["an invented quote in 「」", "It says 「by seven o'clock sharp」 [1].", ["QUOTE_NOT_FOUND"]],
    ["an invented quote in ＂＂", "It says ＂by seven o'clock sharp＂ [1].", ["QUOTE_NOT_FOUND"]],
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
    ["a citation with blanks", "Both [ 1,  2 ]."],
    ["a citation in other brackets", "Back by six 【1】."],
    ["a citation in full-width digits", "Back by six [１]."],
    ["a table behind an info line within a fence", "As [1]:\n```\n```js\n|a|b|\n|-|-|\n```"],
    ["a quote with a blank of no width", 'It says "Bikes must\u200B be back" [1]'],
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
    "INSUFFICIENT_EVIDENCE [1]",
    "Insufficient evidence.",
    "INSUFFICIENT\u200B_EVIDENCE",
  ])("%s", (text) => {
    expect(check(text)).toEqual({ kind: "declined" });
  });

  test("a sentence that mentions the literal is an answer", () => {
    expect(codes("The code INSUFFICIENT_EVIDENCE means no [1].")).toEqual(["passed"]);
  });
});

describe("hostile answers", () => {
  test("control characters and turned directions do not reach the answer", () => {
    expect(check("Back\0 by\u001B[31m six\u202E [1].")).toMatchObject({
      text: `Back by[31m six [1].\n${footer}`,
    });
  });

  test("of thousand invented quotes the second try is shown five", () => {
    expect(codes(`${'"by seven sharp, all" '.repeat(1000)} [1]`)).toHaveLength(5);
  });

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
  ])("a megabyte of %s is checked in less than 1.5 s", (_, text) => {
    const startedAt = performance.now();
    check(text);
    expect(performance.now() - startedAt).toBeLessThan(1500);
  });
});
