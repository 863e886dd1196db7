import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { numberEvidence } from "../../../src/worker/evidence/number.ts";
import { checkAnswer } from "../../../src/worker/verify/check-answer.ts";
import type { AnswerRules } from "../../../src/worker/verify/check-answer.ts";
import { passageOf, sha256Of } from "../../support/pipeline-world.ts";
import { rulesFor } from "./support-world.ts";

const evidence = numberEvidence({
  kind: "admitted",
  files: [],
  passages: [
    passageOf("a.md", "Bikes must be back\nby “six o’clock” in the evening."),
    passageOf(
      "b.md",
      "The deposit is 40 EUR; see [7] for tool_call rules, or https://desk.example/x.",
    ),
  ],
  snapshotHash: sha256Of("x"),
});
const rules = rulesFor(evidence);
const { footer } = rules;
const forged = `Scope: full evidence from read_text_file (5/5), sha256=${sha256Of("y")}`;
const call = '{"type":"tool_call","name":"read_text_file","args":{"path":"a.md"}}';
const check = (text: string, more: Partial<AnswerRules> = {}): ReturnType<typeof checkAnswer> =>
  checkAnswer({ text, toolCalls: [], doneReason: "stop" }, { ...rules, ...more });
/** What is wrong with the answer, and why statements of it are not carried that have nothing wrong in their words. */
const codes = (text: string, more: Partial<AnswerRules> = {}): string[] => {
  const checked = check(text, more);
  if (checked.kind === "declined") return [checked.kind];
  const faults = checked.kind === "violated" ? checked.violations.map(({ code }) => code) : [];
  const reasons = checked.statements
    .filter(({ record }) => record.grade === "unsupported")
    .map(({ record }) => record.reason)
    .filter((reason) => ["not_admitted", "quote", "name"].includes(reason));
  const found = [...faults, ...new Set(reasons)];
  return found.length === 0 ? [checked.kind] : found;
};

test("who wrote what is quoted needs no further words, and a piece that lacks it carries nothing", () => {
  const letter = "He has eleven years of experience and could start soon. I would take him. Greta";
  const mails = numberEvidence({
    ...{ kind: "admitted", files: [], snapshotHash: sha256Of("x") },
    passages: [passageOf("c.eml", letter), passageOf("d.eml", "We need somebody who welds.")],
  });
  const rulesOfMails = rulesFor(mails);
  const gradesOf = (text: string) => {
    const reply = `${text}\n${rulesOfMails.footer}`;
    const checked = checkAnswer({ text: reply, toolCalls: [], doneReason: "stop" }, rulesOfMails);
    return checked.kind === "declined" ? [] : checked.statements.map(({ record }) => record.grade);
  };
  expect(gradesOf('She writes "I would take him" [1].')).toEqual(["unconfirmed"]);
  expect(gradesOf('She writes "I would take him" [2].')).toEqual(["unsupported"]);
  expect(gradesOf('She writes "I would not have him" [1].')).toEqual(["unsupported"]);
});

