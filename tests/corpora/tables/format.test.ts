import { describe, expect, test } from "@jest/globals";
import { evidenceOf, PARTS, readTableQuestions } from "./read-tables.ts";

describe.each(PARTS)("the questions over tables of the part %s", (part) => {
  const questions = readTableQuestions(part);

  test("are 90 or more, of all kinds, and none stands there twice", () => {
    const asked = questions.map(({ question, cut, tables }) =>
      JSON.stringify([question, cut, tables]),
    );

    expect(questions.length).toBeGreaterThanOrEqual(90);
    expect(new Set(asked).size).toBe(asked.length);
    expect(new Set(questions.map(({ id }) => id)).size).toBe(questions.length);
    expect([...new Set(questions.map(({ kind }) => kind))].sort()).toEqual([
      "cell",
      "count",
      "none",
      "sum",
    ]);
  });

  test("expect of a cell what stands in the first of their files, and name no rival that a right answer holds", async () => {
    for (const item of questions) {
      expect(item.expected.length > 0).toBe(item.kind !== "none");
      if (item.kind !== "cell") continue;
      const [block] = await evidenceOf(part, item);
      for (const words of item.expected) {
        const value = words.split(": ").at(-1) ?? "";
        expect({ id: item.id, held: block?.text.includes(value) }).toEqual({
          id: item.id,
          held: true,
        });
        expect(item.rivals.filter((rival) => words.includes(rival))).toEqual([]);
      }
    }
  });
});
