import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { afterEach, describe, expect, jest, test } from "@jest/globals";
import { Failure } from "../../../src/shared/failure.ts";
import type { Refusal } from "../../../src/shared/failure.ts";
import type { ModelReply, ModelRequest } from "../../../src/worker/model/model.ts";
import { ollamaModel } from "../../../src/worker/model/ollama.ts";
import { startOllamaDouble } from "../../doubles/ollama-server.ts";
import type { OllamaDouble, OllamaDoubleOptions } from "../../doubles/ollama-server.ts";
import type { Script } from "../../doubles/ollama/double-model.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function host(options: Partial<OllamaDoubleOptions> = {}): Promise<OllamaDouble> {
  const double = await startOllamaDouble({ models: [{ name: "m" }], ...options });
  open.push(double);
  return double;
}

const SETTINGS = { num_ctx: 512, temperature: 0, seed: 1, keep_alive: "5m" };

function complete(
  baseUrl: string,
  {
    content = "Hi",
    name = "m",
    signal,
    ...more
  }: Partial<ModelRequest> & {
    content?: string;
    name?: string;
    signal?: AbortSignal;
  } = {},
): Promise<ModelReply | Refusal> {
  const messages = [
    { role: "system", content: "Be short." },
    { role: "user", content },
  ] as const;
  const request = {
    messages,
    task: { purpose: "chat" },
    maxTokens: 100,
    timeoutMs: 5000,
    ...more,
  } as const;
  return ollamaModel(name, baseUrl, SETTINGS).complete(
    request,
    signal ?? new AbortController().signal,
  );
}

const replying = (respond: () => string | Script): Partial<OllamaDoubleOptions> => ({
  models: [{ name: "m", respond }],
});

/** The failure that a promise rejects with. */
async function failureOf(run: Promise<unknown>): Promise<Failure> {
  const error = await run.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof Failure) return error;
  throw new Error(`expected a Failure, got ${String(error)}`);
}

