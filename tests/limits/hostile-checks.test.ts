import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { checkAnswer } from "../../src/worker/verify/check-answer.ts";
import { expectLinear, timeTaken } from "../support/time-taken.ts";
import { blockOf, rulesFor } from "../worker/verify/support-world.ts";

describe("50,000 characters", () => {
  const CHARS = 50_000;
  const filled = (unit: string, chars: number): string =>
    unit
      .repeat(Math.ceil(chars / unit.length))
      .slice(0, chars)
      .toWellFormed();
  const HOSTILE: readonly string[] = [
    ..."[ [[ ]( [a.md# [a.md#x] [[a#b|c]] [1] [Source: 【 ! | > ` \" ' “ “. / \\ ../ a/ a. a@ www. https:// \u0301\u0316 é ﬁ ﷽ 🚲 。 東京。 … … <a <think>".split(
      " ",
    ),
    ..."\"aaa_bbb_ccc_ddd_ 'aaa_bbb_ “a…_b”_ a_ A_b._ 1_ 1,000_ 1_000_ 3_May_ May_ 2024- 12: [a]:_ a-\n > \n \r - a\n #_a\n######_b\n \u00AD \u200B ..."
      .split(" ")
      .map((unit) => unit.replaceAll("_", " ")),
  ];

  test.each(HOSTILE)(
    "of %j are checked in time in proportion to them, against as many",
    async (unit) => {
      await expectLinear(CHARS / 4, (chars) => {
        const text = filled(unit, chars);
        const rules = rulesFor([blockOf(1, "a.md", text)], { unsupported: "repair" });
        return () => checkAnswer({ text, toolCalls: [], doneReason: "stop" }, rules);
      });
    },
  );

  const MARKS = [
    ..."[ ] [1 [1] [1,\n 【 ( (1 (1). (1)(2) ① ①. < <<< ‹ < \u200D< >>> <<<EVIDENCE <<<END_ EVIDENCE_".split(
      " ",
    ),
    ...[
      '<<<EVIDENCE 0123456789abcdef [1] path="a.md">>> ',
      '[1] path="a',
      "[1] path=a ",
      "[1]\npath=",
    ],
    ...[
      "<<<[1]",
      "<<< a [1] ",
      "evidence abcdef",
      "evidence 0123abcdef [1] ",
      'path="',
      "&lt;",
      "\\u003c",
    ],
    ...[
      "Scope",
      "Scope: ",
      "Ѕсоре:\n",
      "Scope = full ",
      "scope of the ",
      "snapshot=",
      "9 passages from 9 ",
    ],
    ..."ЕVІDΕΝСЕ Ѕ ｓ 𝐄 É E\u0301 \u200B \u200D ⋘ **_".split(" "),
    "[1-2000]",
  ];

  test.each(MARKS)(
    "of %j, as the marks of evidence begin, are checked in the same",
    async (unit) => {
      const rules = rulesFor([
        blockOf(1, "notes/a b.md", "Bikes must be back by six."),
        blockOf(2, "b.md", "The deposit is 40 EUR.", { headingPath: "Shop > Money" }),
      ]);
      await expectLinear(CHARS / 4, (chars) => {
        const text = filled(unit, chars);
        return () => checkAnswer({ text, toolCalls: [], doneReason: "stop" }, rules);
      });
    },
  );

  test.each([
    "Bikes must be back by six. ",
    '"bikes must be back by six" [1] ',
    "3 May 2024, [a.md] ",
  ])(
    "half of it, of %j, takes time in proportion to it where any citation is taken",
    async (unit) => {
      await expectLinear(CHARS / 8, (chars) => {
        const text = filled(unit, chars);
        const rules = rulesFor([blockOf(1, "a.md", text)], { citations: "known" });
        return () => checkAnswer({ text, toolCalls: [], doneReason: "stop" }, rules);
      });
    },
  );
});

test("200,000 characters of evidence are searched for what carries an answer of 800 tokens in less than 250 ms", () => {
  const random = fc.sample(fc.array(fc.nat(4_000), { minLength: 40_000, maxLength: 40_000 }), {
    numRuns: 1,
    seed: 7,
  })[0];
  const text = (random ?? [])
    .map(
      (number, at) => `w${number.toString(26).replace(/\d/g, "z")}${at % 14 === 13 ? ".\n" : " "}`,
    )
    .join("")
    .slice(0, 200_000);
  const answer = text.slice(5_000, 8_200);
  const rules = rulesFor([blockOf(1, "a.md", text)], { citations: "known" });
  expect(
    timeTaken(() => checkAnswer({ text: answer, toolCalls: [], doneReason: "stop" }, rules)),
  ).toBeLessThan(250);
});
