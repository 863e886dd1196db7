import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "@jest/globals";
import { ReplyUnreadable, ToolCallUnreadable } from "../../../src/worker/models/model.ts";
import type { Model } from "../../../src/worker/models/model.ts";
import { openOpenAiModel } from "../../../src/worker/models/openai-compatible.ts";
import type { Script } from "../../doubles/ollama/double-model.ts";
import { startOpenAiDouble } from "../../doubles/openai-server.ts";
import type { OpenAiDouble, OpenAiDoubleOptions } from "../../doubles/openai-server.ts";
import { complete, failureOf, requestOf, serveChat } from "../../support/model-hosts.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function start(options: Partial<OpenAiDoubleOptions> = {}): Promise<OpenAiDouble> {
  const double = await startOpenAiDouble({ models: [{ name: "m" }], ...options });
  open.push(double);
  return double;
}

const openModel = ({ url }: { readonly url: string }, numCtx = 8192, name = "m"): Promise<Model> =>
  openOpenAiModel(
    { name, baseUrl: url },
    { num_ctx: numCtx, temperature: 0, seed: 1 },
    new AbortController().signal,
  );

/** A model whose reply on the wire is this text. */
async function replying(text: string): Promise<Model> {
  const server = await serveChat("/v1/chat/completions", (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).end(text);
  });
  open.push(server);
  return openModel(server);
}

/** A sign costs one token. */
const signs = (tokens: number): string => "!".repeat(tokens);

const FLAVOURS = ["llama.cpp", "vllm", "lm-studio", "bare"] as const;

describe("a call by OpenAI's protocol", () => {
  test("asks for a stream with its usage", async () => {
    const double = await start();
    await complete(await openModel(double));
    expect(double.chats()[0]?.body).toEqual({
      model: "m",
      messages: requestOf().messages,
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 100,
      temperature: 0,
      seed: 1,
    });
  });

  test("sends a picture as a part beside the words", async () => {
    const double = await start();
    const messages = [
      { role: "user" as const, content: "What is it?", images: ["data:image/png;base64,iVBO"] },
    ];
    await complete(await openModel(double), { messages }).catch(() => undefined);
    expect(double.chats()[0]?.body).toMatchObject({
      messages: [
        {
          content: [
            { type: "text", text: "What is it?" },
            { type: "image_url", image_url: { url: "data:image/png;base64,iVBO" } },
          ],
        },
      ],
    });
  });

  test("asks for any object in the one shape that every server takes", async () => {
    const double = await start();
    await complete(await openModel(double), { format: "json" });
    expect(double.chats()[0]?.body).toMatchObject({
      response_format: { type: "json_schema", json_schema: { schema: { type: "object" } } },
    });
  });
});

