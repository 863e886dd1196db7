import { expect, test } from "@jest/globals";
import type { ChatInput } from "../../../src/shared/job.ts";
import type { Outcome } from "../../../src/shared/run-result.ts";
import { startTrace } from "../../../src/shared/run-trace.ts";
import { chatOnce } from "../../../src/worker/jobs/chat.ts";
import { ToolCallUnreadable } from "../../../src/worker/models/model.ts";
import { scripted, SETTINGS, worldOf } from "../../support/pipeline-world.ts";
import type { World } from "../../support/pipeline-world.ts";

const chat = (input: Omit<ChatInput, "kind">, world: World): Promise<Outcome> =>
  chatOnce(
    { jobId: "j", input: { kind: "chat", ...input } },
    worldOf(world),
    startTrace(),
    new AbortController().signal,
  );

test("a prompt goes to the model as it is, and its text is the answer", async () => {
  const model = scripted(["Hello."]);
  const outcome = await chat({ prompt: "Hi", max_tokens: 7, temperature: 0 }, { models: [model] });
  expect(outcome).toEqual({
    kind: "succeeded",
    answer: "Hello.",
    scope: null,
    citations: [],
    summary: null,
  });
  expect(model.requests).toMatchObject([
    { messages: [{ role: "user", content: "Hi" }], maxTokens: 7, temperature: 0 },
  ]);
});

test.each([
  [{ type: "json_object" }, "json"],
  [
    { type: "json_schema", json_schema: { name: "x", schema: { type: "object" } } },
    { type: "object" },
  ],
  [{ type: "array" }, { type: "array" }],
])("response_format %j", async (responseFormat, format) => {
  const model = scripted(["{}"]);
  await chat({ prompt: "Hi", response_format: responseFormat }, { models: [model] });
  expect(model.requests[0]?.format).toEqual(format);
});

test("what a request says of sampling goes along, and a format of plain text is none", async () => {
  const model = scripted(["Hello."]);
  const input = { prompt: "Hi", seed: 7, top_p: 0.9, stop: ["END"] };
  await chat({ ...input, response_format: { type: "text" } }, { models: [model] });
  expect(model.requests).toMatchObject([{ seed: 7, topP: 0.9, stop: ["END"] }]);
  expect(model.requests[0]).not.toHaveProperty("format");
});

test("the extractive model can't chat", async () => {
  const settings = { ...SETTINGS, model: { ...SETTINGS.model, provider: "extractive" as const } };
  expect(await chat({ prompt: "Hi" }, { models: [], settings })).toMatchObject({
    code: "MODEL_UNSUPPORTED",
  });
});

test("an empty reply and a missing model are faults", async () => {
  const settings = { ...SETTINGS, model: { ...SETTINGS.model, name: null } };
  await expect(chat({ prompt: "Hi" }, { models: [scripted([""])] })).rejects.toMatchObject({
    code: "MODEL_OUTPUT_INVALID",
  });
  await expect(chat({ prompt: "Hi" }, { models: [], settings })).rejects.toMatchObject({
    code: "MODEL_NOT_FOUND",
  });
});

test("a tool call that the host could not read is a refusal", async () => {
  const model = {
    ...scripted([]),
    complete: () => Promise.reject(new ToolCallUnreadable("scripted", null)),
  };
  expect(await chat({ prompt: "Hi" }, { models: [model] })).toMatchObject({
    kind: "refused",
    code: "INVALID_ARGS",
  });
});
