import { describe, expect, test } from "@jest/globals";
import { classifyQuestion } from "../../../src/worker/question/classify-question.ts";
import type { Classified } from "../../../src/worker/question/classify-question.ts";
import { knownFilesOf } from "../../../src/worker/question/known-files.ts";
import { readFileQuestions, readOrdinaryQuestions } from "../../corpora/read-corpora.ts";
import { SETTINGS } from "../../support/pipeline-world.ts";

const settings = {
  allowedExts: SETTINGS.security.allowed_exts,
  summaryTriggers: SETTINGS.ask.summary_triggers,
  fullTriggers: SETTINGS.ask.full_evidence_triggers,
  extent: "as_needed",
} as const;

const classify = (question: string, paths: readonly string[]): Promise<Classified> =>
  classifyQuestion(question, settings, async () => knownFilesOf(paths));

const ordinary = readOrdinaryQuestions();
const ofFiles = readFileQuestions();
/** Where a file of that name lies, "Node.js" is a question about it. */
const PRODUCT = /(?:^|\/)Node\.js$/;
const paths = [...new Set(ofFiles.flatMap(({ exists }) => exists))].filter(
  (path) => !PRODUCT.test(path),
);

describe("of the corpora", () => {
  test.each([
    ["in a work root without files", []],
    ["beside all files that the other questions name", paths],
  ])("no ordinary question becomes one about a file %s", async (_, known) => {
    const wrong: string[] = [];
    for (const { id, question } of ordinary) {
      const { need, namedFiles } = await classify(question, known);
      if (need !== "passages") wrong.push(`${id}: ${namedFiles.join(", ")}`);
    }
    expect(wrong).toEqual([]);
    expect(ordinary.length).toBeGreaterThanOrEqual(300);
  });

  test("each question about files names them, as they are spelled there", async () => {
    const wrong: string[] = [];
    for (const { id, question, names, exists } of ofFiles) {
      const { namedFiles } = await classify(question, exists);
      if (namedFiles.join("\n") !== names.join("\n")) {
        wrong.push(`${id}: ${namedFiles.join(", ")} instead of ${names.join(", ")}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});
