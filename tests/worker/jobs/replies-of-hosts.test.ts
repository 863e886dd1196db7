import { afterEach, describe, expect, test } from "@jest/globals";
import { schemaCompiler } from "../../../src/shared/json-schema.ts";
import type { Outcome } from "../../../src/shared/run-result.ts";
import { startTrace } from "../../../src/shared/run-trace.ts";
import { extractFile } from "../../../src/worker/jobs/extract.ts";
import { summarizeFile } from "../../../src/worker/jobs/summarize.ts";
import type { PipelineDependencies } from "../../../src/worker/evidence/types.ts";
import { openOllamaModel } from "../../../src/worker/models/ollama.ts";
import { startOllamaDouble } from "../../doubles/ollama-server.ts";
import type { OllamaDouble } from "../../doubles/ollama-server.ts";
import type { Script } from "../../doubles/ollama/double-model.ts";
import { worldOf } from "../../support/pipeline-world.ts";
import { testSchemaThread } from "../offload/test-offload.ts";

const open: OllamaDouble[] = [];
afterEach(async () => {
  for (const double of open.splice(0)) await double.close();
});

const noSignal = new AbortController().signal;

type World = { readonly deps: PipelineDependencies; readonly double: OllamaDouble };

/** A host whose model gives these replies in order, and the last of them from there on. */
async function hostOf(text: string, replies: readonly (string | Script)[]): Promise<World> {
  let calls = 0;
  const respond = () => replies[Math.min(calls++, replies.length - 1)] ?? "";
  const double = await startOllamaDouble({ models: [{ name: "scripted", respond }] });
  open.push(double);
  const settings = { num_ctx: 4096, temperature: 0, seed: 1, keep_alive: "5m" };
  const place = { name: "scripted", baseUrl: double.url };
  const models = [await openOllamaModel(place, settings, noSignal)];
  return { deps: worldOf({ files: { "a.md": text }, models }), double };
}

const bodyOf = (outcome: Outcome): string =>
  outcome.kind === "succeeded" ? (outcome.answer.split("\nScope: ")[0] ?? "") : outcome.message;

async function summarize(text: string, ...replies: readonly (string | Script)[]) {
  const { deps, double } = await hostOf(text, replies);
  const input = { kind: "summarize", path: "a.md" } as const;
  const outcome = await summarizeFile({ jobId: "j", input }, deps, startTrace(), noSignal);
  return { outcome, body: bodyOf(outcome), chats: double.chats() };
}

const PUMP = "# Note\n\nThe pump needs 14 litres of oil each week.\n";
const ANSWER = "The pump needs 14 litres of oil each week. [1]";

describe("a summary by a model whose host leaves its marks in", () => {
  test.each([
    ["h01", `<|channel>thought\nThe note talks about a pump, maybe 15.\n<channel|>${ANSWER}`],
    ["h01b", `<|channel>thought\n<channel|>${ANSWER}`],
    ["h01c", `◁think▷The pump... 16 or 17?◁/think▷${ANSWER}`],
    ["h01d", `<unused94>thought\nlet me see, 14 litres or 19\n<unused95>${ANSWER}`],
    ["h15", `${ANSWER}<end_of_turn>`],
    ["h15b", `${ANSWER}<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nThanks!`],
    ["h15c", `<s>${ANSWER}</s>`],
  ])("is the sentence alone (%s)", async (_, reply) => {
    const { body, chats } = await summarize(PUMP, reply);
    expect(body).toBe(ANSWER);
    expect(chats).toHaveLength(1);
  });
});

const ORDER = "# Note\n\nThe total of the order is 412 euros. Payer is Signe Lunde.\n";
const FIELDS =
  '{"total": {"value": 412, "quote": "The total of the order is 412 euros."}, "payer": {"value": "Signe Lunde", "quote": "Payer is Signe Lunde."}}';
const SCHEMA = {
  type: "object",
  properties: { total: { type: "number" }, payer: { type: "string" } },
  required: ["total", "payer"],
};

async function extract(...replies: readonly (string | Script)[]) {
  const { deps, double } = await hostOf(ORDER, replies);
  const more = { compileSchema: schemaCompiler(), offloadSchema: testSchemaThread() };
  const input = { kind: "extract", path: "a.md", schema: SCHEMA } as const;
  const outcome = await extractFile({ input }, { ...deps, ...more }, startTrace(), noSignal);
  return { outcome, body: bodyOf(outcome), chats: double.chats() };
}

describe("fields by a model whose host does not hold it to their schema", () => {
  test.each([
    ["h04a", `Sure! Here is the JSON:\n\`\`\`json\n${FIELDS}\n\`\`\`\nLet me know.`],
    ["h04e", `${FIELDS}<|im_end|>`],
    ["h04f", `${FIELDS}${FIELDS}`],
    ["h04j", `<think>\nok\n</think>\n\n${FIELDS}`],
    ["h04k", `<|channel>thought\n<channel|>${FIELDS}`],
    ["h04l", `\n\n${FIELDS}\n\n\n\n`],
  ])("are read at once (%s)", async (_, reply) => {
    const { body, chats } = await extract(reply);
    expect(body).toBe('{"total":412,"payer":"Signe Lunde"}');
    expect(chats).toHaveLength(1);
  });

  test.each([
    ["h04", `Sure! Here is the JSON:\n\`\`\`json\n${FIELDS.replace(/\}$/, ",\n}")}\n\`\`\``],
    ["h04b", FIELDS.replaceAll('"', "'")],
  ])("are asked for once more under their schema (%s)", async (_, reply) => {
    const { body, chats } = await extract(reply, FIELDS);
    expect(body).toBe('{"total":412,"payer":"Signe Lunde"}');
    expect(chats).toHaveLength(2);
    expect(chats[1]?.body).toMatchObject({ format: { type: "object" } });
  });
});

describe("a reply that stands in the thinking of its model", () => {
  const why = expect.stringContaining("All that it wrote stands in its thinking");

  test.each([
    ["fields (h02)", () => extract({ text: "", thinking: FIELDS })],
    ["a summary (h02b)", () => summarize(PUMP, { text: "", thinking: ANSWER })],
    ["a summary between marks", () => summarize(PUMP, `<think>${ANSWER}</think>`)],
  ])("is none, and told as such: %s", async (_, run) => {
    const { outcome } = await run();
    expect(outcome).toMatchObject({ code: "SECOND_PASS_FORMAT_VIOLATION", message: why });
  });

  test("is asked for once more", async () => {
    const { body, chats } = await summarize(PUMP, { text: "", thinking: ANSWER }, ANSWER);
    expect(body).toBe(ANSWER);
    expect(chats).toHaveLength(2);
  });
});
