import { afterEach, describe, expect, test } from "@jest/globals";
import { openOpenAiModel } from "../../../src/worker/models/openai-compatible.ts";
import { ENGINES } from "../../support/engines.ts";
import { complete, failureOf, serveChat } from "../../support/model-hosts.ts";

const closing: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const host of closing.splice(0)) await host.close();
});

const SETTINGS = { num_ctx: 2048, temperature: 0, seed: 1 };
const open = (baseUrl: string) =>
  openOpenAiModel(
    { name: "m", baseUrl, entry: "h", api: "responses" },
    SETTINGS,
    new AbortController().signal,
  );

const events = (...all: readonly object[]): string =>
  all.map((event) => `event: e\ndata: ${JSON.stringify(event)}\n\n`).join("");
const COMPLETED = {
  type: "response.completed",
  response: { output: [], usage: { input_tokens: 7, output_tokens: 3 } },
};

async function replying(text: string) {
  const server = await serveChat("/v1/responses", (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).end(text);
  });
  closing.push(server);
  return open(server.url);
}

describe("a stream of /v1/responses", () => {
  test("gives text, thoughts and counts", async () => {
    const model = await replying(
      events(
        { type: "response.created", response: {} },
        { type: "response.reasoning_text.delta", delta: "hm" },
        { type: "response.output_text.delta", delta: "Hel" },
        { type: "response.output_text.delta", delta: "lo" },
        COMPLETED,
      ),
    );
    expect(await complete(model)).toMatchObject({
      kind: "reply",
      text: "Hello",
      reasoning: { text: "hm" },
      promptTokens: 7,
      completionTokens: 3,
      doneReason: "stop",
    });
  });

  test("gives calls", async () => {
    const item = { type: "function_call", name: "t", arguments: '{"path":"a.md"}' };
    const model = await replying(events({ type: "response.output_item.done", item }, COMPLETED));
    expect(await complete(model)).toMatchObject({
      toolCalls: [{ name: "t", args: { path: "a.md" } }],
    });
  });

  test("says when it was cut by its length", async () => {
    const response = {
      incomplete_details: { reason: "max_output_tokens" },
      usage: { input_tokens: 7, output_tokens: 100 },
    };
    const model = await replying(events({ type: "response.incomplete", response }));
    expect(await complete(model)).toMatchObject({ doneReason: "length" });
  });

  test.each<[string, string, string]>([
    [
      "an end too early",
      events({ type: "response.output_text.delta", delta: "a" }),
      "MODEL_UNREACHABLE",
    ],
    [
      "a response that failed",
      events({ type: "response.failed", response: { error: { message: "out of memory" } } }),
      "MODEL_OVERLOADED",
    ],
    [
      "an error whose code is a status",
      'event: error\ndata: {"type":"error","code":401,"message":"no"}\n\n',
      "MODEL_UNREACHABLE",
    ],
    [
      "a filter",
      events({
        type: "response.incomplete",
        response: { incomplete_details: { reason: "content_filter" } },
      }),
      "MODEL_OUTPUT_INVALID",
    ],
  ])("with %s is a fault", async (_, text, code) => {
    expect((await failureOf(complete(await replying(text)))).code).toBe(code);
  });
});

const [, server] = ENGINES;
const onServer = server === undefined ? test.skip : test;
onServer("llama-server itself answers by it, and counts", async () => {
  if (server === undefined) return;
  const host = await server.start();
  closing.push(host);
  const reply = await complete(await open(host.url), { maxTokens: 12 });
  expect(reply).toMatchObject({ kind: "reply" });
  if (reply.kind !== "reply") return;
  expect(reply.text).not.toBe("");
  expect(reply.promptTokens).toBeGreaterThan(0);
  expect(reply.completionTokens).toBeGreaterThan(0);
});
