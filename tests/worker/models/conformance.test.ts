import { afterEach, describe, expect, jest, test } from "@jest/globals";
import { ToolCallUnreadable } from "../../../src/worker/models/model.ts";
import type { Model } from "../../../src/worker/models/model.ts";
import type { DoubleModel, Script } from "../../doubles/ollama/double-model.ts";
import {
  ABOUT,
  complete,
  failureOf,
  HOSTS,
  requestOf,
  SECRET,
  serveChat,
  serveEverything,
  WINDOW_TOKENS,
} from "../../support/model-hosts.ts";
import type { ModelHost, Started } from "../../support/model-hosts.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

type World = { readonly double: Started; readonly model: Model };

/** A model that replies as the script says, on a host that has no other. */
async function world(
  host: ModelHost,
  script: string | Script | (() => string | Script) = "ok",
  more: Partial<DoubleModel> = {},
): Promise<World> {
  const respond = typeof script === "function" ? script : () => script;
  const double = await host.start({ models: [{ name: "m", respond, ...more }] });
  open.push(double);
  return { double, model: await host.open(double.url) };
}

const NEVER = new Promise<never>(() => undefined);
const TOOL = {
  name: "read_text_file",
  description: "Reads a file.",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};
/** A sign costs one token, and so few characters that any count beforehand takes it for less. */
const signs = (tokens: number): string => "!".repeat(tokens);

describe.each(HOSTS)("a reply of $provider", (host) => {
  test("is the text, counted as the host counts", async () => {
    const { double, model } = await world(host, "Hello <b> & bye.");
    expect(await complete(model)).toEqual({
      kind: "reply",
      text: "Hello <b> & bye.",
      toolCalls: [],
      promptTokens: double.chats()[0]?.promptTokens,
      completionTokens: 8,
      loadMs: 0,
      doneReason: "stop",
    });
  });

  test("says that maxTokens cut it", async () => {
    const { model } = await world(host, "word ".repeat(300));
    expect(await complete(model)).toMatchObject({ doneReason: "length", completionTokens: 100 });
  });

  test("says that the window cut it", async () => {
    const { model } = await world(host, "word ".repeat(300));
    const reply = await complete(model, { content: signs(450) });
    expect(reply).toMatchObject({ doneReason: "window" });
    expect(reply).not.toMatchObject({ completionTokens: 100 });
  });

  test("is whole when characters are split over chunks", async () => {
    const text = "Zug 🚋 äöü ✓ 漢字.";
    const { model } = await world(host, { text, write: "bytes" });
    expect(await complete(model)).toMatchObject({ text });
  });

  test("has its reasoning apart, of a field of its own and of the text", async () => {
    const { model } = await world(host, {
      text: "<think>hm hm</think>\nHello.",
      thinking: "secret",
    });
    expect(await complete(model)).toMatchObject({
      text: "Hello.",
      reasoning: { text: "secret\n\nhm hm", chars: 13 },
    });
  });

  test.each([
    ["huge", 1e300],
    ["negative", -5],
    ["no number", "7"],
    ["a fraction", 1.5],
  ])("takes a count that is %s for none", async (_, count) => {
    const metrics = {
      prompt_eval_count: count,
      eval_count: count,
      load_duration: count,
      prompt_tokens: count,
      completion_tokens: count,
    };
    const { model } = await world(host, { text: "Hello.", metrics });
    const reply = await complete(model);
    expect(reply).toMatchObject({ kind: "reply", promptTokens: 0, completionTokens: 0 });
    expect(reply.kind === "reply" && reply.loadMs).toBeLessThan(1);
  });

  test("may be long in coming, before the first byte and in the middle", async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { double, model } = await world(host, { text: "one two three", pause: gate });
    const reply = complete(model);
    await double.until(() => double.chats()[0]?.state === "running");
    release();
    expect(await reply).toMatchObject({ text: "one two three" });
  });
});