describe("a call", () => {
  test("sends one fixed set of options and forbids the silent cut", async () => {
    const double = await host(replying(() => "Hello <b> & bye."));
    const reply = await complete(double.url);
    expect(reply).toMatchObject({ kind: "reply", text: "Hello <b> & bye.", doneReason: "stop" });
    expect(double.requests[0]?.body).toEqual({
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

  test("carries a format and another temperature", async () => {
    const double = await host(replying(() => "{}"));
    await complete(double.url, { format: { type: "object" }, temperature: 0.5 });
    expect(double.requests[0]?.body).toMatchObject({
      format: { type: "object" },
      options: { temperature: 0.5 },
    });
  });

  test("leaves thinking out, in its own field and in the text", async () => {
    const script = { text: "<think>hm hm</think>\nHello.", thinking: "secret" };
    const double = await host(replying(() => script));
    expect(await complete(double.url)).toMatchObject({ text: "Hello." });
  });

  test("tells a reply that was cut off", async () => {
    const double = await host(replying(() => "word ".repeat(300)));
    expect(await complete(double.url)).toMatchObject({
      doneReason: "length",
      completionTokens: 100,
    });
  });

  test("counts tokens as the host does", async () => {
    const double = await host(replying(() => "one two"));
    const reply = await complete(double.url);
    expect(reply).toMatchObject({
      promptTokens: double.requests[0]?.promptTokens,
      completionTokens: 2,
    });
  });
});

describe("a prompt that does not fit", () => {
  const content = "word ".repeat(1000);

  test.each(["plain", "json"] as const)(
    "is refused by a new host (%s text)",
    async (overflowText) => {
      const double = await host({ models: [{ name: "m", overflowText }] });
      expect(await complete(double.url, { content })).toMatchObject({
        kind: "refused",
        code: "CONTEXT_OVERFLOW",
      });
      expect(double.requests[0]?.status).toBe(400);
    },
  );

  test("is found out when an old host cuts it silently", async () => {
    const double = await host({ version: "old" });
    expect(await complete(double.url, { content })).toMatchObject({ code: "CONTEXT_OVERFLOW" });
    expect(double.requests[0]).toMatchObject({ status: 200, promptTokens: 512 });
  });

  test.each([
    ["half the window", 256],
    ["next to nothing", 20],
    ["no count at all", 0],
  ])("is found out when the host reports %s", async (_, promptEvalCount) => {
    const models = [{ name: "m", respond: () => ({ text: "ok", promptEvalCount }) }];
    const double = await host({ version: "old", models });
    expect(await complete(double.url, { content })).toMatchObject({ code: "CONTEXT_OVERFLOW" });
  });

  test("is told from one that fits well", async () => {
    const double = await host({ version: "old" });
    expect(await complete(double.url, { content: "word ".repeat(300) })).toMatchObject({
      kind: "reply",
    });
  });
});

describe("faults of the host", () => {
  test("an unknown model says how to get it", async () => {
    const double = await host();
    const failure = await failureOf(complete(double.url, { name: "absent" }));
    expect(failure.code).toBe("MODEL_NOT_FOUND");
    expect(failure.message).toContain("ollama pull absent");
  });

  test("nobody there", async () => {
    const double = await host();
    await double.close();
    open.length = 0;
    const failure = await failureOf(complete(double.url));
    expect(failure.code).toBe("MODEL_UNREACHABLE");
    expect(failure.message).toContain(double.url);
  });

  test("a full queue", async () => {
    const double = await host({ loadMs: 1000, maxQueue: 1 });
    const first = complete(double.url);
    await double.until(([request]) => request?.state === "loading");
    expect((await failureOf(complete(double.url))).code).toBe("MODEL_OVERLOADED");
    double.clock.advance(1000);
    await expect(first).resolves.toMatchObject({ kind: "reply", loadMs: 1000 });
  });

  test.each<[string, Script, string]>([
    [
      "a stream without a last line",
      { text: "a b", ending: "no_final_line" },
      "MODEL_OUTPUT_INVALID",
    ],
    ["a broken line", { text: "a b", ending: "broken_line" }, "MODEL_OUTPUT_INVALID"],
    ["an error in the middle", { text: "a b c", ending: "error_line" }, "INTERNAL_ERROR"],
    ["a socket that dies", { text: "a b c", ending: "socket_dies" }, "MODEL_UNREACHABLE"],
    [
      "a crashed runner",
      { text: "", failure: { status: 500, error: "model runner has unexpectedly stopped" } },
      "INTERNAL_ERROR",
    ],
    [
      "a proxy's error",
      { text: "", failure: { status: 502, error: "bad gateway" } },
      "MODEL_UNREACHABLE",
    ],
    [
      "too many requests",
      { text: "", failure: { status: 429, error: "slow down" } },
      "MODEL_OVERLOADED",
    ],
  ])("%s", async (_, script, code) => {
    const double = await host(replying(() => script));
    expect((await failureOf(complete(double.url))).code).toBe(code);
  });

  test("a model that can't chat is a refusal", async () => {
    const double = await host({ models: [{ name: "m", capabilities: ["embedding"] }] });
    expect(await complete(double.url)).toMatchObject({
      kind: "refused",
      code: "MODEL_UNSUPPORTED",
    });
  });

  test("a model that takes too long", async () => {
    const double = await host(
      replying(() => ({ text: "late", after: new Promise(() => undefined) })),
    );
    const failure = await failureOf(complete(double.url, { timeoutMs: 50 }));
    expect(failure.code).toBe("MODEL_TIMEOUT");
    await double.until(([request]) => request?.state === "aborted");
  });

  test("an abort throws the signal's reason and frees the slot", async () => {
    const waiting: Script = { text: "x", after: new Promise(() => undefined) };
    const scripts = [waiting, { text: "second" }];
    const double = await host(replying(() => scripts.shift() ?? "none"));
    const controller = new AbortController();
    const first = complete(double.url, { signal: controller.signal });
    await double.until(([request]) => request?.state === "running");
    const second = complete(double.url);
    await double.until((requests) => requests.length === 2);
    const reason = new Error("cancelled");
    controller.abort(reason);
    await expect(first).rejects.toBe(reason);
    await expect(second).resolves.toMatchObject({ text: "second" });
  });
});

describe("a host that is no Ollama", () => {
  async function serve(answer: (response: ServerResponse) => void): Promise<string> {
    const server = createServer((request, response) => {
      request.resume().on("end", () => {
        answer(response);
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    open.push({
      close: async () => {
        server.closeAllConnections();
        server.close();
      },
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  test("a page instead of JSON is told in one line, and nothing is printed", async () => {
    const log = jest.spyOn(console, "log");
    const url = await serve((response) => {
      response.writeHead(404, { "content-type": "text/html" }).end("<h1>404 page not found</h1>");
    });
    expect((await failureOf(complete(url))).code).toBe("MODEL_UNREACHABLE");
    expect(log).not.toHaveBeenCalled();
    log.mockRestore();
  });

  test("a page with status 200 is no reply", async () => {
    const url = await serve((response) => {
      response.writeHead(200).end("<h1>Welcome</h1>");
    });
    expect((await failureOf(complete(url))).code).toBe("MODEL_OUTPUT_INVALID");
  });

  test("a reply without end is cut at its limit", async () => {
    const url = await serve((response) => {
      const line = `${JSON.stringify({ message: { content: "x".repeat(60_000) }, done: false })}\n`;
      const more = (): void => {
        while (!response.destroyed && response.write(line));
        if (!response.destroyed) response.once("drain", more);
      };
      response.writeHead(200);
      more();
    });
    const failure = await failureOf(complete(url));
    expect(failure.code).toBe("MODEL_OUTPUT_INVALID");
    expect(failure.message).toContain("8388608");
  });

  test("a line without a message is no reply", async () => {
    const url = await serve((response) => {
      response.writeHead(200).end('{"done":true}\n');
    });
    expect((await failureOf(complete(url))).code).toBe("MODEL_OUTPUT_INVALID");
  });
});
