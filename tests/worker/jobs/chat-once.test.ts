import { expect, test } from "@jest/globals";
import type { ChatInput } from "../../../src/shared/job/job.ts";
import type { Outcome } from "../../../src/shared/job/run-result.ts";
import { startTrace } from "../../../src/worker/run-trace.ts";
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

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";
const seeing = (...sees: string[]) => ({ ...SETTINGS, model: { ...SETTINGS.model, sees } });
const look = (base64: string) => ({
  messages: [
    { role: "user" as const, content: "What is it?", images: [`data:image/png;base64,${base64}`] },
  ],
});

test("a picture goes to a model that can see, and is refused by name for any other", async () => {
  const model = scripted(["A dot."]);
  const settings = seeing("scripted");
  expect(await chat(look(PNG), { models: [model], settings })).toMatchObject({ answer: "A dot." });
  expect(model.requests).toMatchObject([look(PNG)]);
  const blind = scripted(["A cat."]);
  expect(await chat(look(PNG), { models: [blind], settings: seeing("llava") })).toMatchObject({
    code: "MODEL_UNSUPPORTED",
    message: expect.stringContaining('"scripted"'),
  });
  expect(blind.requests).toEqual([]);
});

test("a picture of more pixels than a host should decode is refused", async () => {
  const head = Buffer.from(PNG, "base64");
  head.writeUInt32BE(60_000, 16);
  head.writeUInt32BE(60_000, 20);
  const huge = { models: [scripted(["A dot."])], settings: seeing("scripted") };
  expect(await chat(look(head.toString("base64")), huge)).toMatchObject({
    code: "INVALID_ARGS",
    message: expect.stringContaining("Picture 1 of the messages has 60000 x 60000 pixels"),
  });
});
