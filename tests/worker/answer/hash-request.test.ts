import { expect, test } from "@jest/globals";
import { hashRequest } from "../../../src/worker/answer/call-model.ts";
import type { ModelCall } from "../../../src/worker/answer/call-model.ts";
import { scripted } from "../../support/pipeline-world.ts";

const model = scripted([]);
const CALL: ModelCall = {
  pass: "second",
  model,
  choice: { name: "scripted", why: "model.name", maxTokens: 100, timeoutMs: 1_000 },
  prompt: {
    messages: [{ role: "user", content: "Why?" }],
    record: {
      template: "answer/2",
      sha256: "a".repeat(64),
      values: {},
      evidence: [],
      violations: [],
    },
  },
  task: { purpose: "chat" },
};
const { choice, prompt } = CALL;
const withFacts = (facts: Partial<typeof model.facts>) => ({
  model: { ...model, facts: { ...model.facts, ...facts } },
});
const TOOL = { name: "search_index", description: "Searches.", parameters: {} };

test("requests that could be answered otherwise have different hashes", () => {
  const others: Partial<ModelCall>[] = [
    { model: { ...model, name: "other" } },
    withFacts({ provider: "openai-compatible" }),
    withFacts({ digest: "b".repeat(64) }),
    withFacts({ options: { num_ctx: 1 } }),
    withFacts({ options: { num_ctx: 2 } }),
    { prompt: { ...prompt, record: { ...prompt.record, sha256: "b".repeat(64) } } },
    { choice: { ...choice, maxTokens: 101 } },
    { overrides: { temperature: 1 } },
    { overrides: { format: "json" } },
    { overrides: { format: { type: "object" } } },
    { overrides: { tools: [TOOL] } },
    { overrides: { tools: [TOOL], toolChoice: "required" } },
    { overrides: { seed: 1 } },
    { overrides: { topP: 0.5 } },
    { overrides: { stop: ["."] } },
  ];
  const hashes = [CALL, ...others.map((other) => ({ ...CALL, ...other }))].map(hashRequest);
  expect(new Set(hashes).size).toBe(hashes.length);
});

test("the order of options, and how long somebody waits, change no hash", () => {
  const hashOf = (options: Readonly<Record<string, number>>) =>
    hashRequest({ ...CALL, ...withFacts({ options }) });
  expect(hashOf({ a: 1, b: 2 })).toBe(hashOf({ b: 2, a: 1 }));
  expect(hashRequest({ ...CALL, choice: { ...choice, timeoutMs: 2_000 } })).toBe(hashRequest(CALL));
});
