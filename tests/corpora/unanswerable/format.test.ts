import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { DOCUMENTS, isKept, readUnanswerable } from "./read-unanswerable.ts";

const EXAMPLES = join(import.meta.dirname, "../../../examples/corpus");

describe("the questions without an answer", () => {
  const questions = readUnanswerable();

  test("are 40 beside those with one, each asked once, and half of them is kept", () => {
    const without = questions.filter((one) => "unanswerable" in one && one.kind !== "foreign");
    expect(without).toHaveLength(40);
    expect(new Set(questions.map(({ id }) => id)).size).toBe(questions.length);
    expect(new Set(questions.map(({ question }) => question)).size).toBe(questions.length);
    expect(without.filter(isKept).length).toBeGreaterThanOrEqual(15);
    expect(without.filter(isKept).length).toBeLessThanOrEqual(25);
  });

  test("expect words that stand in the file that is named", () => {
    const lost = questions.flatMap((one) => {
      if (!("expected" in one)) return [];
      const root = one.set === "examples" ? EXAMPLES : DOCUMENTS;
      const held = one.files
        .map((file) => readFileSync(join(root, file), "utf8").toLowerCase())
        .join("\n");
      return one.expected
        .filter((spellings) => !spellings.some((words) => held.includes(words.toLowerCase())))
        .map((spellings) => [one.id, spellings]);
    });
    expect(lost).toEqual([]);
  });
});
