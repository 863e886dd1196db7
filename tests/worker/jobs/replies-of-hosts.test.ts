import { afterEach, describe, expect, test } from "@jest/globals";
import { schemaCompiler } from "../../../src/worker/json-schema.ts";
import type { RunEnd } from "../../../src/shared/job/settlement.ts";
import { startTrace } from "../../../src/worker/run-trace.ts";
import { answerQuestion } from "../../../src/worker/jobs/ask.ts";
import { extractFile } from "../../../src/worker/jobs/extract.ts";
import { summarizeFile } from "../../../src/worker/jobs/summarize.ts";
import type { PipelineDependencies } from "../../../src/worker/evidence/types.ts";
import { openOllamaModel } from "../../../src/worker/models/ollama.ts";
import { openOpenAiModel } from "../../../src/worker/models/openai-compatible.ts";
import { startOllamaDouble } from "../../doubles/ollama-server.ts";
import type { OllamaDouble } from "../../doubles/ollama-server.ts";
import type { Script } from "../../doubles/ollama/double-model.ts";
import { serveChat } from "../../support/model-hosts.ts";
import { worldOf } from "../../support/pipeline-world.ts";
import { testSchemaThread } from "../offload/test-offload.ts";

const open: { close(): Promise<void> }[] = [];
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

const bodyOf = (outcome: RunEnd): string =>
  outcome.kind === "succeeded"
    ? (outcome.answer?.split("\nScope: ")[0] ?? "")
    : outcome.kind === "refused"
      ? outcome.message
      : outcome.kind;

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

const TANKS = Object.fromEntries(
  ["a&b.md", "t2.md", "t3.md"].map((name) => [
    `allowed/corpus/${name}`,
    "# Tank\n\nThe tank holds 90 litres.\n",
  ]),
);
const TANK = "The tank holds 90 litres. [1]";

async function askAbout(path: string, ...calls: readonly Script[]) {
  let asked = 0;
  const replies = [...calls, { text: TANK }];
  const respond = () => replies[Math.min(asked++, replies.length - 1)] ?? "";
  const model = { name: "scripted", respond, capabilities: ["completion", "tools"] };
  const double = await startOllamaDouble({ models: [model] });
  open.push(double);
  const settings = { num_ctx: 4096, temperature: 0, seed: 1, keep_alive: "5m" };
  const place = { name: "scripted", baseUrl: double.url };
  const deps = worldOf({
    files: TANKS,
    models: [await openOllamaModel(place, settings, noSignal)],
  });
  const trace = startTrace();
  const input = { kind: "ask", question: `What does ${path} say the tank holds?` } as const;
  const outcome = await answerQuestion({ jobId: "j", input }, deps, trace, noSignal);
  return { body: bodyOf(outcome), reads: deps.reads, chats: double.chats() };
}

describe("a call of a tool by a host's own protocol", () => {
  const T2 = "allowed/corpus/t2.md";
  const read = (name: string, args: unknown, text = ""): Script => ({
    text,
    toolCalls: [{ name, args }],
  });

  test.each<readonly [string, string, Script]>([
    [
      "a path as markup (q1)",
      "allowed/corpus/a&b.md",
      {
        text: '{"type":"tool_call","name":"read_text_file","args":{"path":"allowed/corpus/a&amp;b.md"}}',
      },
    ],
    [
      "the same call twice (q2)",
      T2,
      {
        text: "",
        toolCalls: [T2, T2].map((path) => ({ name: "read_text_file", args: { path } })),
      },
    ],
    [
      "a channel behind its name (q3)",
      T2,
      read("read_text_file<|channel|>commentary", { path: T2 }),
    ],
    ["a module before its name (q4)", T2, read("functions.read_text_file", { path: T2 })],
    ["an extra null (q5)", T2, read("read_text_file", { path: `./${T2}`, limit: null })],
    [
      "an absolute path (q6)",
      T2,
      read("read_text_file", { path: `/home/ann/night/${T2}` }, "I will read it."),
    ],
    [
      "a tag in its text (q7)",
      T2,
      {
        text: `<tool_call>\n{"name": "read_text_file", "arguments": {"path": "${T2}"}}\n</tool_call>`,
      },
    ],
    [
      "arguments as text, behind a thought (q8)",
      T2,
      read("read_text_file", `{"path": "${T2}"}`, "<think>I should read</think>"),
    ],
  ])("is read as meant with %s", async (_, path, call) => {
    const { body, reads, chats } = await askAbout(path, call);
    expect(body).toBe(TANK);
    expect(reads).toMatchObject([{ path }]);
    expect(chats).toHaveLength(2);
  });

  test("is asked for once more where its tool is none, under a schema", async () => {
    const { body, chats } = await askAbout(T2, read("open_file", { path: T2 }), {
      text: JSON.stringify({ type: "tool_call", name: "read_text_file", args: { path: T2 } }),
    });
    expect(body).toBe(TANK);
    expect(
      chats.map(({ body: { tools, format } }) => [tools !== undefined, format !== undefined]),
    ).toEqual([
      [true, false],
      [false, true],
      [false, true],
    ]);
  });
});

