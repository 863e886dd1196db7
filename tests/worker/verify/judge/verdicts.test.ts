import { describe, expect, test } from "@jest/globals";
import {
  agreedVerdict,
  readVerdicts,
  UNCLEAR,
} from "../../../../src/worker/verify/judge/verdicts.ts";
import { expectLinear } from "../../../support/time-taken.ts";

const SHOWN = [
  [1, 2],
  [2, 3],
];
const yes = (line: unknown): object => ({ line, differs: "nothing", says: "yes" });
const NO = { line: 3, differs: "figure", says: "no" };
const BOTH = [yes(1), NO];
const WHOLE = { s1: yes(1), s2: NO };
const TEXT = JSON.stringify(WHOLE);

describe("a reply that is read", () => {
  test.each([
    ["as it was asked for", TEXT],
    ["over several lines", JSON.stringify(WHOLE, null, 2)],
    ["in a fence", `\`\`\`json\n${TEXT}\n\`\`\``],
    ["between prose", `Here is my verdict:\n\n${TEXT}\n\nLet me know if you need more.`],
    ["behind prose that holds a brace", `I compare {each} of them.\n${TEXT}`],
    ["before prose that holds a brace", `${TEXT}\nThat is {all} of it.`],
    ["behind its thoughts", `<think>{"s1": {"says": "no"}} or so</think>${TEXT}`],
    ["with keys of nobody", JSON.stringify({ ...WHOLE, s3: yes(1), note: "s1 is sure" })],
    ["with fields of nobody", JSON.stringify({ s1: { ...yes(1), why: "the same" }, s2: NO })],
    ["in capitals", TEXT.toUpperCase()],
    ["with spaces in it", TEXT.replace('"yes"', '" Yes "')],
    ["with the number as text", TEXT.replace('"line":1', '"line":"1"')],
  ])("%s", (_, text) => {
    expect(readVerdicts(text, SHOWN)).toEqual(BOTH);
  });

  test("without a key leaves its statement unclear", () => {
    expect(readVerdicts(JSON.stringify({ s2: NO }), SHOWN)).toEqual([UNCLEAR, NO]);
  });

  test("in another order says the same", () => {
    expect(readVerdicts(JSON.stringify({ s2: NO, s1: yes(1) }), SHOWN)).toEqual(BOTH);
  });

  test("that was cut keeps its whole verdicts", () => {
    const at = TEXT.indexOf('"says":"no"');
    for (const text of [TEXT.slice(0, at), TEXT.slice(0, at + 8), TEXT.slice(0, -20)]) {
      expect(readVerdicts(text, SHOWN)).toEqual([yes(1), UNCLEAR]);
    }
    expect(readVerdicts(TEXT.slice(0, -1), SHOWN)).toEqual(BOTH);
  });

  test("of ten is told apart", () => {
    const shown = Array.from({ length: 10 }, (_, at) => [at + 1]);
    const all = Object.fromEntries(shown.map((_, at) => [`s${at + 1}`, yes(at + 1)]));
    expect(readVerdicts(JSON.stringify(all).slice(0, -1), shown)).toEqual(Object.values(all));
  });
});

test.each([
  ["nothing", ""],
  ["prose", "All of them are right."],
  ["an array of words", '["yes", "no"]'],
  ["an array of verdicts", JSON.stringify(BOTH)],
  ["a single verdict", JSON.stringify(NO)],
  ["no object", "null"],
  ["an empty object", "{}"],
  ["keys of nobody alone", JSON.stringify({ s3: yes(1), s99: NO })],
  ["words in the place of verdicts", '{"s1": "yes", "s2": "no"}'],
  ["thoughts without an end", `<think>${TEXT}`],
  ["one that was cut in its first verdict", TEXT.slice(0, 20)],
])("a reply that holds no verdict: %s", (_, text) => {
  expect(readVerdicts(text, SHOWN)).toBeNull();
});

describe("a yes is unclear", () => {
  const first = (verdict: object): unknown =>
    readVerdicts(JSON.stringify({ s1: verdict, s2: NO }), SHOWN)?.[0];
  test.each([
    ["without a line", { differs: "nothing", says: "yes" }],
    ["with a null for its line", yes(null)],
    ["with a line that this statement was not shown", yes(3)],
    ["with a line that nobody was shown", yes(99)],
    ["with an empty text for its line", yes("")],
    ["with true for its line", yes(true)],
    ["with a list for its line", yes([1])],
  ])("%s", (__, verdict) => {
    expect(first(verdict)).toMatchObject({ says: "unclear", line: null });
  });
  test.each([
    ["beside a difference", { line: 1, differs: "figure", says: "yes" }, "figure"],
    ["beside a difference of its own words", { line: 1, differs: "a bit", says: "yes" }, null],
    ["without what differs", { line: 1, says: "yes" }, null],
  ])("%s", (__, verdict, differs) => {
    expect(first(verdict)).toEqual({ says: "unclear", line: 1, differs });
  });
  test.each(["", "maybe", "yes, but", "no way", "true", true, 1, null, ["yes"]])(
    "as %j",
    (says) => {
      expect(first({ ...yes(1), says })).toMatchObject({ says: "unclear" });
    },
  );
});

test("a no needs no line", () => {
  expect(readVerdicts('{"s1": {"says": "no"}}', SHOWN)?.[0]).toEqual({
    says: "no",
    line: null,
    differs: null,
  });
});

test("names of what every object has are no verdicts", () => {
  const text = '{"__proto__": {"s1": {"line": 1, "differs": "nothing", "says": "yes"}}, "s2": {}}';
  expect(readVerdicts(text, SHOWN)?.[0] ?? UNCLEAR).toEqual(UNCLEAR);
});

test.each([
  ["braces", "{"],
  ["closed braces", "{}"],
  ["begun verdicts", '{"s1": {'],
  ["begun keys", '"s1" '],
  ["blanks behind keys", `"s1"${" ".repeat(50)}:`],
  ["long verdicts", `"s1": {"line": ${"1".repeat(290)}`],
  ["fences", "```"],
])("a huge reply of %s is read in linear time", async (_, part) => {
  await expectLinear(20_000, (chars) => {
    const reply = part.repeat(Math.ceil(chars / part.length));
    return () => readVerdicts(reply, SHOWN);
  });
});

describe("of two judges", () => {
  const by = (name: string, says: "yes" | "no" | "unclear") => ({
    says,
    detail: `${name}: ${says}`,
  });

  test.each([
    ["yes", "yes", "yes"],
    ["yes", "no", "no"],
    ["no", "unclear", "no"],
    ["yes", "unclear", "unclear"],
  ] as const)("%s and %s are %s, with the words of both", (one, other, says) => {
    const detail = `a: ${one}; b: ${other}`;
    expect(agreedVerdict([by("a", one), by("b", other)])).toEqual({ says, detail });
  });

  test("one that has passed no exam keeps a statement from being confirmed, and denies nothing", () => {
    const passedOne = (says: "yes" | "no") => agreedVerdict([null, by("b", says)]);
    expect(passedOne("yes")).toEqual({
      says: "unclear",
      detail: "b: yes; no other judge has passed an exam",
    });
    expect(passedOne("no")?.says).toBe("no");
    expect(agreedVerdict([null, null])).toBeNull();
    expect(agreedVerdict([by("a", "yes")])).toEqual(by("a", "yes"));
  });
});
