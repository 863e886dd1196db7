import { afterEach, describe, expect, test } from "@jest/globals";
import type { Model } from "../../../src/worker/models/model.ts";
import { openOllamaModel } from "../../../src/worker/models/ollama.ts";
import { startOllamaDouble } from "../../doubles/ollama-server.ts";
import type { OllamaDouble, OllamaDoubleOptions } from "../../doubles/ollama-server.ts";
import type { DoubleModel, Script } from "../../doubles/ollama/double-model.ts";
import { complete, failureOf, serveChat } from "../../support/model-hosts.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function start(options: Partial<OllamaDoubleOptions> = {}): Promise<OllamaDouble> {
  const double = await startOllamaDouble({ models: [{ name: "m" }], ...options });
  open.push(double);
  return double;
}

const SETTINGS = { num_ctx: 512, temperature: 0, seed: 1, keep_alive: "5m" };
const openModel = ({ url }: { readonly url: string }, name = "m"): Promise<Model> =>
  openOllamaModel({ name, baseUrl: url }, SETTINGS, new AbortController().signal);
const withModel = (model: Partial<DoubleModel>): Partial<OllamaDoubleOptions> => ({
  models: [{ name: "m", ...model }],
});

test("a reply with more calls than a stack holds is refused for their number", async () => {
  const calls = Array.from({ length: 30_000 }, () => '{"function":{"name":"t"}}').join(",");
  const server = await serveChat("/api/chat", (response) => {
    response.end(`{"message":{"content":"","tool_calls":[${calls}]},"done":true}\n`);
  });
  open.push(server);
  const failure = await failureOf(complete(await openModel(server)));
  expect(failure.code).toBe("MODEL_OUTPUT_INVALID");
});

describe("a call of Ollama", () => {
  test("sends one fixed set of options and forbids the silent cut", async () => {
    const double = await start();
    await complete(await openModel(double));
    expect(double.chats()[0]?.body).toEqual({
      model: "m",
      messages: [
        { role: "system", content: "Be short." },
        { role: "user", content: "Hi" },
      ],
      stream: true,
      think: false,
      truncate: false,
      shift: false,
      keep_alive: "5m",
      options: { num_ctx: 512, num_predict: 100, temperature: 0, seed: 1 },
    });
  });

  test("sends a picture beside the words, as base64 alone", async () => {
    const double = await start();
    const messages = [
      { role: "user" as const, content: "What is it?", images: ["data:image/png;base64,iVBO"] },
    ];
    await complete(await openModel(double), { messages }).catch(() => undefined);
    expect(double.chats()[0]?.body).toMatchObject({
      messages: [{ role: "user", content: "What is it?", images: ["iVBO"] }],
    });
  });

  test("never reloads the model, and asks for no more window than it was trained for", async () => {
    const double = await start(withModel({ contextLength: 300 }));
    for (const maxTokens of [50, 100, 5000]) {
      await complete(await openModel(double), { maxTokens });
    }
    expect(double.loads).toEqual([{ name: "m:latest", numCtx: 300 }]);
    expect(double.chats().map(({ body }) => body["options"] as object)).toMatchObject([
      { num_ctx: 300, num_predict: 50 },
      { num_ctx: 300, num_predict: 100 },
      { num_ctx: 300, num_predict: 150 },
    ]);
  });

  test.each([
    ["gptoss", ["completion", "tools", "thinking"], "low"],
    ["qwen3", ["completion", "thinking"], false],
    ["llama", ["completion"], false],
  ])("tells %s how much to think", async (family, capabilities, think) => {
    const double = await start(withModel({ family, capabilities }));
    const model = await openModel(double);
    await complete(model);
    expect(double.chats()[0]?.body).toMatchObject({ think });
    expect(model.facts.options).toMatchObject({ think });
  });

  test("tells the limit of the reply where both were reached", async () => {
    const metrics = { done_reason: "length", prompt_eval_count: 412, eval_count: 100 };
    const double = await start(withModel({ respond: () => ({ text: "a b", metrics }) }));
    expect(await complete(await openModel(double))).toMatchObject({ doneReason: "length" });
  });

  test("tells a used-up window by the reply where the host leaves cached tokens out", async () => {
    const metrics = { done_reason: "length", prompt_eval_count: 3, eval_count: 40 };
    const double = await start(withModel({ respond: () => ({ text: "a b", metrics }) }));
    expect(await complete(await openModel(double))).toMatchObject({ doneReason: "window" });
  });
});

