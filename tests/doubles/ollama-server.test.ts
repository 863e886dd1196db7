import { afterEach, describe, expect, test } from "@jest/globals";
import { startOllamaDouble } from "./ollama-server.ts";
import type { OllamaDouble, OllamaDoubleOptions } from "./ollama-server.ts";

const open: OllamaDouble[] = [];
afterEach(async () => {
  for (const double of open.splice(0)) await double.close();
});

async function start(options: Partial<OllamaDoubleOptions> = {}): Promise<OllamaDouble> {
  const models = [{ name: "m", contextLength: 1000, respond: () => "one two <three>" }];
  const double = await startOllamaDouble({ models, ...options });
  open.push(double);
  return double;
}

const post = (
  double: OllamaDouble,
  path: string,
  body: unknown,
  signal?: AbortSignal,
): Promise<Response> =>
  fetch(`${double.url}${path}`, {
    method: "POST",
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });

const messages = [{ role: "user", content: "Hi there" }];
const chat = (double: OllamaDouble, more: object = {}, signal?: AbortSignal): Promise<Response> =>
  post(double, "/api/chat", { model: "m", messages, stream: false, ...more }, signal);
const errorOf = async (response: Response): Promise<[number, unknown]> => [
  response.status,
  ((await response.json()) as { error: unknown }).error,
];

describe("replies", () => {
  test("stream by default: content lines, then one that is done and has the metrics", async () => {
    const double = await start();
    const response = await post(double, "/api/chat", { model: "m", messages });
    const text = await response.text();
    const lines = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    expect(lines.map(({ done }) => done)).toEqual([false, false, false, true]);
    expect(lines[0]).not.toHaveProperty("eval_count");
    expect(lines.at(-1)).toMatchObject({ done_reason: "stop", prompt_eval_count: 7, model: "m" });
    expect(text).toContain("\\u003cthree\\u003e");
  });

  test("come whole when not streamed, without the metrics that are zero", async () => {
    const body = (await (await chat(await start())).json()) as object;
    expect(body).toMatchObject({
      message: { role: "assistant", content: "one two <three>" },
      done: true,
    });
    expect(body).not.toHaveProperty("load_duration");
  });

  test("stop at num_predict with the reason length", async () => {
    const body = await (await chat(await start(), { options: { num_predict: 1 } })).json();
    expect(body).toMatchObject({
      done_reason: "length",
      eval_count: 1,
      message: { content: "one " },
    });
  });

  test("to no messages load or unload the model", async () => {
    const double = await start();
    expect(await (await chat(double, { messages: [] })).json()).toMatchObject({
      done_reason: "load",
    });
    const loaded = await (await fetch(`${double.url}/api/ps`)).json();
    expect(loaded).toMatchObject({ models: [{ name: "m:latest", context_length: 1000 }] });
    const unloaded = await (await chat(double, { messages: [], keep_alive: 0 })).json();
    expect(unloaded).toMatchObject({ done_reason: "unload" });
    expect(await (await fetch(`${double.url}/api/ps`)).json()).toEqual({ models: [] });
  });

  test("of generate carry the text as response", async () => {
    const double = await start();
    const body = { model: "m", prompt: "Hi", stream: false };
    expect(await (await post(double, "/api/generate", body)).json()).toMatchObject({
      response: "one two <three>",
    });
  });
});

