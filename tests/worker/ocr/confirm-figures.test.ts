import { expect, test } from "@jest/globals";
import { doubtfulFigures } from "../../../src/shared/pages/figures-of-page.ts";
import type { PageRecord, PixelBox } from "../../../src/shared/pages/page-record.ts";
import { confirmFigures } from "../../../src/worker/ocr/confirm-figures.ts";
import { pageLines } from "../../../src/worker/ocr/page-lines.ts";

const ALONE: PixelBox = [200, 50, 290, 80];
const SPLIT: PixelBox = [400, 50, 590, 80];
const split = { figure: "doubtful", other: "1,250.48", place: SPLIT, confidence: 70 } as const;
const RECORD: PageRecord = {
  picture: { format: "png", width: 1_000, height: 500 },
  ...{ turned: 0, skew: 0, engine: "e", languages: ["eng"], mode: 3, leftInk: 0, confidence: 90 },
  lines: [
    {
      words: [
        { text: "Fee", box: [100, 50, 190, 80], confidence: 91 },
        { text: "71.73", box: ALONE, confidence: 66, figure: "doubtful", other: "71.71" },
        { text: "1,", box: [400, 50, 490, 80], ...split },
        { text: "250.40", box: [500, 50, 590, 80], ...split },
        { text: "8", box: [700, 50, 710, 80], confidence: 81, figure: "one" },
      ],
    },
  ],
};

async function settled(replies: readonly (string | null)[]): Promise<PageRecord> {
  const left = [...replies];
  const cutOuts = [ALONE, SPLIT].map((box) => ({ box, png: box.join() }));
  return confirmFigures(RECORD, cutOuts, { name: "seer", read: async () => left.shift() ?? null });
}
const textOf = async (...replies: readonly (string | null)[]): Promise<string> =>
  pageLines(await settled(replies)).join("\n");

test("what equals one of the two readings settles a figure, and is put in its place", async () => {
  await expect(textOf("71.73", "1,250.48 EUR")).resolves.toBe("Fee 71.73 1,250.48 8⸮");
  await expect(textOf("71.71", "1,250.40")).resolves.toBe("Fee 71.71 1, 250.40 8⸮");
});

test("a figure that is settled names the model and keeps what the reader read before", async () => {
  const record = await settled(["71.71", null]);
  expect(record.lines[0]?.words[1]).toEqual({
    ...{ text: "71.71", box: ALONE, confidence: 66, figure: "two", other: "71.73" },
    confirmed: "seer",
  });
  expect(doubtfulFigures(record).map(({ first }) => first)).toEqual(["1, 250.40", "8"]);
});

test.each([
  ["another figure", "71.70"],
  ["words", "I can't tell."],
  ["both", "71.73 or 71.71"],
  ["several lines", "71.73\n\nIt is a fee."],
  ["a sentence", "It might well be 71.73"],
  ["a question", "71.73?"],
  ["a list", '["71.73", "71.71"]'],
  ["nothing", ""],
  ["a refusal", null],
])("%s leaves it in doubt", async (_, reply) => {
  await expect(textOf(reply, reply)).resolves.toBe("Fee 71.73⸮ 1,⸮ 250.40⸮ 8⸮");
});

const AMOUNT: PixelBox = [100, 50, 190, 80];

async function certaintyOf(readings: { first: string; second: string }, reply: string) {
  const { first: text, second: other } = readings;
  const word = { text, other, box: AMOUNT, confidence: 66, figure: "doubtful" } as const;
  const record = { ...RECORD, lines: [{ words: [word] }] };
  const witness = { name: "seer", read: async () => reply };
  const { lines } = await confirmFigures(record, [{ box: AMOUNT, png: "" }], witness);
  return lines[0]?.words[0]?.figure;
}

test.each([
  ["7 or 8", "78"],
  ["7 | 8", "78"],
  ["7|8", "78"],
  ['["7","8"]', "78"],
  ["7²", "72"],
  ["71.73²", "71.732"],
  ["1½", "112"],
  ["٧٨", "78"],
  ["− 78", "78"],
  ["-78", "78"],
])("%s is not read as %s", async (reply, first) => {
  await expect(certaintyOf({ first, second: "70" }, reply)).resolves.toBe("doubtful");
});

test.each([
  ["78 EUR", "78"],
  ["**78**", "78"],
  ['{"number": "78"}', "78"],
  ["７８", "78"],
  ["1 250,40 €", "1250,40"],
  ["−78", "-78"],
  ["1'250.40 CHF", "1'250.40"],
  ["7²", "7²"],
  ["12/B-7", "12/B-7"],
])("%s is read as %s", async (reply, first) => {
  await expect(certaintyOf({ first, second: "70" }, reply)).resolves.toBe("two");
});
