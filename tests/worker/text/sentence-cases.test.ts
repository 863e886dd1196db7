import { expect, test } from "@jest/globals";
import { sentenceEnds } from "../../../src/worker/text/sentences.ts";
import { readSentenceCases } from "../../corpora/sentences/read-sentences.ts";

/** What takes the meaning of the words: sentences without capitals, and abbreviations that end one. */
const BEYOND_RULES = new Set([
  "sentence-en-111",
  "sentence-en-124",
  "sentence-de-074",
  "sentence-de-113",
  "sentence-fr-077",
  "sentence-es-041",
]);

function sentencesOf(text: string): string[] {
  let from = 0;
  return sentenceEnds(text)
    .map((end) => {
      const sentence = text.slice(from, end).trim();
      from = end;
      return sentence;
    })
    .filter((sentence) => sentence !== "");
}

const cases = readSentenceCases();

test("400 paragraphs that others cut by hand are to be had", () => {
  expect(cases.length).toBeGreaterThanOrEqual(400);
});

test.each(
  cases
    .filter(({ id }) => !BEYOND_RULES.has(id))
    .map(({ id, text, sentences }) => [id, text, sentences] as const),
)("%s: %j is cut as a reader cuts it", (_, text, sentences) => {
  expect(sentencesOf(text)).toEqual(sentences);
});