describe.each(HOSTS)("a request to $provider", (host) => {
  test("streams, and carries messages, limit, temperature and seed", async () => {
    const { double, model } = await world(host);
    await complete(model, { temperature: 0.5 });
    const body = double.chats()[0]?.body;
    expect(body).toMatchObject({ model: "m", stream: true, messages: requestOf().messages });
    expect({ ...body, ...(body?.["options"] as object) }).toMatchObject({
      temperature: 0.5,
      seed: 1,
    });
    expect(body).not.toHaveProperty("tools");
    expect(host.schemaOf(body ?? {})).toBeUndefined();
  });

  test("carries a seed, top_p and stop words of its own, and neither where there are none", async () => {
    const { double, model } = await world(host);
    await complete(model, { seed: 7, topP: 0.9, stop: ["END"] });
    await complete(model);
    const [own, plain] = double.chats().map(({ body }) => ({
      ...body,
      ...(body["options"] as object | undefined),
    }));
    expect(own).toMatchObject({ seed: 7, top_p: 0.9, stop: ["END"] });
    expect(plain).toMatchObject({ seed: 1 });
    for (const name of ["top_p", "stop"]) expect(plain).not.toHaveProperty(name);
  });

  test("carries a schema as it stands", async () => {
    const schema = { type: "object", properties: { answer: { type: "string" } } };
    const { double, model } = await world(host, "{}");
    await complete(model, { format: schema });
    expect(host.schemaOf(double.chats()[0]?.body ?? {})).toEqual(schema);
  });

  test.each(["failed to load model vocabulary required for format", "Failed to parse grammar"])(
    "with a schema that the host can't hold it to is refused: %s",
    async (error) => {
      const { model } = await world(host, { text: "", failure: { status: 500, error } });
      const outcome = await complete(model, { format: { type: "object" } });
      expect(outcome).toMatchObject({ kind: "refused", code: "MODEL_UNSUPPORTED" });
    },
  );

  test("carries the tools that are offered", async () => {
    const { double, model } = await world(host, "ok", { capabilities: ["completion", "tools"] });
    await complete(model, { tools: [TOOL] });
    expect(double.chats()[0]?.body).toMatchObject({
      tools: [{ type: "function", function: TOOL }],
    });
  });

  test("is not sent to a model that writes no text", async () => {
    const { double, model } = await world(host, "ok", { capabilities: ["embedding"] });
    expect(await complete(model)).toMatchObject({ kind: "refused", code: "MODEL_UNSUPPORTED" });
    expect(double.chats()).toEqual([]);
  });
});

describe.each(HOSTS)("tool calls of $provider", (host) => {
  const capable = { capabilities: ["completion", "tools"] };
  const calls = [
    { name: "read_text_file", args: { path: "a.md" } },
    { name: "read_text_file", args: { path: "b <&> ä.md", deep: { list: [1] } } },
  ];

  test.each([
    ["none", []],
    ["one", calls.slice(0, 1)],
    ["two", calls],
  ])("come as they are: %s", async (_, toolCalls) => {
    for (const toolCallsIn of ["own_line", "last_line"] as const) {
      const { model } = await world(host, { text: "", toolCalls, toolCallsIn }, capable);
      expect(await complete(model, { tools: [TOOL] })).toMatchObject({ toolCalls, text: "" });
    }
  });

  test("are shown where none was offered", async () => {
    const { model } = await world(host, { text: "Here.", toolCalls: calls }, capable);
    expect(await complete(model)).toMatchObject({ text: "Here.", toolCalls: calls });
  });

  test("with arguments nested too deep for anybody are unreadable", async () => {
    const args = JSON.parse("[".repeat(500) + "]".repeat(500)) as unknown;
    const { model } = await world(host, { text: "", toolCalls: [{ name: "t", args }] }, capable);
    const failure = await failureOf(complete(model, { tools: [TOOL] }));
    expect(failure).toBeInstanceOf(ToolCallUnreadable);
  });

  test.each(host.brokenCalls)(
    "that the host could not read are told by %s, without their words",
    async (_, script) => {
      const { model } = await world(host, script, capable);
      const failure = await failureOf(complete(model, { tools: [TOOL] }));
      expect(failure).toBeInstanceOf(ToolCallUnreadable);
      expect(failure.code).toBe("MODEL_OUTPUT_INVALID");
      expect(`${failure.message} ${String(failure.cause)}`).not.toContain(SECRET);
    },
  );
});

describe.each(HOSTS)("what $provider says of a model", (host) => {
  test("is its protocol for tools, its window and its version", async () => {
    const { model } = await world(host, "ok", { capabilities: ["completion", "tools"] });
    expect(model.name).toBe("m");
    expect(model.facts).toMatchObject({
      provider: host.provider,
      toolProtocol: "native",
      windowTokens: WINDOW_TOKENS,
      serverVersion: expect.any(String),
      options: { temperature: 0, seed: 1 },
    });
  });

  test("bounds the window by what the model was trained for", async () => {
    const { double, model } = await world(host, "ok", { contextLength: 300 });
    expect(model.facts.windowTokens).toBe(300);
    expect(model.promptChars(100)).toBeLessThan(300 * 3);
    expect(double.chats()).toEqual([]);
  });

  test("leaves schemas where it calls no tools", async () => {
    const { model } = await world(host);
    expect(model.facts.toolProtocol).toBe("schema");
  });
});

