import { describe, expect, test } from "@jest/globals";
import { sentenceSpans } from "../../../src/worker/text/spans.ts";
import { measureSupport } from "../../../src/worker/verify/support.ts";
import { blockOf, sliceOf } from "./support-world.ts";

const evidence = [
  blockOf(
    1,
    "shop.md",
    "# Bike shop\n\nIt opens at nine. Helmets are rented for five euros a day.\n\n## Repairs\n\nFlat tyres are repaired within an hour. Gears take two days.",
  ),
  blockOf(2, "rail.md", "🚆 Trains run hourly. Tickets are sold on board.", {
    startChar: 200,
    lineStart: 20,
    headingPath: "Trip > Train",
  }),
];
const measure = (sentence: string) => measureSupport([{ sentence, words: sentence }], evidence)[0];

describe("the best span of a sentence", () => {
  test.each([
    ["Helmets are rented for five euros a day.", "Helmets are rented for five euros a day.", 1],
    ["Five euros are the rental of a helmet.", "Helmets are rented for five euros a day.", 0.6],
    ["The bike shop opens at nine.", "It opens at nine.", 1],
    ["Repairs of gears take two days.", "Gears take two days.", 1],
    [
      "Flat tyres take an hour, gears two days.",
      "Flat tyres are repaired within an hour. Gears take two days.",
      1,
    ],
    ["The train to the trip runs hourly.", "🚆 Trains run hourly.", 0.6],
  ])("%s", (sentence, span, least) => {
    const record = measure(sentence);
    expect(sliceOf(evidence, record?.span)).toBe(span);
    expect(record?.score).toBeGreaterThanOrEqual(least);
    expect(record?.score).toBeLessThanOrEqual(1);
  });

  test("is given in code points and lines of its file", () => {
    expect(measure("Tickets are sold on board.")?.span).toEqual({
      number: 2,
      path: "rail.md",
      startChar: 221,
      endChar: 247,
      lineStart: 20,
      lineEnd: 20,
    });
  });
});

describe("the score", () => {
  test("is 0 without a span where nothing is in common", () => {
    expect(measure("Penguins swim.")).toMatchObject({ score: 0, span: null });
  });

  test("is low for a sentence that only shares common words", () => {
    expect(measure("Penguins are rented in Antarctica.")?.score).toBeLessThan(0.5);
  });

  test("does not reach over two pieces", () => {
    expect(measure("Gears take two days, trains run hourly.")?.score).toBeLessThan(0.8);
  });

  test("is not given for a sentence that says nothing measurable", () => {
    expect(measure("Yes.")).toBeUndefined();
  });

  test("knows scripts without blanks", () => {
    const [record] = measureSupport(
      [{ sentence: "店は九時に開く。", words: "店は九時に開く。" }],
      [blockOf(1, "a.md", "東京です。朝、店は九時に開きます。")],
    );
    expect(record?.score).toBeGreaterThan(0.7);
  });
});

describe("the sentences of a text", () => {
  test.each([
    ["two sentences", "One is. Two is.", ["One is.", "Two is."]],
    [
      "a citation after the stop",
      "One is. [1] Two is.[2][3] Three.",
      ["One is. [1]", "Two is.[2][3]", "Three."],
    ],
    [
      "abbreviations",
      "Dr. A. Smith, e.g. here, came. He left.",
      ["Dr. A. Smith, e.g. here, came.", "He left."],
    ],
    ["a German date", "Am 3. Mai kam er. Dann ging er.", ["Am 3. Mai kam er.", "Dann ging er."]],
    ["decimals", "It is 3.5 m. It is 4.", ["It is 3.5 m.", "It is 4."]],
    [
      "a quoted question",
      'He asked "why?" and left. She stayed.',
      ['He asked "why?" and left.', "She stayed."],
    ],
    ["a stop in a quote", 'He said "So it is." She left.', ['He said "So it is."', "She left."]],
    ["a list", "Both:\n- one\n- two", ["Both:", "- one", "- two"]],
    ["a heading", "# One\nTwo is.", ["# One", "Two is."]],
    ["a sentence over two lines", "One\nis.\n\nTwo", ["One\nis.", "Two"]],
    ["other line ends", "One\r\nis.\r\n\r\nTwo\ris.\r\rThree", ["One\r\nis.", "Two\ris.", "Three"]],
    ["a script without blanks", "東京です。大阪です。", ["東京です。", "大阪です。"]],
    ["nothing", " \n ", []],
  ])("%s", (_, text, sentences) => {
    expect(sentenceSpans(text).map(({ start, end }) => text.slice(start, end))).toEqual(sentences);
  });

  test("are of at most 1,000 characters, and none is cut in two", () => {
    const spans = sentenceSpans(`${"🚲".repeat(1_501)} ${"word ".repeat(400)}`);
    for (const { start, end } of spans) expect(end - start).toBeLessThanOrEqual(1_000);
    expect(spans.every(({ start }) => start % 2 === 0 || start > 3_000)).toBe(true);
  });
});