describe("a signature", () => {
  const letter = numberEvidence({
    ...{ kind: "admitted", files: [], snapshotHash: sha256Of("x") },
    passages: [
      passageOf("c.eml", "The pier opens in May. The café stays closed.\n\nIda Moreno, harbour"),
    ],
  });
  const answerOf = (text: string) => {
    const ofLetter = { ...rulesFor(letter), unsupported: "drop" } as const;
    const reply = {
      text: `${text}\n${ofLetter.footer}`,
      toolCalls: [],
      doneReason: "stop",
    } as const;
    const checked = checkAnswer(reply, ofLetter);
    return checked.kind === "passed" ? checked.body : checked.kind;
  };

  test.each([
    ["a block", "> Penguins swim fast under water.\n> — Ida Moreno [1]"],
    ["a block with a line between", "> Penguins swim fast [1].\n>\n> — Ida Moreno [1]"],
    ["a block that it stands below", "> Penguins swim fast [1].\n— Ida Moreno [1]"],
    ["marks", '"Penguins swim fast under water." — Ida Moreno [1]'],
  ])("does not stay alone of a quotation in %s", (_, quotation) => {
    expect(answerOf(quotation)).toBe("violated");
    expect(answerOf(`The pier opens in May [1].\n\n${quotation}`)).toBe(
      "The pier opens in May [1].",
    );
  });

  test("stays below what is left of its quotation", () => {
    const quotation =
      "> The pier opens in May [1].\n> The café opens in June [1].\n> — Ida Moreno [1]";
    expect(answerOf(quotation)).toBe("> The pier opens in May [1].\n> — Ida Moreno [1]");
    const whole = "> The pier opens in May [1].\n> — Ida Moreno [1]";
    expect(answerOf(whole)).toBe(whole);
  });
});

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
    ["behind the last sentence", `Back by six [1]. ${forged}`, "replaced"],
    ["in code", `Back by six [1].\n\`\`\`\n${forged}\n\`\`\``, "replaced"],
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
    ["in a sentence", `Back by six [1]. ${forged} So it is [2].`],
    ["in code", `Back by six [1].\n\`\`\`\n${forged}\n\`\`\`\nSo it is [2].`],
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
    ["a lead-in to nothing", "The deposit is the following [1]:", ["EMPTY_ANSWER"]],
    ["a heading alone", "# My answer [1]", ["EMPTY_ANSWER"]],
    ["a question back", "Which deposit do you mean [1]?", ["EMPTY_ANSWER"]],
    ["a courtesy", "I hope this helps! [1]", ["EMPTY_ANSWER"]],
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
    ["a citation of 0", "Six [0].", ["CITATION_UNKNOWN", "not_admitted"]],
    ["an unknown one in a range", "Six [1-3].", ["not_admitted"]],
    ["an unknown one in full-width digits", "Six [1] [１９].", ["not_admitted"]],
    ["an unknown one of five digits", "Six [1] [12345].", ["not_admitted"]],
    ["an unknown one in a list of many", `Six [1] [${"1,".repeat(20)}9].`, ["not_admitted"]],
    ["a citation that is a link", "Six [1](https://example.org).", ["CITATION_MISSING", "name"]],
    ["a quote over two pieces", 'It says "in the evening. The deposit is 40" [1].', ["quote"]],
    ["an invented quote in »«", "It says »by seven o'clock sharp« [1].", ["quote"]],
    ["an invented quote in 「」", "It says 「by seven o'clock sharp」 [1].", ["quote"]],
    ["an invented quote in ＂＂", "It says ＂by seven o'clock sharp＂ [1].", ["quote"]],
    ["a table", "a [1] | b\n--- | ---\n1 | 2", ["MARKDOWN_TABLE"]],
    ["a boxed table", "| a [1] |\n|:-:|\n| 1 |", ["MARKDOWN_TABLE"]],
    ["no citation", "Back by six.", ["CITATION_MISSING"]],
    ["an unknown citation", "Back by six [3].", ["CITATION_UNKNOWN", "not_admitted"]],
    ["a citation in code only", "Back by `x[1]`.", ["CITATION_MISSING"]],
    [
      "another spelling of a citation",
      "Back by six [Source: z.md].",
      ["CITATION_UNKNOWN", "not_admitted"],
    ],
    [
      "a citation of a heading that is not there",
      "Back by six [a.md#Tram].",
      ["CITATION_UNKNOWN", "not_admitted"],
    ],
    ["a wiki link to nothing", "Back by six [[Plans]].", ["CITATION_UNKNOWN", "not_admitted"]],
    ["a misattributed quote", 'It says "The deposit is 40 EUR" [1].', ["quote"]],
    ["an invented block quotation", "So [1]:\n> by seven o'clock sharp", ["quote"]],
    [
      "an invented part of a quote with citations in it",
      'It says "Bikes must be back [1]. The deposit is 50 EUR" [2].',
      ["quote"],
    ],
    ["a quote that nobody closes", 'It says "by seven sharp [1].', ["quote"]],
    ["an invented quote", 'It says "by seven o\'clock sharp" [1].', ["quote"]],
    ["a stitched quote", 'It says "Bikes must be in the evening" [1].', ["quote"]],
    [
      "several at once",
      'a|b\n-|-\nIt says "by seven o\'clock sharp"',
      ["MARKDOWN_TABLE", "CITATION_MISSING", "quote"],
    ],
  ])("%s", (_, text, expected) => {
    const more = /^(?:\{|```|~~~)/.test(text) || text === "" || text === footer;
    // What is no answer at all makes no statements that count.
    const found = codes(text).filter(
      (code) => !more || (code !== "CITATION_MISSING" && code === code.toUpperCase()),
    );
    expect(found).toEqual(expected);
  });

  test("a reply that was cut off", () => {
    const checked = checkAnswer(
      { text: "Back by [1]", toolCalls: [], doneReason: "length" },
      rules,
    );
    expect(checked).toMatchObject({ kind: "violated", violations: [{ code: "CUT_SHORT" }] });
  });
});

describe("what is no violation", () => {
  test.each([
    ["shell pipes", "Run ls | sort || true, then cat a | b | c | d [1]."],
    ["a rule under a line with a pipe", "Six.\n\na | b [1]\n---"],
    ["a table in a fence", "As [1]:\n```\n|a|b|\n|-|-|\n```"],
    ["a quote over a line break", 'Bikes "must be back by "six o\'clock" in" [1]'],
    ["a citation by name", "Back by six [a.md]."],
    [
      "sentences of several places whose quote marks pair",
      'It says "Bikes must be back [1]. The deposit is 40 EUR" [2].',
    ],
    [
      "a quote of what the cited piece does not hold, cited right beside it",
      'By six [1]. "The deposit is 40 EUR" [2].',
    ],
    ["a quote with other marks and a full stop", "It says “Bikes must be back by.” [1]"],
    ["a short term in quotes", 'The "deposit" [2].'],
    ["inches", 'A 26" wheel and a 28" wheel [1].'],
    ["a list of citations", "Both [1, 2]."],
    ["a range of citations", "Both [1-2]."],
    ["a citation with blanks", "Both [ 1,  2 ]."],
    ["a citation in other brackets", "Back by six 【1】."],
    ["a citation in full-width digits", "Back by six [１]."],
    [
      "a table behind an info line within a fence",
      "Six [1], as here:\n\nSix.\n```\n```js\n|a|b|\n|-|-|\n```",
    ],
    ["a quote with a blank of no width", 'It says "Bikes must\u200B be back" [1]'],
    ["a quote of a neutralised footnote", 'It says "see (7) for tool·call rules" [2].'],
  ])("%s", (_, text) => {
    expect(codes(text)).toEqual(["passed"]);
  });

  test("without citations enabled nothing has to be cited", () => {
    expect(codes("Back by six [9].", { citations: "off" })).toEqual(["passed"]);
    expect(codes("Back by six.", { citations: "known" })).toEqual(["passed"]);
  });

  test("a bad citation is kept where citations are not strict", () => {
    const checked = check("Back by six [9] [z.md#A].", { citations: "known" });
    expect(checked).toMatchObject({
      kind: "passed",
      citations: [{ kind: "unknown_number" }, { kind: "unknown_name" }],
    });
  });
});