describe.each(HOSTS)("a prompt that does not fit $provider", (host) => {
  test("is refused", async () => {
    const { model } = await world(host);
    const content = "word ".repeat(1000);
    expect(await complete(model, { content })).toMatchObject({
      kind: "refused",
      code: "CONTEXT_OVERFLOW",
    });
  });

  test("is refused by the host where an estimate takes it for less", async () => {
    const { double, model } = await world(host);
    expect(await complete(model, { content: signs(WINDOW_TOKENS + 50) })).toMatchObject({
      code: "CONTEXT_OVERFLOW",
    });
    expect(double.chats()[0]?.status).toBe(400);
  });

  test("is found out when the host cuts it without a word", async () => {
    const double = await host.startCutting({ models: [{ name: "m" }] });
    open.push(double);
    const numCtx = host.provider === "ollama" ? WINDOW_TOKENS : 8192;
    const model = await host.open(double.url, "m", numCtx);
    expect(await complete(model, { content: "word ".repeat(1000) })).toMatchObject({
      kind: "refused",
      code: "CONTEXT_OVERFLOW",
    });
    expect(double.chats()[0]).toMatchObject({ status: 200, promptTokens: WINDOW_TOKENS });
  });

  test("is told from the longest one that fits for sure", async () => {
    const { model } = await world(host);
    const content = "ab ".repeat(Math.floor((model.promptChars(100) - 20) / 3));
    expect(await complete(model, { content })).toMatchObject({ kind: "reply" });
  });
});