describe("llama.cpp", () => {
  const failing = (status: number, error: string): Promise<OpenAiDouble> =>
    start({ models: [{ name: "m", respond: () => ({ text: "", failure: { status, error } }) }] });
  const PEG = "The model produced output that does not match the expected peg-native format";

  test("has a model by each of its names", async () => {
    const double = await start({ aliases: ["second", "third"] });
    expect((await openModel(double, 8192, "third")).name).toBe("third");
    const failure = await failureOf(openModel(double, 8192, "fourth"));
    expect(failure.code).toBe("MODEL_NOT_FOUND");
  });

  test("says how the weights are stored", async () => {
    const double = await start({ models: [{ name: "m", quantization: "Q8_0" }] });
    expect((await openModel(double)).facts.quantization).toBe("Q8_0");
  });

  test("has no room for prompts that fill the window of all slots together", async () => {
    const after = new Promise<never>(() => undefined);
    const scripts = [{ text: "x", after }, { text: "y" }];
    const models = [{ name: "m", respond: () => scripts.shift() ?? "none" }];
    const double = await start({ models, windowTokens: 512, pool: "shared", numParallel: 4 });
    const model = await openModel(double);
    const content = "word ".repeat(200);
    const controller = new AbortController();
    const first = complete(model, { content }, controller.signal).catch(() => "aborted");
    await double.until(() => double.chats()[0]?.state === "running");
    const failure = await failureOf(complete(model, { content: signs(400) }));
    expect(failure).toMatchObject({ code: "MODEL_OVERLOADED", host: double.url });
    controller.abort();
    await first;
    expect(await complete(model, { content: signs(400) })).toMatchObject({ kind: "reply" });
  });

  test("gives up on a reply that is not of the form of its schema, without its words", async () => {
    const words = `${PEG}: secret`;
    const whole = await openModel(await failing(500, words));
    const script: Script = { text: "a b", ending: "error_line", errorText: words };
    const models = [{ name: "m", respond: () => script }];
    const inTheMiddle = await openModel(await start({ models }));
    for (const model of [whole, inTheMiddle]) {
      const failure = await failureOf(complete(model, { format: "json" }));
      expect(failure).toBeInstanceOf(ReplyUnreadable);
      expect(failure).not.toBeInstanceOf(ToolCallUnreadable);
      expect(failure.code).toBe("MODEL_OUTPUT_INVALID");
      expect(`${failure.message} ${String(failure.cause)}`).not.toContain("secret");
    }
  });

  test.each(["unrecognized type nonsense", "cannot resolve $ref #/nowhere"])(
    "refuses a schema that it can't hold a reply to: %s",
    async (why) => {
      const words = `Unable to generate parser for this template. Automatic parser generation failed: JSON schema error at #: ${why}`;
      const model = await openModel(await failing(400, words));
      const outcome = await complete(model, { format: { type: "nonsense" } });
      expect(outcome).toMatchObject({ kind: "refused", code: "MODEL_UNSUPPORTED" });
      expect(outcome.kind === "refused" && outcome.message).toContain(why);
    },
  );

  test("has to call a tool where one is required, said in the one word that it heeds", async () => {
    const double = await start({ models: [{ name: "m", capabilities: ["completion", "tools"] }] });
    const model = await openModel(double);
    const tools = [{ name: "t", description: "d", parameters: {} }];
    await complete(model, { tools, toolChoice: "required" });
    await complete(model, { tools });
    expect(double.chats()[0]?.body).toMatchObject({ tool_choice: "required" });
    expect(double.chats()[1]?.body).not.toHaveProperty("tool_choice");
  });

  describe("that lets a call wait for a slot", () => {
    /** Two calls at one slot: the first is held until the gate opens, the second pauses until its own does. */
    async function queued(): Promise<{ double: OpenAiDouble; model: Model; open: (() => void)[] }> {
      const gates: (() => void)[] = [];
      const gate = (): Promise<void> => new Promise((resolve) => gates.push(resolve));
      const scripts = [
        { text: "first", after: gate() },
        { text: "a b c", pause: gate() },
      ];
      const models = [{ name: "m", respond: () => scripts.shift() ?? "none" }];
      const double = await start({ models, numParallel: 1 });
      return { double, model: await openModel(double), open: gates };
    }

    test("is busy when time is up there, and the model is not late", async () => {
      const { double, model, open: gates } = await queued();
      const first = complete(model);
      await double.until(() => double.chats()[0]?.state === "running");
      const failure = await failureOf(complete(model, { timeoutMs: 50 }));
      expect(failure).toMatchObject({ code: "MODEL_OVERLOADED", host: double.url });
      expect(failure.message).toContain("no free slot within 0.05 s");
      gates[0]?.();
      expect(await first).toMatchObject({ text: "first" });
    });

    test("gives it all of its time from then on", async () => {
      const { double, model, open: gates } = await queued();
      const first = complete(model);
      await double.until(() => double.chats()[0]?.state === "running");
      const second = complete(model, { timeoutMs: 5_000 });
      await sleep(3_000);
      gates[0]?.();
      await first;
      await sleep(3_000);
      gates[1]?.();
      expect(await second).toMatchObject({ text: "a b c" });
    });
  });
});

test("LM Studio, in the words of a full pool, says that a prompt does not fit", async () => {
  const error = "Context size has been exceeded.";
  const respond = () => ({ text: "", failure: { status: 400, error } });
  const double = await start({ flavour: "lm-studio", models: [{ name: "m", respond }] });
  expect(await complete(await openModel(double))).toMatchObject({ code: "CONTEXT_OVERFLOW" });
});

describe.each(FLAVOURS)("what %s says", (flavour) => {
  const EXPECTED = {
    "llama.cpp": {
      facts: { serverVersion: "llama.cpp b9652-6eab471", windowTokens: 2048 },
      tools: "native",
    },
    vllm: { facts: { serverVersion: "vLLM 0.11.0", windowTokens: 2048 }, tools: "schema" },
    "lm-studio": { facts: { quantization: "Q4_K_M", windowTokens: 2048 }, tools: "native" },
    bare: { facts: { serverVersion: null, windowTokens: 8192 }, tools: "text" },
  } as const;

  test("of the window, the version and tools", async () => {
    const models = [{ name: "m", capabilities: ["completion", "tools"] }];
    const double = await start({ flavour, windowTokens: 2048, models });
    const { facts, tools } = EXPECTED[flavour];
    expect((await openModel(double)).facts).toMatchObject({
      provider: "openai-compatible",
      digest: null,
      toolProtocol: tools,
      options: { temperature: 0, seed: 1 },
      ...facts,
    });
  });

  test("of an unknown model", async () => {
    const failure = await failureOf(openModel(await start({ flavour }), 8192, "x"));
    expect(failure.code).toBe("MODEL_NOT_FOUND");
  });

  test("of a model that is gone", async () => {
    const models = [{ name: "m" }];
    const model = await openModel(await start({ flavour, models }));
    models.pop();
    expect((await failureOf(complete(model))).code).toBe("MODEL_NOT_FOUND");
  });

  test("of a prompt that does not fit", async () => {
    const double = await start({ flavour, windowTokens: 512 });
    // A window of the configuration that is smaller than the host's lets the count beforehand through.
    const model = await openModel(double, 512);
    const content = "!".repeat(600);
    const outcome = await complete(model, { content });
    if (flavour === "bare") expect(outcome).toMatchObject({ kind: "reply", promptTokens: 512 });
    else expect(outcome).toMatchObject({ kind: "refused", code: "CONTEXT_OVERFLOW" });
  });

  test("of an error in the middle", async () => {
    const script: Script = { text: "a b c", ending: "error_line", errorText: "out of memory" };
    const models = [{ name: "m", respond: () => script }];
    const failure = await failureOf(complete(await openModel(await start({ flavour, models }))));
    expect(failure.code).toBe("MODEL_OVERLOADED");
    expect(failure.message).toContain("out of memory");
  });
});

