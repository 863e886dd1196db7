import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ENGINES } from "../support/engines.ts";
import type { Engine, EngineOptions, RunningEngine } from "../support/engines.ts";

// What the double says on the wire is what llama.cpp's server says: the same questions to both.

type Json = Readonly<Record<string, unknown>>;
type Answer = { readonly status: number; readonly text: string; readonly json: Json };

function serve(
  engine: Engine,
  options: EngineOptions = {},
): {
  get(path: string): Promise<Answer>;
  post(path: string, body: Json): Promise<Answer>;
} {
  let running: RunningEngine;
  beforeAll(async () => {
    running = await engine.start(options);
  });
  afterAll(() => running.close());
  const ask = async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const response = await fetch(`${running.url}${path}`, init);
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
    return { status: response.status, text, json: isJson ? (JSON.parse(text) as Json) : {} };
  };
  return {
    get: (path) => ask(path),
    post: (path, body) => ask(path, { method: "POST", body: JSON.stringify(body) }),
  };
}

const CHAT = "/v1/chat/completions";
const HI = { model: "m", messages: [{ role: "user", content: "Hi there" }], temperature: 0 };
const STREAMED = { ...HI, stream: true, stream_options: { include_usage: true }, max_tokens: 8 };

const eventsOf = ({ text }: Answer): readonly string[] =>
  text.split("\n\n").flatMap((event) => (event.startsWith("data: ") ? [event.slice(6)] : []));
const chunksOf = (answer: Answer): readonly Json[] =>
  eventsOf(answer).flatMap((data) => (data === "[DONE]" ? [] : [JSON.parse(data) as Json]));

describe.each(ENGINES)("the routes of $name", (engine) => {
  const server = serve(engine);

  test("say of the model all of its names and both windows", async () => {
    const { json } = await server.get("/v1/models");
    expect(json["data"]).toMatchObject([
      {
        id: expect.stringMatching(/^(m|second)$/),
        aliases: expect.arrayContaining(["m", "second"]),
        meta: {
          n_ctx: 2048,
          n_ctx_train: expect.any(Number),
          n_embd: expect.any(Number),
          size: expect.any(Number),
        },
      },
    ]);
  });

  test("say of the server its slots, their window and what the template can do", async () => {
    expect((await server.get("/props")).json).toMatchObject({
      default_generation_settings: { n_ctx: 2048 },
      total_slots: 2,
      model_ftype: expect.any(String),
      chat_template_caps: { supports_tools: true, supports_tool_calls: true },
      build_info: expect.stringMatching(/^b\d+/),
    });
  });

  test("count a text, and a chat as its reply counts it", async () => {
    const { json } = await server.post("/tokenize", { content: "Hi there" });
    expect(json["tokens"]).toContainEqual(expect.any(Number));
    const counted = await server.post(`${CHAT}/input_tokens`, HI);
    const replied = await server.post(CHAT, { ...HI, max_tokens: 3 });
    expect(replied.json["usage"]).toMatchObject({ prompt_tokens: counted.json["input_tokens"] });
  });

  test("refuse embeddings without the option for it", async () => {
    const { status, json } = await server.post("/v1/embeddings", { input: "Hi" });
    expect(status).toBe(501);
    expect(json).toMatchObject({ error: { code: 501, type: "not_supported_error" } });
  });
});