describe.each(HOSTS)("a fault of $provider", (host) => {
  test("an unknown model, with what to do", async () => {
    const { double } = await world(host);
    const failure = await failureOf(host.open(double.url, "absent"));
    expect(failure.code).toBe("MODEL_NOT_FOUND");
    expect(failure.message).toMatch(
      /has no model "absent"\.( It has [^ ].*\.)? (Run: ollama pull absent|Load it)/,
    );
  });

  test("a model that goes away between two calls", async () => {
    const models = [{ name: "m" }];
    const double = await host.start({ models });
    open.push(double);
    const model = await host.open(double.url);
    models.pop();
    expect((await failureOf(complete(model))).code).toBe("MODEL_NOT_FOUND");
  });

  test("nobody there, at first and later", async () => {
    const { double, model } = await world(host);
    await double.close();
    open.length = 0;
    for (const run of [() => complete(model), () => host.open(double.url)]) {
      const failure = await failureOf(run());
      expect(failure.code).toBe("MODEL_UNREACHABLE");
      expect(failure.message).toContain(double.url);
    }
  });

  test.each<[string, Script, string]>([
    ["no last line", { text: "a b", ending: "no_final_line" }, "MODEL_UNREACHABLE"],
    ["a broken line", { text: "a b", ending: "broken_line" }, "MODEL_UNREACHABLE"],
    ["an error in the middle", { text: "a b c", ending: "error_line" }, "MODEL_UNREACHABLE"],
    ["a cut connection", { text: "a b c", ending: "socket_dies" }, "MODEL_UNREACHABLE"],
    ["a crash", { text: "", failure: { status: 500, error: "it stopped" } }, "MODEL_UNREACHABLE"],
    ["a proxy", { text: "", failure: { status: 502, error: "bad" } }, "MODEL_UNREACHABLE"],
    [
      "too many requests",
      { text: "", failure: { status: 429, error: "slow" } },
      "MODEL_OVERLOADED",
    ],
    ["a host that is busy", { text: "", failure: { status: 503, error: "x" } }, "MODEL_OVERLOADED"],
    ["a closed door", { text: "", failure: { status: 401, error: "no" } }, "MODEL_UNREACHABLE"],
  ])("%s", async (_, script, code) => {
    const { model } = await world(host, script);
    expect((await failureOf(complete(model))).code).toBe(code);
  });

  test.each([
    [500, "model requires more system memory (5.6 GiB) than is available (3.1 GiB)"],
    [500, "llama-server process has terminated: cudaMalloc failed: out of memory"],
    [400, "Model unloaded."],
    [404, "No models loaded. Please load a model in the developer page."],
  ])("that has no room for its model (%i: %s) is waited for", async (status, error) => {
    const { double, model } = await world(host, { text: "", failure: { status, error } });
    expect(await failureOf(complete(model))).toMatchObject({
      code: "MODEL_OVERLOADED",
      host: double.url,
      brokeOff: false,
      message: expect.stringContaining(error),
    });
  });

  test("in the words of llama-cpp-python is a prompt that does not fit", async () => {
    const error = "Requested tokens (9437) exceed context window of 8192";
    const { model } = await world(host, { text: "", failure: { status: 500, error } });
    expect(await complete(model)).toMatchObject({ kind: "refused", code: "CONTEXT_OVERFLOW" });
  });

  test.each<[string, Script["ending"]]>([
    ["by an error of its own", "error_line"],
    ["by its connection", "socket_dies"],
    ["by leaving out the end", "no_final_line"],
    ["by a line that is none", "broken_line"],
  ])(
    "a host that breaks off in a reply %s is told from one that is not there",
    async (_, ending) => {
      const { double, model } = await world(host, { text: "a b c", ending: ending ?? "done" });
      expect(await failureOf(complete(model))).toMatchObject({ brokeOff: true, host: double.url });
      await double.close();
      open.length = 0;
      expect(await failureOf(complete(model))).toMatchObject({ brokeOff: false, host: double.url });
    },
  );

  test.each([
    [429, "MODEL_OVERLOADED"],
    [503, "MODEL_OVERLOADED"],
    [502, "MODEL_UNREACHABLE"],
    [500, "MODEL_UNREACHABLE"],
  ])("status %i when it is asked about a model", async (status, code) => {
    const server = await serveEverything((response) => {
      response.writeHead(status).end('{"error":"Loading model"}');
    });
    open.push(server);
    expect((await failureOf(host.open(server.url))).code).toBe(code);
  });

  test.each([401, 403])(
    "a door that is closed (%i) from the start is told as one",
    async (status) => {
      const server = await serveEverything((response) => {
        response.writeHead(status).end('{"error":"no"}');
      });
      open.push(server);
      expect((await failureOf(host.open(server.url))).message).toContain("asks for a key");
    },
  );

  test("routes that a proxy keeps closed are done without", async () => {
    const server = await serveEverything((response, path) => {
      if (path === host.aboutPath) response.writeHead(200).end(ABOUT);
      else response.writeHead(403).end('{"error":"no"}');
    });
    open.push(server);
    expect((await host.open(server.url)).name).toBe("m");
  });

  test("a closed door is told as one", async () => {
    const { model } = await world(host, { text: "", failure: { status: 401, error: "no" } });
    expect((await failureOf(complete(model))).message).toContain("asks for a key");
  });
});