describe("the facts of Ollama", () => {
  const digest = "ab".repeat(32);

  test("are digest, quantisation, version, window and options", async () => {
    const double = await start(withModel({ digest, quantization: "Q8_0", contextLength: 8192 }));
    expect((await openModel(double)).facts).toEqual({
      provider: "ollama",
      isFree: false,
      readsPrompts: true,
      digest,
      quantization: "Q8_0",
      serverVersion: "0.32.15",
      windowTokens: 512,
      toolProtocol: "schema",
      ignoresSchemas: false,
      options: { temperature: 0, seed: 1, num_ctx: 512, think: false },
    });
    expect(double.loads).toEqual([]);
  });

  test.each([
    ["0.6.3", "schema"],
    ["0.5.0", "schema"],
    ["1.0.0-rc1", "schema"],
    ["0.4.9", "text"],
    ["0.0.0", "text"],
    ["a build of mine", "text"],
  ])("of a server %s without capabilities: %s", async (serverVersion, toolProtocol) => {
    const double = await start({ ...withModel({ capabilities: null }), serverVersion });
    const model = await openModel(double);
    expect(model.facts).toMatchObject({ serverVersion, toolProtocol });
    expect(await complete(model)).toMatchObject({ text: "ok" });
  });

  test.each([
    ["/api/show", { digest, quantization: null, windowTokens: 512 }],
    ["/api/tags", { digest: null, quantization: "Q4_K_M", windowTokens: 300 }],
    ["/api/version", { digest, serverVersion: null, toolProtocol: "text" }],
  ])("are null where %s is missing", async (path, facts) => {
    const double = await start({ ...withModel({ digest, contextLength: 300 }), without: [path] });
    const model = await openModel(double);
    expect(model.facts).toMatchObject(facts);
    expect(await complete(model)).toMatchObject({ text: "ok" });
  });

  test.each(["m", "M", "m:latest", "registry.ollama.ai/library/m", "library/M:latest"])(
    "are found for %s",
    async (name) => {
      const server = await serveChat("/api/chat", () => undefined);
      open.push(server);
      const model = await openModel(server, name);
      expect(model).toMatchObject({ name, facts: { digest } });
    },
  );

  test("are not had of a model that only the list could show, and does not", async () => {
    const double = await start({ without: ["/api/show"] });
    expect((await failureOf(openModel(double, "other"))).code).toBe("MODEL_NOT_FOUND");
  });

  test("are not had of a server that is no Ollama", async () => {
    const double = await start({ without: ["/api/show", "/api/tags", "/api/version"] });
    expect((await failureOf(openModel(double))).code).toBe("MODEL_UNREACHABLE");
  });
});

describe("a prompt over the window of Ollama", () => {
  const content = "word ".repeat(1000);

  test.each(["plain", "json"] as const)("is refused in %s text", async (overflowText) => {
    const double = await start(withModel({ overflowText }));
    expect(await complete(await openModel(double), { content })).toMatchObject({
      kind: "refused",
      code: "CONTEXT_OVERFLOW",
    });
    expect(double.chats()[0]?.status).toBe(400);
  });

  test.each([
    ["half the window", 256],
    ["next to nothing", 20],
    ["no count at all", 0],
  ])("is found out when an old host reports %s", async (_, promptEvalCount) => {
    const models = [{ name: "m", respond: () => ({ text: "ok", promptEvalCount }) }];
    const double = await start({ version: "old", models });
    expect(await complete(await openModel(double), { content })).toMatchObject({
      code: "CONTEXT_OVERFLOW",
    });
  });

  test("is told from one that fits an old host well", async () => {
    const double = await start({ version: "old" });
    const fitting = { content: "word ".repeat(300) };
    expect(await complete(await openModel(double), fitting)).toMatchObject({ kind: "reply" });
  });
});

describe("faults of Ollama", () => {
  test("a full queue", async () => {
    const double = await start({ loadMs: 1000, maxQueue: 1 });
    const model = await openModel(double);
    const first = complete(model);
    await double.until(() => double.chats()[0]?.state === "loading");
    const failure = await failureOf(complete(model));
    expect(failure.code).toBe("MODEL_OVERLOADED");
    expect(failure.message).toContain("maximum pending requests exceeded");
    double.clock.advance(1000);
    await expect(first).resolves.toMatchObject({ kind: "reply", loadMs: 1000 });
  });

  test("an abort stops a load", async () => {
    const double = await start({ loadMs: 1000 });
    const controller = new AbortController();
    const run = complete(await openModel(double), {}, controller.signal);
    await double.until(() => double.chats()[0]?.state === "loading");
    controller.abort(new Error("cancelled"));
    await expect(run).rejects.toThrow("cancelled");
    await double.until(() => double.chats()[0]?.state === "aborted");
    expect(double.loads).toEqual([]);
  });

  test("an abort while the host is asked about the model", async () => {
    const double = await start();
    const signal = AbortSignal.abort(new Error("cancelled"));
    const opening = openOllamaModel({ name: "m", baseUrl: double.url }, SETTINGS, signal);
    await expect(opening).rejects.toThrow("cancelled");
  });

  test("a crash in the middle of a model's words", async () => {
    const script: Script = { text: "a b c", ending: "error_line" };
    const double = await start(withModel({ respond: () => script }));
    const failure = await failureOf(complete(await openModel(double)));
    expect(failure.message).toContain("an error was encountered while running the model");
  });

  test("a model that was only loaded, which is asked again", async () => {
    const metrics = { done_reason: "load", prompt_eval_count: 0, eval_count: 0 };
    const double = await start(withModel({ respond: () => ({ text: "", metrics }) }));
    const content = "word ".repeat(300);
    const failure = await failureOf(complete(await openModel(double), { content }));
    expect(failure).toMatchObject({ code: "MODEL_OVERLOADED", host: double.url });
  });

  test("v0.11's unreadable tool call, whose words stand where the key belongs", async () => {
    const server = await serveChat("/api/chat", (response) => {
      response.writeHead(200).end('{"error parsing tool call":"invalid character"}\n');
    });
    open.push(server);
    const failure = await failureOf(complete(await openModel(server)));
    expect(failure).toMatchObject({ code: "MODEL_OUTPUT_INVALID" });
    expect(failure.message).toContain("could not read the tool call");
  });
});
