import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { extractiveModel } from "../../../src/worker/model/extractive.ts";
import { titleOf } from "../../../src/worker/pipeline/number-evidence.ts";

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

test("extractive answers at least nine in ten of the example questions from their file", async () => {
  const lines = exampleFile("questions.jsonl").trim().split("\n");
  const examples = lines.map((line) => JSON.parse(line) as Example);
  const missed: string[] = [];
  for (const example of examples) {
    const answer = folded(await answerFrom(example));
    if (!answer.includes(folded(example.must_contain))) missed.push(example.custom_id);
  }
  expect(examples.length).toBeGreaterThan(40);
  expect({ missed, many: missed.length > examples.length / 10 }).toMatchObject({ many: false });
});