describe("error texts", () => {
  test.each<[string, object | string, number, string]>([
    ["an empty body", "", 400, "missing request body"],
    ["a cut body", "{", 400, "unexpected EOF"],
    ["no JSON", "x", 400, "invalid character 'x' looking for beginning of value"],
    ["no model", { messages }, 400, "model is required"],
    ["an unknown model", { model: "x", messages }, 404, "model 'x' not found"],
    [
      "content in parts",
      { model: "m", messages: [{ role: "user", content: [] }] },
      400,
      "json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string",
    ],
    [
      "messages that are text",
      { model: "m", messages: "x" },
      400,
      "json: cannot unmarshal string into Go struct field ChatRequest.messages of type []api.Message",
    ],
    ["thinking", { model: "m", messages, think: true }, 400, '"m" does not support thinking'],
    [
      "tools",
      { model: "m", messages, tools: [{}] },
      400,
      "registry.ollama.ai/library/m:latest does not support tools",
    ],
    [
      "a format",
      { model: "m", messages, format: "xml" },
      500,
      'invalid format: "xml"; expected "json" or a valid JSON Schema object',
    ],
    [
      "an option's type",
      { model: "m", messages, options: { num_ctx: "9" } },
      500,
      'option "num_ctx" must be of type integer',
    ],
    [
      "a duration",
      { model: "m", messages, keep_alive: "300" },
      400,
      'time: missing unit in duration "300"',
    ],
  ])("%s", async (...[, body, status, text]) => {
    expect(await errorOf(await post(await start(), "/api/chat", body))).toEqual([status, text]);
  });

  test("an unknown path and a wrong method are plain text", async () => {
    const double = await start();
    const unknown = await fetch(`${double.url}/api/nothing`);
    const wrong = await fetch(`${double.url}/api/chat`);
    expect([unknown.status, await unknown.text()]).toEqual([404, "404 page not found"]);
    expect([wrong.status, await wrong.text()]).toEqual([405, "405 method not allowed"]);
    expect(wrong.headers.get("content-type")).toBe("text/plain");
  });

  test("names match without case and tag, and the reply echoes the name as sent", async () => {
    const double = await start();
    expect(await (await chat(double, { model: "M:latest" })).json()).toMatchObject({
      model: "M:latest",
    });
  });
});

describe("a prompt over the window", () => {
  const long = "word ".repeat(300);
  const numCtx = { options: { num_ctx: 100 } };
  const talk = [
    { role: "system", content: "rule" },
    { role: "user", content: long },
    { role: "user", content: "last one" },
  ];

  test("loses whole messages from the front, but not the system and the last", async () => {
    const seen: string[][] = [];
    const respond = (shown: readonly { content: string }[]): string => {
      seen.push(shown.map(({ content }) => content));
      return "ok";
    };
    const double = await start({ models: [{ name: "m", respond }] });
    await chat(double, { messages: talk, ...numCtx });
    expect(seen).toEqual([["rule", "last one"]]);
  });

  test.each([
    ["new", 52],
    ["old", 100],
  ] as const)("is cut silently by a %s host to %i tokens", async (version, tokens) => {
    const double = await start({ version });
    const response = await chat(double, { messages: [{ role: "user", content: long }], ...numCtx });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      prompt_eval_count: tokens,
      done_reason: expect.any(String),
    });
  });

  test("is a 400 for truncate false, with JSON in the text", async () => {
    const double = await start();
    const [status, error] = await errorOf(
      await chat(double, { messages: talk, truncate: false, ...numCtx }),
    );
    expect(status).toBe(400);
    expect(JSON.parse(String(error))).toMatchObject({ error: { code: 400 } });
  });

  test("is a 400 for shift false when one message alone is too long", async () => {
    const request = { messages: [{ role: "user", content: long }], shift: false, ...numCtx };
    const [status, error] = await errorOf(await chat(await start(), request));
    expect([status, String(error).split(";")[0]]).toEqual([
      400,
      "the prompt is longer than the context length currently available to the model",
    ]);
  });

  test("an old host knows neither", async () => {
    const double = await start({ version: "old" });
    const response = await chat(double, {
      messages: talk,
      truncate: false,
      shift: false,
      ...numCtx,
    });
    expect(response.status).toBe(200);
  });

  test("the window is never larger than the trained length", async () => {
    const double = await start({ version: "old" });
    const message = { role: "user", content: "word ".repeat(2000) };
    const response = await chat(double, { messages: [message], options: { num_ctx: 9000 } });
    expect(await response.json()).toMatchObject({ prompt_eval_count: 1000 });
  });
});

