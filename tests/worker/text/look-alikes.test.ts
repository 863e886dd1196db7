import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { FILLER, foldLookAlikes } from "../../../src/worker/text/plain-form.ts";

const folder = join(import.meta.dirname, "../../../assets/unicode");
const { source, looks } = JSON.parse(
  readFileSync(join(folder, "look-alikes.json"), "utf8"),
) as Readonly<{ source: string; looks: Readonly<Record<string, string>> }>;

test("each character of Unicode's table folds to the one that it looks like", () => {
  const pairs = Object.entries(looks).flatMap(([ours, theirs]) =>
    Array.from(theirs, (character) => ({ ours, character })),
  );
  // A digit is read as a digit, a mark as nothing, and three characters look more like another of ours.
  const others = pairs.filter(({ ours, character }) => {
    const fold = foldLookAlikes(character).replaceAll(FILLER, "");
    return fold !== ours && !/^\d?$/.test(fold) && !"∣ІΙ".includes(character);
  });
  expect(others).toEqual([]);
  expect(pairs.length).toBeGreaterThan(500);
});

test("a folded text has the length of the text", () => {
  for (const text of Object.values(looks)) expect(foldLookAlikes(text)).toHaveLength(text.length);
});

test("the table names its source, and its licence lies beside it", () => {
  expect(source).toMatch(/^https:\/\/www\.unicode\.org\/.*LICENSE/);
  expect(readFileSync(join(folder, "LICENSE"), "utf8")).toMatch(/^UNICODE LICENSE V3\n/);
});
