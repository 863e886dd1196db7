import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { readQuestions } from "../../../src/producer/evaluate/questions.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nightdesk-questions-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function fileOf(...lines: readonly unknown[]): Promise<string> {
  const file = join(folder, "questions.jsonl");
  const texts = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
  await writeFile(file, texts.join("\n"));
  return file;
}

test("reads facts in each of their forms, and names a question after its line", async () => {
  const file = await fileOf(
    { id: "a", question: "When?", expected: "the 28th", language: "en", kind: "date" },
    "",
    { question: "Who and what?", expected: ["Ottilie", ["3,000", "3000"]], files: ["a.md"] },
    { question: "Where?", files: ["b.md"], unanswerable: false },
    { question: "Why?", unanswerable: "never told" },
  );
  const { name, questions } = await readQuestions(file);
  const said = { language: "", kind: "", expected: [], files: [], isUnanswerable: false };
  expect({ name, questions }).toEqual({
    name: "questions.jsonl",
    questions: [
      {
        ...said,
        id: "a",
        question: "When?",
        expected: [["the 28th"]],
        language: "en",
        kind: "date",
      },
      {
        ...said,
        id: "line 3",
        question: "Who and what?",
        expected: [["Ottilie"], ["3,000", "3000"]],
        files: ["a.md"],
      },
      { ...said, id: "line 4", question: "Where?", files: ["b.md"] },
      { ...said, id: "line 5", question: "Why?", isUnanswerable: true },
    ],
  });
});

test.each<readonly [string, readonly unknown[], string]>([
  ["no expectation", [{ question: "Why?" }], "line 1 says neither `expected`, nor `files`"],
  ["no text", [{ question: " ", expected: "x" }], "line 1 question is empty"],
  ["no JSON", ["nope"], "line 1 is not valid JSON"],
  ["a list", [[]], "line 1 "],
  ["an unknown key", [{ question: "a", expected: "x", answer: 1 }], 'line 1 has the key "answer"'],
  ["a fact that is a number", [{ question: "a", expected: [3] }], "line 1 expected is neither"],
  ["half of a surrogate pair", ['{"question":"\\ud800","expected":"x"}'], "line 1 holds half"],
  [
    "an id that stands twice",
    [
      { id: "a", question: "a", expected: "x" },
      { id: "a", question: "b", expected: "x" },
    ],
    'line 2 has the id "a" of a line before',
  ],
  ["nothing", [""], "it holds no question"],
])("refuses a file with %s, and says what it takes", async (_, lines, reason) => {
  const file = await fileOf(...lines);
  const refused = readQuestions(file);
  await expect(refused).rejects.toMatchObject({ code: "INPUT_INVALID" });
  await expect(refused).rejects.toThrow(reason);
  await expect(refused).rejects.toThrow("Expected one question a line, such as {");
});

test("says of a file that is not there that it takes questions", async () => {
  await expect(readQuestions(join(folder, "none.jsonl"))).rejects.toThrow("one question a line");
});
