import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, test } from "@jest/globals";
import { startOpenAiDouble } from "./openai-server.ts";
import type { OpenAiDouble, OpenAiDoubleOptions } from "./openai-server.ts";

const open: OpenAiDouble[] = [];
afterEach(async () => {
  for (const double of open.splice(0)) await double.close();
});

async function start(options: Partial<OpenAiDoubleOptions> = {}): Promise<OpenAiDouble> {
  const double = await startOpenAiDouble({ models: [{ name: "m" }], ...options });
  open.push(double);
  return double;
}

const chat = (double: OpenAiDouble, more: object = {}, signal?: AbortSignal): Promise<Response> =>
  fetch(`${double.url}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify({
      model: "m",
      stream: true,
      messages: [{ role: "user", content: "Hi there" }],
      ...more,
    }),
    ...(signal === undefined ? {} : { signal }),
  });

describe("the double of an OpenAI-compatible server", () => {
  test("streams events, and usage only when asked", async () => {
    const double = await start();
    const plain = await (await chat(double)).text();
    expect(plain).toMatch(/"finish_reason":"stop"}\]}\n\ndata: \[DONE\]\n\n$/);
    expect(plain).not.toContain("usage");
    const counted = await (await chat(double, { stream_options: { include_usage: true } })).text();
    expect(counted).toContain('{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":1,');
  });

  test("gives the arguments of a call as text in pieces", async () => {
    const respond = () => ({ text: "", toolCalls: [{ name: "t", args: { a: 1 } }] });
    const text = await (await chat(await start({ models: [{ name: "m", respond }] }))).text();
    expect(text).toContain('"arguments":"{\\"a\\""');
    expect(text).toContain('"finish_reason":"tool_calls"');
  });

  test.each([
    ["llama.cpp", 200, { choices: [{ message: { content: "ok" } }] }],
    ["vllm", 404, { object: "error", code: 404 }],
    ["lm-studio", 404, { error: expect.any(String) }],
  ] as const)("of the flavour %s words an unknown model", async (flavour, status, body) => {
    const response = await chat(await start({ flavour }), { model: "x", stream: false });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject(body);
  });

  test("lets a request wait for a slot without a byte, and frees that of one that goes away", async () => {
    const never = new Promise(() => undefined);
    const scripts = [{ text: "x", after: never }, { text: "second" }];
    const respond = () => scripts.shift() ?? "none";
    const double = await start({ models: [{ name: "m", respond }] });
    const controller = new AbortController();
    const first = chat(double, {}, controller.signal).catch(() => "aborted");
    await double.until(() => double.chats()[0]?.state === "running");
    const second = chat(double);
    await double.until(() => double.chats().length === 2);
    // The first has its headers, though it says nothing yet.
    expect(await first).toMatchObject({ status: 200 });
    expect(await Promise.race([second, setImmediate("nothing yet")])).toBe("nothing yet");
    controller.abort();
    expect(await (await second).text()).toContain("second");
  });

  test("of the flavour lm-studio has every path", async () => {
    const response = await fetch(`${(await start({ flavour: "lm-studio" })).url}/nothing`);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ error: "Unexpected endpoint or method." });
  });
});