describe("scheduling", () => {
  test("a load takes its time, and its wait shows in load_duration", async () => {
    const double = await start({ loadMs: 3000 });
    const reply = chat(double);
    await double.until(([request]) => request?.state === "loading");
    double.clock.advance(3000);
    expect(await (await reply).json()).toMatchObject({ load_duration: 3e9 });
  });

  test("the queue bounds only those that wait for a load, with two spaces in the text", async () => {
    const never = new Promise(() => undefined);
    const models = [{ name: "m", respond: () => ({ text: "x", after: never }) }, { name: "n" }];
    const double = await start({ models, maxQueue: 1, loadMs: 1000 });
    void chat(double).catch(() => undefined);
    await double.until(([request]) => request?.state === "loading");
    const busy = "server busy, please try again.  maximum pending requests exceeded";
    expect(await errorOf(await chat(double, { model: "n" }))).toEqual([503, busy]);
    double.clock.advance(1000);
    await double.until(([request]) => request?.state === "running");
    void chat(double).catch(() => undefined);
    void chat(double).catch(() => undefined);
    await double.until((requests) => requests.length === 4);
    expect(double.requests.slice(2).map(({ state }) => state)).toEqual(["waiting", "waiting"]);
  });

  test("another num_ctx reloads the model", async () => {
    const double = await start({ loadMs: 1000 });
    for (const [index, size] of [100, 100, 200].entries()) {
      const reply = chat(double, { options: { num_ctx: size } });
      if (index !== 1) {
        await double.until((requests) => requests[index]?.state === "loading");
        double.clock.advance(1000);
      }
      await (await reply).json();
    }
    expect(double.clock.now()).toBe(2000);
  });

  test("a model goes away when its keep_alive is over", async () => {
    const double = await start();
    await (await chat(double, { keep_alive: "10s" })).json();
    const loaded = async (): Promise<number> =>
      ((await (await fetch(`${double.url}/api/ps`)).json()) as { models: unknown[] }).models.length;
    double.clock.advance(9_999);
    expect(await loaded()).toBe(1);
    double.clock.advance(1);
    expect(await loaded()).toBe(0);
  });

  test("an abort frees the slot, skips a queued request and stops a load", async () => {
    const double = await start({ loadMs: 1000 });
    const controller = new AbortController();
    const loading = chat(double, {}, controller.signal).catch(() => "aborted");
    await double.until(([request]) => request?.state === "loading");
    controller.abort();
    expect(await loading).toBe("aborted");
    await double.until(([request]) => request?.state === "aborted");
    const next = chat(double);
    await double.until((requests) => requests[1]?.state === "loading");
    double.clock.advance(1000);
    expect(await (await next).json()).toMatchObject({ done: true });
  });
});

describe("other routes", () => {
  test("tags, show, version and root", async () => {
    const double = await start({
      models: [
        { name: "m", digest: "ab", contextLength: 77, capabilities: ["completion", "tools"] },
      ],
    });
    const tags = await (await fetch(`${double.url}/api/tags`)).json();
    expect(tags).toMatchObject({ models: [{ name: "m:latest", digest: "ab" }] });
    const show = await (await post(double, "/api/show", { model: "m" })).json();
    expect(show).toMatchObject({
      capabilities: ["completion", "tools"],
      model_info: { "general.architecture": "double", "double.context_length": 77 },
    });
    expect(await errorOf(await post(double, "/api/show", { model: "x" }))).toEqual([
      404,
      "model 'x:latest' not found",
    ]);
    expect(await (await fetch(`${double.url}/api/version`)).json()).toEqual({ version: "0.32.15" });
    expect(await (await fetch(double.url)).text()).toBe("Ollama is running");
  });

  test("embed gives unit vectors in order, and refuses for the whole batch", async () => {
    const double = await start({
      models: [{ name: "e", capabilities: ["embedding"], contextLength: 4 }],
    });
    const reply = (await (
      await post(double, "/api/embed", { model: "e", input: ["a", "b"] })
    ).json()) as {
      embeddings: number[][];
    };
    expect(reply.embeddings).toHaveLength(2);
    for (const vector of reply.embeddings) expect(Math.hypot(...vector)).toBeCloseTo(1, 6);
    const long = { model: "e", input: ["a", "b c d e f g"], truncate: false };
    expect(await errorOf(await post(double, "/api/embed", long))).toEqual([
      400,
      "the input length exceeds the context length",
    ]);
    expect(await errorOf(await post(double, "/api/embed", { model: "x" }))).toEqual([
      404,
      'model "x" not found, try pulling it first',
    ]);
  });
});