describe("a stream of an OpenAI-compatible host", () => {
  const GATE = "# Gate\n\nThe gate opens at noon.\n";
  const GATE_OPENS = "The gate opens at noon. [1]";
  const usage = { choices: [], usage: { prompt_tokens: 300, completion_tokens: 20 } };
  const chunk = (delta: object, finish: string | null = null): object => ({
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const events = (...all: readonly object[]): string =>
    all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const end = chunk({}, "stop");

  async function summarizeAt(body: string, type = "text/event-stream") {
    const host = await serveChat("/v1/chat/completions", (response) =>
      response.writeHead(200, { "content-type": type }).end(body),
    );
    open.push(host);
    const settings = { num_ctx: 4096, temperature: 0, seed: 1 };
    const place = { name: "m", baseUrl: host.url };
    const models = [{ ...(await openOpenAiModel(place, settings, noSignal)), name: "scripted" }];
    const deps = worldOf({ files: { "a.md": GATE }, models });
    const input = { kind: "summarize", path: "a.md" } as const;
    return summarizeFile({ jobId: "j", input }, deps, startTrace(), noSignal);
  }

  test.each([
    [
      "in a list of pieces (o8)",
      events(chunk({ content: [{ type: "text", text: GATE_OPENS }] }), end, usage),
    ],
    [
      "behind a piece that is a thought",
      events(
        chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "Six?" }] }] }),
        chunk({ content: GATE_OPENS }),
        end,
        usage,
      ),
    ],
    [
      "behind an empty thought (o6)",
      events(
        chunk({ role: "assistant", content: `<think>\n\n</think>\n\n${GATE_OPENS}` }),
        end,
        usage,
      ),
    ],
    [
      "between comments, without a blank (o7)",
      `: keep-alive\r\n\r\ndata:${JSON.stringify(chunk({ content: GATE_OPENS }, "stop"))}\r\n\r\ndata:[DONE]\r\n\r\n`,
    ],
    [
      "with two ends (o10)",
      events(
        chunk({ content: GATE_OPENS }),
        chunk({ content: "" }, "stop"),
        chunk({ content: "" }, "stop"),
        usage,
      ),
    ],
  ])("gives the answer %s", async (_, body) => {
    expect(bodyOf(await summarizeAt(body))).toBe(GATE_OPENS);
  });

  test("that is none gives it as well (o14)", async () => {
    const message = { role: "assistant", content: GATE_OPENS };
    const whole = { choices: [{ index: 0, message, finish_reason: "stop" }], usage: usage.usage };
    const outcome = await summarizeAt(JSON.stringify(whole), "application/json");
    expect(bodyOf(outcome)).toBe(GATE_OPENS);
  });

  test("that ends while the model still thinks is told as such (o2)", async () => {
    const thought = chunk({
      role: "assistant",
      content: null,
      reasoning_content: "Hmm ".repeat(200),
    });
    const outcome = await summarizeAt(events(thought, chunk({}, "length"), usage));
    expect(outcome).toMatchObject({
      message: expect.stringContaining("All that it wrote stands in its thinking"),
    });
  });
});