describe("the guard against a silent cut", () => {
  test("counts by an upper bound, and asks nobody", async () => {
    const double = await start({ windowTokens: 512, counts: false });
    const model = await openModel(double);
    const outcome = await complete(model, { content: "word ".repeat(250) });
    expect(outcome).toMatchObject({ kind: "refused", code: "CONTEXT_OVERFLOW" });
    expect(outcome.kind === "refused" && outcome.message).toContain("has 512");
    expect(double.chats()).toEqual([]);
  });

  test("goes by the host's own count where the upper bound does not fit", async () => {
    const double = await start({ windowTokens: 512 });
    const model = await openModel(double);
    expect(model.counting).toBe("chat");
    // Counted beforehand at five characters a token, it could have been too long.
    const fits = await complete(model, { content: "word ".repeat(250) });
    expect(fits).toMatchObject({ kind: "reply" });
    const over = await complete(model, { content: "word ".repeat(900) });
    expect(over).toMatchObject({ kind: "refused", code: "CONTEXT_OVERFLOW" });
    expect(over.kind === "refused" && over.message).toMatch(/takes 9\d\d tokens.* has 512/);
    expect(double.chats()).toHaveLength(1);
  });

  test("asks for no count where the prompt fits anyway", async () => {
    const double = await start();
    const model = await openModel(double);
    await complete(model);
    const counted = double.requests.filter(({ path }) => path.endsWith("/input_tokens"));
    expect(counted).toHaveLength(1);
  });

  test("counts the tools as well", async () => {
    const double = await start({ windowTokens: 512, counts: false });
    const description = "word ".repeat(250);
    const tools = [{ name: "t", description, parameters: {} }];
    expect(await complete(await openModel(double), { tools })).toMatchObject({
      code: "CONTEXT_OVERFLOW",
    });
  });

  test.each([
    ["a plausible count", 1100, "reply"],
    ["a count that prose can't have", 600, "refused"],
    ["no count", undefined, "reply"],
  ])("takes %s of a host that does not say its window", async (_, promptEvalCount, kind) => {
    const metrics = promptEvalCount === undefined ? { prompt_tokens: null } : {};
    const script = { text: "ok", metrics, promptEvalCount: promptEvalCount ?? 0 };
    const models = [{ name: "m", respond: () => script }];
    const double = await start({ flavour: "bare", windowTokens: 4096, models });
    const content = "word ".repeat(1100);
    expect(await complete(await openModel(double), { content })).toMatchObject({ kind });
  });
});

describe("a model that LM Studio loads at the first call", () => {
  test.each([
    ["cut it", 1000, "refused"],
    ["hold it", 400, "reply"],
  ])("is asked then whether its window %s", async (_, words, kind) => {
    // What its policy of cutting in the middle leaves: a window that is full, and no word of it.
    const promptEvalCount = Math.min(1020, words * 1.5);
    const double = await start({
      flavour: "lm-studio",
      loadedBy: "first_call",
      windowTokens: 1024,
      models: [{ name: "m", respond: () => ({ text: "ok", promptEvalCount }) }],
    });
    const model = await openModel(double);
    expect(model.facts.windowTokens).toBe(8192);
    expect(await complete(model, { content: "word ".repeat(words) })).toMatchObject({ kind });
    expect((await openModel(double)).facts.windowTokens).toBe(1024);
  });
});

