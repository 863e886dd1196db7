import { describe, expect, test } from "@jest/globals";
import type { FieldValue } from "../../../../src/worker/verify/bindings/quoted-fields.ts";
import { ownPairs } from "../../../../src/worker/verify/judge/own-pairs.ts";
import type { OwnPair } from "../../../../src/worker/verify/judge/own-pairs.ts";

const draw = (texts: readonly string[], most = 2, seed = "seed"): readonly OwnPair[] =>
  ownPairs({
    decided: [],
    fields: [],
    passages: texts.map((text, at) => ({ path: `notes/${at}.md`, text })),
    ...{ most, seed },
  });
const wrongOf = (text: string): readonly string[] =>
  draw([text], 20)
    .filter(({ isWrong }) => isWrong)
    .map(({ statement }) => statement.text);

describe("pairs over the user's own documents", () => {
  const TEXT = Array.from(
    { length: 6 },
    (_, at) => `# Ferry ${at}\n\nThe crossing takes ${at + 21} minutes. The boat is blue.\n`,
  );

  test("are as many right as wrong ones, of all documents in turn, the same for the same seed", () => {
    const pairs = draw(TEXT, 6);
    expect(pairs.map(({ isWrong }) => isWrong).sort()).toEqual([
      ...[false, false, false],
      ...[true, true, true],
    ]);
    expect(new Set(pairs.map(({ statement }) => statement.lines[0]?.source)).size).toBe(6);
    expect(draw(TEXT, 6)).toEqual(pairs);
    expect(draw(TEXT, 6, "another")).not.toEqual(pairs);
    expect(pairs.every(({ by }) => by === "machine")).toBe(true);
  });

  test("of which the right ones stand in their lines, and the wrong ones do not", () => {
    for (const { isWrong, statement } of draw(TEXT, 12)) {
      const stands = statement.lines.some(({ text }) => text.includes(statement.text));
      expect(stands).toBe(!isWrong);
      expect(statement.lines[0]?.source).toContain("notes/");
    }
  });

  test("take another figure of the document for one", () => {
    expect(wrongOf("The crossing takes 42 minutes.\n\nWe have 17 boats, and 9 dogs.")).toContain(
      "The crossing takes 17 minutes.",
    );
  });

  test("leave a sentence alone whose document has no other figure, or the same one in other digits", () => {
    expect(wrongOf("The crossing takes 42 minutes. It took 42.0 minutes before.")).toEqual([]);
  });

  test.each([
    ["The harbour is open in the winter.", "The harbour is not open in the winter."],
    ["The harbour is not open in the winter.", "The harbour is open in the winter."],
    ["Der Hafen ist im Winter für alle offen.", "Der Hafen ist nicht im Winter für alle offen."],
    ["Le port est ouvert pendant tout l'hiver.", "Le port n'est pas ouvert pendant tout l'hiver."],
    ["El puerto no es gratuito para los barcos.", "El puerto es gratuito para los barcos."],
    ["港は冬の間もずっと開いています。", "港は冬の間もずっと開いていません。"],
  ])("say the contrary of %j where one word stands for it", (text, changed) => {
    expect(wrongOf(text)).toContain(changed);
  });

  test.each([
    "Nothing is sold on board, as it was before.",
    "It is late when the harbour is open to us.",
    "Is the harbour open during the winter?",
  ])("leave %j alone: nobody knows what its denial denies", (text) => {
    expect(wrongOf(text)).toEqual([]);
  });

  test("take the cell of another row for one", () => {
    const table =
      "| Boat | Colour |\n| --- | --- |\n| Ida the old one | blue |\n| Otto the new one | green |\n";
    expect([
      ["Boat: Ida the old one | Colour: green"],
      ["Boat: Otto the new one | Colour: blue"],
    ]).toContainEqual(wrongOf(table));
  });

  test("begin with what people decided, beside the passage that it came from", () => {
    const passage = { path: "notes/fares.md", text: "The fare is 12 euro. Dogs travel free." };
    const pairs = ownPairs({
      decided: [{ ...passage, statement: "It costs a dozen euro.", isWrong: false }],
      fields: [],
      passages: TEXT.map((text) => ({ path: "notes/a.md", text })),
      ...{ most: 5, seed: "seed" },
    });
    expect(pairs).toHaveLength(5);
    expect(pairs[0]).toEqual({
      ...{ isWrong: false, by: "person" },
      statement: {
        text: "It costs a dozen euro.",
        lines: [
          { source: "notes/fares.md", text: "The fare is 12 euro." },
          { source: "notes/fares.md", text: "Dogs travel free." },
        ],
      },
    });
    expect(ownPairs({ decided: [], fields: [], passages: [], most: 4, seed: "" })).toEqual([]);
  });

  test("take fields that people decided on in turn with statements, as a judge is asked of fields", () => {
    const passage = { path: "bills/a.txt", text: "Straße 5\n\nNet 14.93\n\nTo pay 149.32\n" };
    const field: FieldValue = {
      ...{ pointer: "/total", value: 14.93, about: "total what is to be paid", options: null },
      ...{ quote: null, quoteBeside: null, isJudged: false, isInList: false },
      without: "kept",
    };
    const decided = { ...passage, quote: "Net 14.93", isWrong: true };
    const statement = { ...passage, statement: "One pays 149.32.", isWrong: false };
    const pairs = ownPairs({
      decided: [statement, statement],
      fields: [
        { ...decided, field },
        { ...decided, field: { ...field, pointer: "/items/0/total", isInList: true } },
        { ...decided, field: { ...field, options: ["14.93"] } },
        { ...decided, field: { ...field, value: 149.32 }, isWrong: false },
      ],
      passages: [],
      ...{ most: 4, seed: "seed" },
    });
    expect(pairs.map(({ isWrong, by, statement: { text } }) => [isWrong, by, text])).toEqual([
      [false, "person", "One pays 149.32."],
      [true, "person", "total = 14.93 (what is to be paid)"],
      [false, "person", "One pays 149.32."],
      [false, "person", "total = 149.32 (what is to be paid)"],
    ]);
    expect(pairs[1]?.statement.lines.map(({ text }) => text)).toEqual([
      "Straße 5",
      "Net 14.93",
      "To pay 149.32",
    ]);
  });
});
