import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { readSentenceCases, type SentenceCase } from "./read-sentences.ts";

const repeated = (all: readonly string[]): string[] =>
  all.filter((one, index) => all.indexOf(one) < index);

/** What stands between, before and behind the sentences, or undefined where one is no slice of the text. */
function leftOver({ text, sentences }: SentenceCase): string | undefined {
  let rest = "";
  let at = 0;
  for (const sentence of sentences) {
    const start = text.indexOf(sentence, at);
    if (start === -1) return undefined;
    rest += text.slice(at, start);
    at = start + sentence.length;
  }
  return rest + text.slice(at);
}

describe("the cases of sentences", () => {
  const cases = readSentenceCases();

  test("are at least 400 in the languages that the rules know", () => {
    const countOf = (lang: string) => cases.filter((one) => one.lang === lang).length;

    expect(cases.length).toBeGreaterThanOrEqual(400);
    expect(countOf("en")).toBeGreaterThanOrEqual(110);
    expect(countOf("de")).toBeGreaterThanOrEqual(110);
    expect(countOf("fr")).toBeGreaterThanOrEqual(70);
    expect(countOf("es")).toBeGreaterThanOrEqual(60);
    expect(countOf("it")).toBeGreaterThanOrEqual(20);
    expect(countOf("nl")).toBeGreaterThanOrEqual(15);
    expect(countOf("ja") + countOf("zh")).toBeGreaterThanOrEqual(15);
  });

  test("hold no id and no text twice", () => {
    expect(repeated(cases.map(({ id }) => id))).toEqual([]);
    expect(repeated(cases.map(({ text }) => text))).toEqual([]);
  });

  test("have sentences that are slices of the text, in order, with only blanks between them", () => {
    const unfit = cases.filter((one) => leftOver(one)?.trim() !== "");

    expect(unfit.map(({ id }) => id)).toEqual([]);
  });

  test("have sentences without a blank at either end", () => {
    const unfit = cases.filter(({ sentences }) => sentences.some((one) => one !== one.trim()));

    expect(unfit.map(({ id }) => id)).toEqual([]);
  });

  test("have one paragraph a case", () => {
    expect(cases.filter(({ text }) => /\n\s*\n/.test(text)).map(({ id }) => id)).toEqual([]);
  });

  test("end with a line break, so that no case is lost", async () => {
    const text = await readFile(join(import.meta.dirname, "cases.jsonl"), "utf8");

    expect(text.endsWith("}\n")).toBe(true);
  });
});
