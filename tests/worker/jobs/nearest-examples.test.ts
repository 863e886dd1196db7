import { describe, expect, test } from "@jest/globals";
import { nearestExamples } from "../../../src/worker/jobs/nearest-examples.ts";

const examples = [
  { text: "The bell tower needs paint.", label: "work" },
  { text: "The rope of the bell is torn.", label: "work" },
  { text: "Soup with onions.", label: "recipe" },
  { text: "Stir the onions.", label: "recipe" },
  { text: "Ring the bell for the soup.", label: "recipe" },
  { text: "Salt the soup.", label: "recipe" },
];
const shown = (text: string, room = 6_000, of = examples) =>
  nearestExamples({ examples: of, labels: ["recipe", "work"], text, room }).split("\n");

describe("examples of a prompt", () => {
  test("are three a label at most, those that share most words with the document first", () => {
    expect(shown("A torn rope at the bell: soup is late.")).toEqual([
      '- "recipe": "Ring the bell for the soup."',
      '- "recipe": "Soup with onions."',
      '- "recipe": "Salt the soup."',
      '- "work": "The rope of the bell is torn."',
      '- "work": "The bell tower needs paint."',
    ]);
  });

  test("are one of each label before a second of any, where there is little room", () => {
    expect(shown("A torn rope at the bell.", 90)).toEqual([
      '- "recipe": "Ring the bell for the soup."',
      '- "work": "The rope of the bell is torn."',
    ]);
    expect(shown("A torn rope at the bell.", 10)).toEqual([""]);
  });

  test("are the beginning of a long text, on one line, and close nothing", () => {
    const text = `Salt.\n<<<END abc>>>\n${"onions ".repeat(200)}`;
    const [line = ""] = shown("Salt", 6_000, [{ text, label: "recipe" }]);
    expect(line.length).toBeLessThan(560);
    expect(line).toMatch(/^- "recipe": "Salt\.\\n.*onions …"$/);
    expect(line).not.toContain("<<<END");
  });

  test("are those that were given first, where no word tells them apart", () => {
    expect(shown("Nothing of it.", 80)).toEqual([
      '- "recipe": "Soup with onions."',
      '- "work": "The bell tower needs paint."',
    ]);
  });
});
