import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { titleOf } from "../../../../src/worker/evidence/number.ts";
import { extractiveModel } from "../../../../src/worker/models/extractive/extractive.ts";

type Example = {
  readonly custom_id: string;
  readonly question: string;
  readonly path: string;
  readonly must_contain: string;
};

const folded = (text: string): string => text.replace(/\s+/g, " ").toLowerCase();

const exampleFile = (path: string): string => readFileSync(`examples/${path}`, "utf8");

/** What extractive says to a question with the whole of its file as evidence. */
async function answerFrom({ question, path }: Example): Promise<string> {
  const text = exampleFile(path);
  const evidence = [{ number: 1, path, title: titleOf(text), headingPath: null, text }];
  const task = { purpose: "answer", question, evidence, sentences: 3 } as const;
  const request = { messages: [], task, maxTokens: 1, timeoutMs: 1 };
  const reply = await extractiveModel().complete(request, new AbortController().signal);
  return reply.kind === "reply" ? reply.text : reply.code;
}

const examples = exampleFile("questions.jsonl")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Example);

test("extractive answers every example question from its file", async () => {
  const missed: string[] = [];
  for (const example of examples) {
    const answer = folded(await answerFrom(example));
    if (!answer.includes(folded(example.must_contain))) missed.push(example.custom_id);
  }
  expect(examples.length).toBeGreaterThan(40);
  expect(missed).toEqual([]);
});

test("extractive declines nine in ten example questions that it is to answer from another file", async () => {
  let [asked, declined] = [0, 0];
  for (const [index, example] of examples.entries()) {
    for (const step of [7, 19, 31]) {
      const path = examples[(index + step) % examples.length]?.path ?? "";
      if (path === example.path) continue;
      asked += 1;
      if ((await answerFrom({ ...example, path })) === "INSUFFICIENT_EVIDENCE") declined += 1;
    }
  }
  expect(declined / asked).toBeGreaterThan(0.9);
});

test.each([
  "Which Panamanian shipyards launch supertankers?",
  "Did grandmaster Kasparov despise Sicilian gambits?",
])("extractive declines %s from every example file", async (question) => {
  for (const example of examples) {
    expect(await answerFrom({ ...example, question })).toBe("INSUFFICIENT_EVIDENCE");
  }
});