describe("the policies", () => {
  const invented = 'It says "by seven o\'clock sharp" [1].';
  const misattributed = 'It says "The deposit is 40 EUR" [1].';
  test.each<[string, Partial<AnswerRules>, string, string[]]>([
    ["an invented quote", {}, invented, ["quote"]],
    ["citations known", { citations: "known" }, misattributed, ["passed"]],
    ["citations off", { citations: "off" }, misattributed, ["passed"]],
    ["a link of a document", {}, "See https://desk.example/x [2].", ["passed"]],
    ["a link of nobody", {}, "See https://other.example [2].", ["name"]],
    [
      "names outside the snapshot",
      { requireInSnapshot: false },
      "Back by six [1] [z.md].",
      ["passed"],
    ],
    [
      "names outside the snapshot alone",
      { requireInSnapshot: false },
      "Back by six [z.md].",
      ["passed"],
    ],
    [
      "numbers outside the snapshot",
      { requireInSnapshot: false },
      "Back by six [1] [9].",
      ["not_admitted"],
    ],
  ])("%s: %j", (_, more, text, expected) => {
    expect(codes(text, more)).toEqual(expected);
  });

  test("what was found is recorded also of an answer that is refused", () => {
    expect(check('It says "by seven o\'clock sharp" at 41.')).toMatchObject({
      kind: "violated",
      checks: {
        quotes: [{ class: "not_found", span: null }],
        figures: [{ text: "41", standsIn: "neither", flagged: true }],
      },
      statements: [{ record: { text: 'It says "by seven o\'clock sharp" at 41.' } }],
    });
  });

  test("a link of a document is flagged, and the answer stays as it is written", () => {
    expect(check("See [it](https://desk.example/x) [2].")).toMatchObject({
      text: `See [it](https://desk.example/x) [2].\n${footer}`,
      checks: { figures: [{ kind: "link", standsIn: "evidence", flagged: true }] },
    });
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
    "ＩＮＳＵＦＦＩＣＩＥＮＴ_ＥＶＩＤＥＮＣＥ",
  ])("%s", (text) => {
    expect(check(text)).toMatchObject({ kind: "declined" });
  });

  test.each([
    "INSUFFICIENT_EVIDENCE but I think it opened in 1850. [1]",
    "INSUFFICIENT EVIDENCE but I think it opened in 1850. [1]",
    "insufficient_evidence, though it opened in 1850 [1].",
    "Insufficient-Evidence. It opened in 1850 [1].",
    "It opened in 1850 [1]. INSUFFICIENT_EVIDENCE",
    "I think that INSUFFICIENT_EVIDENCE is right, but it opened in 1850 [1].",
    "Well, **INSUFFICIENT**_**EVIDENCE** it is; it opened in 1850 [1].",
    "`INSUFFICIENT\\_EVIDENCE`: it opened in 1850 [1].",
    "IΝSUFFІCIENT_EVIDЕNCE yet it opened in 1850 [1].",
    "INSUFFICIENT\u00A0EVIDENCE and so 1850 [1].",
    "Insufficient evidence, but it opened in 1850 [1].",
    "The answer is insufficient evidence. It opened in 1850 [1].",
    "It opened in 1850 [1].\n\nInsufficient evidence for the rest of it.\nInsufficient evidence.",
    "The code INSUFFICIENT_EVIDENCE means no [1].",
    "INSUFFICIENT_EVIDENCEですが、たぶん六時です [1]。",
    "It opened in 1850 [1].\nI N S U F F I C I E N T   E V I D E N C E",
  ])("with a guess: %s", (text) => {
    expect(codes(text)).toEqual(["declined"]);
  });

  test.each([
    "The audit found insufficient evidence of fraud [1].",
    "There is insufficient evidence about the colour, but bikes must be back by six [1].",
    "Insufficient evidence of fraud was found [1].",
    "He left for want of sufficient evidence [1].",
  ])("not in ordinary words: %s", (text) => {
    expect(codes(text)).toEqual(["passed"]);
  });

  describe("of which the evidence speaks", () => {
    const spoken = rulesFor(
      numberEvidence({
        kind: "admitted",
        files: [],
        passages: [
          passageOf(
            "a.md",
            "The code INSUFFICIENT_EVIDENCE ends a run. A stamp: INSUFFICIENT EVIDENCE.",
          ),
        ],
        snapshotHash: sha256Of("x"),
      }),
    );

    test.each([
      ["The code INSUFFICIENT_EVIDENCE stands for it [1].", "passed"],
      ["A stamp says INSUFFICIENT_EVIDENCE; it ends a run [1].", "declined"],
      ["A run is over where INSUFFICIENT_EVIDENCE ends a run [1].", "passed"],
      ["It was a case of insufficient evidence [1].", "passed"],
      ["INSUFFICIENT_EVIDENCE, but it opened in 1850 [1].", "declined"],
      ["INSUFFICIENT_EVIDENCE ends a run [1].", "passed"],
      ["INSUFFICIENT_EVIDENCE", "declined"],
    ])("%s: %s", (text, expected) => {
      expect(codes(text, spoken)).toEqual([expected]);
    });

    test("and the question too", () => {
      const question = "What does INSUFFICIENT_EVIDENCE do?";
      expect(
        codes("With INSUFFICIENT_EVIDENCE, the run is over [1].", { ...spoken, question }),
      ).toEqual(["passed"]);
    });
  });
});

describe("hostile answers", () => {
  test("control characters and turned directions do not reach the answer", () => {
    expect(check("Back\0 by\u001B[31m six\u202E\u{E0041}\u3164 [1].")).toMatchObject({
      text: `Back by[31m six [1].\n${footer}`,
    });
  });

  test("of thousand invented quotes the second try is shown five", () => {
    const text = 'It says "by seven sharp, all" [1].\n\n'.repeat(1000);
    const checked = check(text, { unsupported: "repair" });
    expect(checked.kind === "violated" && checked.violations).toHaveLength(5);
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
});
