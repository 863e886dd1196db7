import { describe, expect, test } from "@jest/globals";
import { candidatesOf } from "../../../../src/worker/models/extractive/candidates.ts";
import type { Candidate } from "../../../../src/worker/models/extractive/candidates.ts";
import { showSpans } from "../../../../src/worker/models/extractive/pick-sentences.ts";
import { rankForQuestion } from "../../../../src/worker/models/extractive/rank-for-question.ts";
import { rankForSummary } from "../../../../src/worker/models/extractive/rank-for-summary.ts";

const read = (text: string): Candidate[] =>
  candidatesOf([{ number: 1, path: "corpus/note.md", title: null, headingPath: null, text }]);

/** What is shown for the last sentence of a text; null where it is passed over. */
function shownForLast(text: string): string | null {
  const last = read(text).at(-1);
  if (last === undefined || last.shownFrom === null) return null;
  return showSpans([last])[0]?.text ?? null;
}

describe("the last sentence is shown", () => {
  test.each([
    [
      "by itself when it stands for itself",
      "The pipe froze. The tape was off.",
      "The tape was off.",
    ],
    [
      "with the one that a pronoun points to",
      "The pipe froze. It burst.",
      "The pipe froze. It burst.",
    ],
    [
      "with the one that a connective joins it to",
      "Dogs may stay. The store is dry. However, cats may not.",
      "The store is dry. However, cats may not.",
    ],
    [
      "with as many as it takes to the first that stands for itself",
      "Agnes gives water. Joint 11 is the one. It always is. It lies in the shadow.",
      "Joint 11 is the one. It always is. It lies in the shadow.",
    ],
    [
      "with white space as one blank",
      "The lids of the\n  tank are heavy. They weigh no less than\n38 kg.",
      "The lids of the tank are heavy. They weigh no less than 38 kg.",
    ],
    ["never with one of another paragraph", "The pipe froze.\n\nIt burst.", null],
    ["never with an item of a list", "- The pipe froze.\n- It burst.", null],
    ["never as the first of a text", "It burst.", null],
    [
      "never at the end of a long row of them",
      `The pipe froze. ${"It burst. They saw it all. ".repeat(3)}So it goes.`,
      null,
    ],
    ["never with one that is not shown itself", "The pipe froze [3]. It burst.", null],
    [
      "with its own heading, when that names it",
      "# Contract\n\nThis contract ends in May.",
      "This contract ends in May.",
    ],
  ])("%s", (_, text, shown) => {
    expect(shownForLast(text)).toBe(shown);
  });
});

test("what is shown is a slice of the text", () => {
  const text =
    "The bell is red. It hangs by the door. This is new. They rang it. Nobody came. So it stays.";
  for (const candidate of read(text)) {
    const [shown] = showSpans([candidate]);
    expect(text).toContain(shown?.text ?? "nothing");
  }
});

test("two that would show the same sentence become one", () => {
  const all = read("The bell is red. It hangs by the door. It rings at noon.");
  expect(showSpans(all.slice(1)).map(({ text }) => text)).toEqual([
    "The bell is red. It hangs by the door. It rings at noon.",
  ]);
});

describe("an answer", () => {
  test("comes with the sentence that it needs", () => {
    const text = "The septic tank has two lids. They weigh 38 kg each. The stove is blue.";
    const [first] = rankForQuestion(
      read(text),
      "How much do the lids of the septic tank weigh?",
      3,
    );
    expect(first?.text).toBe("The septic tank has two lids. They weigh 38 kg each.");
  });

  test("may open with a pronoun under the heading that was asked about", () => {
    const text =
      "# Notes\n\n## Pay day\n\nIt is the 28th of each month.\n\n## Tips\n\nTips are pooled.";
    const [first] = rankForQuestion(read(text), "When is pay day?", 3);
    expect(first?.text).toBe("It is the 28th of each month.");
  });
});

describe("a summary", () => {
  const TEXT = `The turbine makes electricity for the house. It likes a slow start by one person.

They always say so in the turbine house of the valley.

The generator burns diesel when the turbine stands still. The turbine is greased by the technician.`;

  test("counts the sentences that others need", () => {
    for (const most of [1, 2, 3, 4]) {
      const shown = rankForSummary(read(TEXT), "Turbine", most);
      const sentences = shown.flatMap(({ text }) => text.split(/(?<=\.) /));
      expect(sentences.length).toBeLessThanOrEqual(most);
      expect(sentences.length).toBeGreaterThan(0);
    }
  });

  test("passes over what can't be understood", () => {
    const shown = rankForSummary(read(TEXT), "Turbine", 10).map(({ text }) => text);
    expect(shown.join(" ")).not.toContain("They always say so");
    expect(shown).toHaveLength(3);
  });

  test("of nothing else shows it all the same", () => {
    expect(rankForSummary(read("It burst at night."), "", 1)).toHaveLength(1);
  });
});

describe("a turn that opens with a pronoun", () => {
  const summaryWith = (last: string): string =>
    rankForSummary(
      read(`Marta: The ferry timetable changes in May.\n\nOlga: The bakery burns oak.\n\n${last}`),
      "",
      3,
    )
      .map(({ text }) => text)
      .join("\n");

  test.each([
    "Peter: It opens for visitors of the lighthouse at nine.",
    "Peter: They open for visitors of the lighthouse at nine.",
    "Peter: This opens for visitors of the lighthouse at nine.",
    "**Peter:** Those open for visitors of the lighthouse at nine.",
  ])("is left out of a summary: %s", (last) => {
    expect(summaryWith(last)).toBe(
      "Marta: The ferry timetable changes in May.\nOlga: The bakery burns oak.",
    );
  });

  test.each([
    "Peter: So the lighthouse opens for visitors at nine.",
    "Peter: It is important that the lighthouse opens for visitors.",
    "Peter: This week the lighthouse opens for visitors at nine.",
  ])("is taken where it is understood: %s", (last) => {
    expect(summaryWith(last)).toContain(last);
  });

  test("is shown where nothing else was said", () => {
    const text = "Peter: It has the ferry timetable of the harbour office.";
    expect(rankForSummary(read(text), "", 3).map((one) => one.text)).toEqual([text]);
  });
});
