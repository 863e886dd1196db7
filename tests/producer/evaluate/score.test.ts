import { describe, expect, test } from "@jest/globals";
import type { Question } from "../../../src/producer/evaluate/questions.ts";
import {
  abstainedOf,
  isBelowPercent,
  judgeAnswer,
  rightOf,
  signTest,
  tallyOf,
  wilsonInterval,
} from "../../../src/producer/evaluate/score.ts";
import type { Judged, Verdict } from "../../../src/producer/evaluate/score.ts";

const asking = (of: Partial<Question>): Question => ({
  ...{ id: "a", question: "What?", language: "en", kind: "what" },
  ...{ expected: [], files: [], isUnanswerable: false },
  ...of,
});
const answered = (answer: string, scope: string | null = null) =>
  ({ state: "succeeded", answer, scope, paths: ["a.md"] }) as const;
const refused = { state: "refused", answer: null, scope: null, paths: [] } as const;

describe("a fact", () => {
  test.each([
    ["Réka", "It is reka."],
    ["3,000 EUR", "They pay **3,000** EUR [1]."],
    ["Viertelstunde", "Eine VIERTELSTUNDE\nzu Fuß."],
    ["19-20 September", "On 19–20 September."],
    ["strasse 4", "In der Straße 4."],
    ['"not yoghurt"', "It says „not yoghurt“."],
    ["5", "It takes 5."],
    ["six", "All six of them."],
    ["10 %", "By 10 %."],
  ])("%s is held by: %s", (fact, answer) => {
    expect(judgeAnswer(asking({ expected: [[fact]] }), answered(answer))).toBe("right");
  });

  test.each([
    ["5", "It takes 15."],
    ["5", "It takes 5.2 litres."],
    ["5", "It takes 1,5 litres."],
    ["000", "It costs 3,000."],
    ["85 g", "It weighs 185 g."],
    ["six", "It takes sixty."],
    ["no", "Nobody knows."],
    ["1", "It is so [1]."],
    ["42", "It is so."],
  ])("%s is not held by: %s", (fact, answer) => {
    expect(judgeAnswer(asking({ expected: [[fact]] }), answered(answer))).toBe("wrong");
  });

  test("is no figure of the footer", () => {
    const footer = "Scope: 6 passages from 3 files, snapshot=5159";
    const given = answered(`It is so.\n${footer}`, footer);
    expect(judgeAnswer(asking({ expected: [["6"]] }), given)).toBe("wrong");
  });

  test("has several spellings, and every fact is needed", () => {
    const question = asking({ expected: [["2318.4", "2,318.4"], ["2381"]] });
    expect(judgeAnswer(question, answered("2,318.4 m; the sign says 2381."))).toBe("right");
    expect(judgeAnswer(question, answered("It is 2,318.4 m."))).toBe("wrong");
  });
});

test("without facts, an answer rests on one of the files", () => {
  expect(judgeAnswer(asking({ files: ["b.md", "a.md"] }), answered("So."))).toBe("right");
  expect(judgeAnswer(asking({ files: ["b.md"] }), answered("So."))).toBe("wrong");
});

test("a refusal is right where there is no answer, and so is a correction that is expected", () => {
  const without = asking({ isUnanswerable: true });
  expect(judgeAnswer(without, refused)).toBe("refused_rightly");
  expect(judgeAnswer(without, answered("It is 5."))).toBe("wrong");
  expect(judgeAnswer(asking({ expected: [["5"]] }), refused)).toBe("refused_wrongly");
  const corrected = asking({ isUnanswerable: true, expected: [["was accepted"]] });
  expect(judgeAnswer(corrected, answered("No, it was accepted."))).toBe("right");
});

test.each(["failed", "cancelled", "expired", "queued"] as const)(
  "what is %s has failed, and is neither right nor a refusal",
  (state) => {
    expect(judgeAnswer(asking({ isUnanswerable: true }), { ...refused, state })).toBe("failed");
  },
);

test("counts add up, and shares are of the questions with and without an answer", () => {
  const of = (verdict: Verdict, isUnanswerable: boolean): Judged => ({
    question: asking({ isUnanswerable }),
    verdict,
  });
  const judged = [
    of("right", false),
    of("wrong", false),
    of("refused_wrongly", false),
    of("failed", false),
    of("refused_rightly", true),
    of("right", true),
    of("wrong", true),
  ];
  expect(tallyOf(judged)).toEqual({
    ...{ right: 2, wrong: 2, refused_rightly: 1, refused_wrongly: 1, failed: 1 },
    ...{ answerable: 4, unanswerable: 3 },
  });
  expect(rightOf(judged)).toEqual({ count: 1, of: 4 });
  expect(abstainedOf(judged)).toEqual({ count: 2, of: 3 });
});

// Newcombe 1998, table I, method 3.
test.each([
  [81, 263, 0.2553, 0.3662],
  [15, 148, 0.0624, 0.1605],
  [0, 20, 0, 0.1611],
  [1, 29, 0.0061, 0.1718],
])("Wilson's interval of %i in %i", (count, of, low, high) => {
  const interval = wilsonInterval({ count, of });
  expect(interval.low).toBeCloseTo(low, 4);
  expect(interval.high).toBeCloseTo(high, 4);
});

test.each([
  [7, 100, 7, false],
  [161, 1_000, 16.1, false],
  [6, 100, 7, true],
  [0, 0, 0, false],
])("%i of %i below %d per cent: %s", (count, of, percent, isBelow) => {
  expect(isBelowPercent({ count, of }, percent)).toBe(isBelow);
});

test("nothing asked says nothing", () => {
  expect(wilsonInterval({ count: 0, of: 0 })).toEqual({ low: 0, high: 1 });
});

test.each([
  [0, 0, 1],
  [5, 5, 1],
  [0, 5, 2 / 32],
  [1, 7, (2 * (1 + 8)) / 256],
  [0, 5_000, 0],
])("%i against %i by chance: %d", (first, second, p) => {
  expect(signTest(first, second)).toBeCloseTo(p, 10);
  expect(signTest(second, first)).toBeCloseTo(p, 10);
});