describe("a stream of events", () => {
  const delta = (content: string): string =>
    `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
  const finish = (reason: string): string =>
    `data: {"choices":[{"delta":{},"finish_reason":"${reason}"}]}\n\n`;

  test.each([
    ["comments and unknown fields", `: ping\n\nid: 7\nretry: 3\n${delta("a")}${finish("stop")}`],
    ["lines that end in CRLF", `${delta("a")}${finish("stop")}`.replaceAll("\n", "\r\n")],
    ["data without a blank", `${delta("a")}${finish("stop")}`.replaceAll("data: ", "data:")],
    [
      "an event over two lines",
      `data: {"choices":[{"delta":\ndata: {"content":"a"}}]}\n\n${finish("eos")}`,
    ],
    ["no [DONE], but a reason", `${delta("a")}${finish("stop")}`],
    ["no blank line at the end", `${delta("a")}${finish("stop").trimEnd()}`],
    [
      "null in place of content",
      `data: {"choices":[{"delta":{"content":null}}]}\n\n${delta("a")}${finish("stop")}data: [DONE]\n\n`,
    ],
    ["words after [DONE]", `${delta("a")}${finish("stop")}data: [DONE]\n\n${delta("b")}`],
  ])("with %s is read", async (_, text) => {
    expect(await complete(await replying(text))).toMatchObject({ text: "a", doneReason: "stop" });
  });

  test.each([
    ["[DONE] without a reason", `${delta("a")}data: [DONE]\n\n`],
    ["an end without either", delta("a")],
    ["an end in the middle of an event", `${delta("a")}${finish("stop").slice(0, -9)}`],
    ["a text that is no JSON", "data: hello\n\n"],
    ["a text that is no JSON before the end", `${delta("a")}data: hello\n\n${finish("stop")}`],
  ])("with %s broke off", async (_, text) => {
    const failure = await failureOf(complete(await replying(text)));
    expect(failure).toMatchObject({ code: "MODEL_UNREACHABLE", brokeOff: true });
  });

  test("with a reason that means no end is no reply", async () => {
    const failure = await failureOf(complete(await replying(`${delta("a")}${finish("abort")}`)));
    expect(failure.code).toBe("MODEL_OUTPUT_INVALID");
  });

  test("that is one JSON object, of a host that does not stream, is read", async () => {
    const call = { id: "1", type: "function", function: { name: "t", arguments: '{"a":1}' } };
    const message = { role: "assistant", content: "a", tool_calls: [call] };
    const whole = { choices: [{ index: 0, message, finish_reason: "stop" }] };
    expect(await complete(await replying(JSON.stringify(whole)))).toMatchObject({
      text: "a",
      toolCalls: [{ name: "t", args: { a: 1 } }],
      doneReason: "stop",
    });
  });

  test("that has an error in a field of that name, as older builds of llama.cpp write it, is that error", async () => {
    const error = JSON.stringify({ code: 500, message: "out of memory", type: "server_error" });
    const model = await replying(`${delta("a")}error: ${error}\n\n`);
    expect((await failureOf(complete(model))).message).toContain("out of memory");
  });

  test.each([
    [{ code: 401, message: "no" }, "MODEL_UNREACHABLE"],
    [{ code: "rate_limit_exceeded", message: "slow down" }, "MODEL_OVERLOADED"],
  ])("that has an error as an event keeps its status: %j", async (error, code) => {
    const model = await replying(`event: error\ndata: ${JSON.stringify({ error })}\n\n`);
    expect(await failureOf(complete(model))).toMatchObject({ code });
  });

  test("that is a JSON object with an error is that error", async () => {
    const model = await replying('{"error":"Unexpected endpoint or method. (POST /v1/chat)"}');
    expect((await failureOf(complete(model))).message).toContain("Unexpected endpoint");
  });

  test.each([
    ["arguments as an object", { function: { name: "t", arguments: { a: 1 } } }, { a: 1 }],
    ["arguments packed twice", { function: { name: "t", arguments: '"{\\"a\\":1}"' } }, { a: 1 }],
    ["no arguments", { id: "x", function: { name: "t" } }, {}],
    ["empty arguments", { index: 0, function: { name: "t", arguments: " " } }, {}],
    ["arguments that are a list", { index: 0, function: { name: "t", arguments: "[1]" } }, [1]],
  ])("has a tool call with %s", async (_, call, args) => {
    const chunk = JSON.stringify({ choices: [{ delta: { tool_calls: [call] } }] });
    const model = await replying(`data: ${chunk}\n\n${finish("tool_calls")}`);
    expect(await complete(model)).toMatchObject({ toolCalls: [{ name: "t", args }] });
  });

  test("has two tool calls that only their ids tell apart", async () => {
    const calls = ["x", "y"].map((id) => ({ id, function: { name: id, arguments: "{}" } }));
    const chunk = JSON.stringify({ choices: [{ delta: { tool_calls: calls } }] });
    const model = await replying(`data: ${chunk}\n\n${finish("tool_calls")}`);
    expect(await complete(model)).toMatchObject({ toolCalls: [{ name: "x" }, { name: "y" }] });
  });
});
