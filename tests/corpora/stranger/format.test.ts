import { describe, expect, test } from "@jest/globals";
import { isHeldOut } from "../read-corpora.ts";
import { strangerFiles } from "./make-corpus.ts";
import {
  holds,
  readStrangerExtractions,
  readStrangerQuestions,
  readStrangerSummaries,
} from "./read-stranger.ts";

const repeated = (all: readonly string[]): string[] =>
  all.filter((one, index) => all.indexOf(one) < index);

const files = strangerFiles();
const textOf = (path: string): string => {
  const text = files.find((file) => file.path === path)?.text;
  if (text === undefined) throw new Error(`there is no text at ${path}`);
  return text;
};

describe("the stranger's folder", () => {
  test("holds about a hundred files, the same bytes each time", () => {
    expect(files.length).toBeGreaterThanOrEqual(100);
    expect(files.length).toBeLessThanOrEqual(130);
    expect(repeated(files.map(({ path }) => path))).toEqual([]);
    expect(strangerFiles()).toEqual(files);
  });

  test("holds what a stranger's folder holds", () => {
    const paths = files.map(({ path }) => path);
    const texts = files.flatMap(({ text }) => text ?? []);

    for (const extension of ["txt", "md", "eml", "csv", "json", "log", "pdf", "docx"]) {
      expect(paths.some((path) => path.endsWith(`.${extension}`))).toBe(true);
    }
    expect(texts.some((text) => text === "")).toBe(true);
    expect(texts.some((text) => text.length > 10_000 && !text.includes("\n"))).toBe(true);
    expect(texts.some((text) => /^.*\. {2}.*$/m.test(text) && longestLine(text) > 700)).toBe(true);
    expect(repeated(texts.filter((text) => text !== "")).length).toBe(3);
  });

  test("has names in both forms of umlauts, with a leading dash, brackets and an emoji", () => {
    const names = files.map(({ path }) => path.slice(path.lastIndexOf("/") + 1));

    expect(names.some((name) => name !== name.normalize("NFD"))).toBe(true);
    expect(names.some((name) => name !== name.normalize("NFC"))).toBe(true);
    expect(names.some((name) => name.startsWith("-"))).toBe(true);
    expect(names.some((name) => name.includes("["))).toBe(true);
    expect(names.some((name) => /\p{Extended_Pictographic}/u.test(name))).toBe(true);
    expect(Math.max(...names.map((name) => Buffer.byteLength(name)))).toBeGreaterThan(200);
    expect(Math.max(...names.map((name) => Buffer.byteLength(name)))).toBeLessThanOrEqual(255);
  });
});

describe("what is asked of it", () => {
  const questions = readStrangerQuestions();
  const summaries = readStrangerSummaries();
  const extractions = readStrangerExtractions();

  test("is 60 questions in four languages, a quarter without an answer, 12 summaries, 12 extractions", () => {
    expect(questions.length).toBe(60);
    expect(questions.filter(({ answerable }) => !answerable).length).toBe(15);
    expect(new Set(questions.map(({ lang }) => lang)).size).toBe(4);
    expect(summaries.length).toBe(12);
    expect(extractions.length).toBe(12);
  });

  test("has no id and no question twice", () => {
    const all = [...questions, ...summaries, ...extractions];

    expect(repeated(all.map(({ id }) => id))).toEqual([]);
    expect(repeated(questions.map(({ question }) => question))).toEqual([]);
  });

  test("has facts that all stand in each of the files named for them", () => {
    const lost = questions.flatMap(({ id, facts, files: named }) =>
      named.flatMap((path) =>
        facts.filter((fact) => !holds(textOf(path), fact)).map((fact) => ({ id, path, fact })),
      ),
    );

    expect(lost).toEqual([]);
  });

  test("has unanswerable questions whose key words stand in the files, so that search finds passages", () => {
    const lost = questions.flatMap((item) => {
      if (item.answerable) return [];
      const text = item.files.map(textOf).join("\n");
      return item.keywords.filter((word) => !holds(text, word)).map((word) => [item.id, word]);
    });

    expect(lost).toEqual([]);
  });

  test("expects of a summary and an extraction what stands in its file", () => {
    const wanted = [
      ...summaries.map(({ id, path, must_hold }) => ({ id, path, facts: must_hold })),
      ...extractions.map(({ id, path, expected }) => ({
        id,
        path,
        facts: [expected.people ?? [], expected.dates ?? [], expected.actions ?? []].flat(),
      })),
    ];
    const lost = wanted.flatMap(({ id, path, facts }) =>
      facts.filter((fact) => !holds(textOf(path), fact)).map((fact) => ({ id, fact })),
    );

    expect(lost).toEqual([]);
  });

  test("has about a third held out", () => {
    const all = [...questions, ...summaries, ...extractions];
    const share = all.filter(isHeldOut).length / all.length;

    expect(share).toBeGreaterThanOrEqual(0.25);
    expect(share).toBeLessThanOrEqual(0.42);
  });
});

const longestLine = (text: string): number =>
  Math.max(...text.split("\n").map(({ length }) => length));
