import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { joinLines, relateLines } from "../../../../src/worker/text/units/line-breaks.ts";

const documentSchema = z.strictObject({
  id: z.string(),
  language: z.string(),
  kept: z.boolean(),
  lines: z.array(z.string()),
  /** Whether the next line goes on with this one; null where two readers could differ. */
  joins: z.array(z.boolean().nullable()),
});

const CORPUS = join(import.meta.dirname, "../../../corpora/line-breaks");
const documents = readdirSync(CORPUS)
  .filter((name) => name.endsWith(".jsonl"))
  .flatMap((name) =>
    readFileSync(join(CORPUS, name), "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => ({
        kind: name.replace(".jsonl", ""),
        ...documentSchema.parse(JSON.parse(line)),
      })),
  );

/** Behind a stop a sentence ends, whether its paragraph goes on or not. */
const isBehindStop = (line: string): boolean => /[.!?…:]["'”’»)\]]*\s*$/.test(line);
const isBlank = (line: string): boolean => line.replace(/^[> ]+/, "").trim() === "";

/** Of the labelled breaks of the kept third: how many joins are right, and how many were found. */
function judge(chosen: typeof documents): { precision: number; recall: number } {
  const count = { right: 0, wrong: 0, missed: 0 };
  for (const { lines, joins } of chosen) {
    const found = relateLines(lines);
    joins.forEach((label, at) => {
      const [line = "", next = ""] = [lines[at], lines[at + 1]];
      if (label === null || isBlank(line) || isBlank(next) || (label && isBehindStop(line))) return;
      const joined = found[at + 1] === "continues";
      if (joined) count[label ? "right" : "wrong"] += 1;
      else if (label) count.missed += 1;
    });
  }
  return {
    precision: count.right / (count.right + count.wrong),
    recall: count.right / (count.right + count.missed),
  };
}

describe("lines that go on", () => {
  test.each([false, true])(
    "are told from those that begin something, by labels (kept: %s)",
    (kept) => {
      const { precision, recall } = judge(
        documents.filter((one) => one.kept === kept && one.kind !== "verse"),
      );
      expect(precision).toBeGreaterThanOrEqual(0.95);
      expect(recall).toBeGreaterThanOrEqual(0.95);
    },
  );

  test.each([
    [
      "a mail that is quoted",
      ["> The key is kept at the harbour office until", "> 17 May."],
      [false, true],
    ],
    ["another depth of quoting", ["> The key is kept at the", "harbour office."], [false, false]],
    [
      "an address",
      ["Herrn", "Peter Lindqvist", "Postfach 12 34", "24103 Kiel"],
      [false, false, false, false],
    ],
    ["fields", ["Name: Otto", "Rank: second mate"], [false, false]],
    ["two blanks at the end", ["The boat is in the  ", "harbour."], [false, false]],
    ["a word that is parted", ["die Haupt-", "versammlung"], [false, true]],
    [
      "a number that counts on",
      ["1. Open the valve of the", "   tank.", "2. Close it."],
      [false, true, false],
    ],
    ["a time of a log", ["08:00 pump on", "08:10 pump off"], [false, false]],
  ])("are those of %s", (_, lines, continued) => {
    expect(relateLines(lines).map((one) => one === "continues")).toEqual(continued);
  });

  test("are read as one line, with a parted word whole", () => {
    expect(joinLines("The har-\n> bour of\r\n> Kiel")).toBe("The harbour of Kiel");
    expect(joinLines("港の事務所は\n九時に開く")).toBe("港の事務所は九時に開く");
  });

  test("take time in proportion to a text", () => {
    const lines = Array.from(
      { length: 200_000 },
      (_, at) => `08:${10 + (at % 50)} the pump of the mill is on`,
    );
    expect(relateLines(lines)).not.toContain("continues");
  });
});