describe.each(HOSTS)("an end before the end, with $provider", (host) => {
  test.each<[string, Partial<Script>]>([
    ["before the first byte", { after: NEVER }],
    ["in the middle", { pause: NEVER }],
  ])("time is up %s", async (_, stuck) => {
    const { double, model } = await world(host, { text: "a b c", ...stuck });
    const failure = await failureOf(complete(model, { timeoutMs: 1_500 }));
    expect(failure.code).toBe("MODEL_TIMEOUT");
    expect(failure.message).toContain("1.5 s");
    await double.until(() => double.chats()[0]?.state === "aborted");
  });

  test.each<[string, Partial<Script>]>([
    ["before the first byte", { after: NEVER }],
    ["in the middle", { pause: NEVER }],
  ])("an abort %s throws the signal's reason and frees the slot", async (_, stuck) => {
    const scripts = [{ text: "a b c", ...stuck }, { text: "second" }];
    const { double, model } = await world(host, () => scripts.shift() ?? "none");
    const controller = new AbortController();
    const first = complete(model, {}, controller.signal);
    await double.until(() => double.chats()[0]?.state === "running");
    const second = complete(model);
    await double.until(() => double.chats().length === 2);
    const reason = new Error("cancelled");
    controller.abort(reason);
    await expect(first).rejects.toBe(reason);
    await expect(second).resolves.toMatchObject({ text: "second" });
  });

  test("an abort beforehand asks nobody", async () => {
    const { double, model } = await world(host);
    const reason = new Error("too late");
    await expect(complete(model, {}, AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(double.chats()).toEqual([]);
  });

  test("a limit longer than any timer is no limit", async () => {
    const { model } = await world(host);
    expect(await complete(model, { timeoutMs: 1e13 })).toMatchObject({ text: "ok" });
  });
});

describe.each(HOSTS)("a server that is no $provider", (host) => {
  async function modelOf(answer: Parameters<typeof serveChat>[1]): Promise<Model> {
    const server = await serveChat(host.chatPath, answer);
    open.push(server);
    return host.open(server.url, "m", 8192);
  }

  test.each([
    [404, "text/html"],
    [200, "text/html; charset=utf-8"],
  ])("a page with status %i is nobody there, and nothing is printed", async (status, type) => {
    const log = jest.spyOn(console, "log");
    const model = await modelOf((response) => {
      response.writeHead(status, { "content-type": type }).end("<h1>Welcome</h1>");
    });
    const failure = await failureOf(complete(model));
    expect(failure.code).toBe("MODEL_UNREACHABLE");
    expect(failure.message).not.toContain("Welcome");
    expect(log).not.toHaveBeenCalled();
    log.mockRestore();
  });

  test.each([
    ["a page without a type", "<h1>Welcome</h1>"],
    ["a list", "[1]"],
    ["no message", '{"done":true}\n'],
    ["nothing", ""],
    ["an endless nesting", `{"message":{"content":"x"},"deep":${"[".repeat(2_000_000)}\n`],
  ])("%s is no reply", async (_, text) => {
    const model = await modelOf((response) => {
      response.writeHead(200).end(text);
    });
    const failure = await failureOf(complete(model));
    expect(failure).toMatchObject({ code: "MODEL_UNREACHABLE", brokeOff: true });
    expect(failure.message).not.toContain("Welcome");
  });

  test("another place is not gone to", async () => {
    const model = await modelOf((response) => {
      response.writeHead(307, { location: "http://127.0.0.1:1/" }).end();
    });
    expect((await failureOf(complete(model))).message).toContain("HTTP 307");
  });

  test.each([
    ["many lines", 100, 16_384, (host: ModelHost) => host.line("x".repeat(600))],
    ["many lines", 2_000, 64_000, (host: ModelHost) => host.line("x".repeat(600))],
    ["many lines", 4_096, 131_072, (host: ModelHost) => host.line("x".repeat(600))],
    ["one line", 100, 2_097_152, () => "x".repeat(60_000)],
    ["thoughts", 100, 2_097_152, (host: ModelHost) => host.thought("x".repeat(60_000))],
    ["thoughts", 4_096, 4_194_304, (host: ModelHost) => host.thought("x".repeat(60_000))],
  ])(
    "a reply without end, in %s, for %i tokens is cut after %i",
    async (_, maxTokens, most, piece) => {
      const line = piece(host);
      let closed = (): void => undefined;
      const isClosed = new Promise<void>((resolve) => (closed = resolve));
      const model = await modelOf((response) => {
        const more = (): void => {
          while (!response.destroyed && response.write(line));
          if (!response.destroyed) response.once("drain", more);
        };
        response.once("close", closed).writeHead(200);
        more();
      });
      const failure = await failureOf(complete(model, { maxTokens }));
      expect(failure.code).toBe("MODEL_OUTPUT_INVALID");
      expect(failure.message).toContain(`over ${most} `);
      await isClosed;
    },
  );

  test("arguments of a call count as text", async () => {
    const args = { path: "x".repeat(20_000) };
    const script = { text: "", toolCalls: [{ name: "t", args }] };
    const capable = { capabilities: ["completion", "tools"] };
    const { model } = await world(host, script, capable);
    const failure = await failureOf(complete(model, { tools: [TOOL] }));
    expect(failure.code).toBe("MODEL_OUTPUT_INVALID");
    expect(failure.message).toContain("over 16384 characters");
  });

  test("a reply with more calls than any model makes is none", async () => {
    const toolCalls = Array.from({ length: 129 }, () => ({ name: "t", args: {} }));
    const capable = { capabilities: ["completion", "tools"] };
    const { model } = await world(host, { text: "", toolCalls }, capable);
    const failure = await failureOf(complete(model, { tools: [TOOL] }));
    expect(failure.code).toBe("MODEL_OUTPUT_INVALID");
    expect(failure.message).toContain("more than 128 tools");
  });
});