describe.each(ENGINES)("a chat of $name", (engine) => {
  const server = serve(engine, { windowTokens: 512 });

  test("streams: null first, pieces of text, the reason, the cost, and the end", async () => {
    const answer = await server.post(CHAT, STREAMED);
    const chunks = chunksOf(answer);
    expect(chunks[0]).toMatchObject({
      choices: [{ delta: { role: "assistant", content: null }, finish_reason: null }],
    });
    expect(chunks[1]).toMatchObject({ choices: [{ delta: { content: expect.any(String) } }] });
    expect(chunks.at(-2)).toMatchObject({ choices: [{ delta: {}, finish_reason: "length" }] });
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: {
        completion_tokens: 8,
        prompt_tokens: expect.any(Number),
        prompt_tokens_details: { cached_tokens: expect.any(Number) },
      },
      timings: { predicted_n: 8 },
    });
    expect(eventsOf(answer).at(-1)).toBe("[DONE]");
  });

  test("comes whole where no stream is asked for", async () => {
    const { json } = await server.post(CHAT, { ...HI, max_tokens: 8 });
    expect(json).toMatchObject({
      object: "chat.completion",
      choices: [{ message: { role: "assistant", content: expect.any(String) } }],
      usage: { completion_tokens: 8 },
    });
  });

  test("is served under any name", async () => {
    expect((await server.post(CHAT, { ...STREAMED, model: "nobody" })).status).toBe(200);
  });

  test("whose prompt is too long is refused before the stream, with both counts", async () => {
    const messages = [{ role: "user", content: "!".repeat(700) }];
    const { status, json } = await server.post(CHAT, { ...STREAMED, messages });
    expect(status).toBe(400);
    expect(json).toMatchObject({
      error: {
        code: 400,
        type: "exceed_context_size_error",
        message: expect.stringContaining("exceeds the available context size (512 tokens)"),
        n_ctx: 512,
        n_prompt_tokens: expect.any(Number),
      },
    });
  });

  test("calls a tool with its name first and its arguments in pieces", async () => {
    const parameters = {
      type: "object",
      properties: { path: { type: "string", maxLength: 10 } },
      required: ["path"],
    };
    const tools = [{ type: "function", function: { name: "read_text_file", parameters } }];
    const request = { ...STREAMED, tools, tool_choice: "required", temperature: 1, seed: 2 };
    const chunks = chunksOf(await server.post(CHAT, { ...request, max_tokens: 300 }));
    const calls = chunks.flatMap(({ choices }) =>
      (choices as { delta: { tool_calls?: { id?: string; function: Json }[] } }[]).flatMap(
        ({ delta }) => delta.tool_calls ?? [],
      ),
    );
    expect(calls[0]).toMatchObject({
      index: 0,
      id: expect.any(String),
      function: { name: "read_text_file", arguments: expect.any(String) },
    });
    expect(calls[1]).not.toHaveProperty("id");
    expect(chunks.at(-2)).toMatchObject({ choices: [{ finish_reason: "tool_calls" }] });
  });
});

describe.each(ENGINES)("prompts that fill the one window of $name", (engine) => {
  const server = serve(engine, { windowTokens: 1024, pool: "shared", slots: 4 });

  test("are told so by status 500, or as data of a stream that nothing follows", async () => {
    const answers = await Promise.all(
      ["!", "?", "#", "%"].map((sign) => {
        const messages = [{ role: "user", content: sign.repeat(600) }];
        return server.post(CHAT, { ...STREAMED, messages, temperature: 1, max_tokens: 60 });
      }),
    );
    const failed = answers.filter(({ text }) => text.includes('"error"'));
    expect(failed).not.toHaveLength(0);
    for (const answer of failed) {
      const told = answer.status === 200 ? chunksOf(answer).at(-1) : answer.json;
      const message = "Context size has been exceeded.";
      expect(told).toEqual({ error: { code: 500, message, type: "server_error" } });
      expect(answer.text).not.toContain("[DONE]");
    }
  });
});

describe.each(ENGINES)("embeddings of $name", (engine) => {
  const server = serve(engine, { embeds: true });
  const embed = async (input: unknown): Promise<readonly number[][]> => {
    const { json } = await server.post("/v1/embeddings", { model: "m", input });
    return (json["data"] as { embedding: number[] }[]).map(({ embedding }) => embedding);
  };

  test("are one vector of length 1 for each text, the same each time", async () => {
    const [night, desk, again] = await embed(["night", "a desk", "night"]);
    for (const vector of [night, desk]) expect(Math.hypot(...(vector ?? []))).toBeCloseTo(1, 3);
    expect(desk).not.toEqual(night);
    for (const [index, value] of (again ?? []).entries())
      expect(value).toBeCloseTo(night?.[index] ?? NaN, 4);
  });

  test("of a text longer than a batch are refused in words, under status 500", async () => {
    const { status, text } = await server.post("/v1/embeddings", { input: "!".repeat(700) });
    expect(status).toBe(500);
    expect(text).toContain("too large to process");
  });
});
