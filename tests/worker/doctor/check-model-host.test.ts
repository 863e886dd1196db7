import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { Check } from "../../../src/worker/doctor/check.ts";
import { checkModelHost } from "../../../src/worker/doctor/check-model-host.ts";
import { probeWindow } from "../../../src/worker/doctor/check-window.ts";
import type { Model, ModelReply } from "../../../src/worker/models/model.ts";
import type { DoubleModel } from "../../doubles/ollama/double-model.ts";
import { startOllamaDouble } from "../../doubles/ollama-server.ts";
import { startOpenAiDouble } from "../../doubles/openai-server.ts";
import { makeScratch } from "../../shared/config/scratch.ts";
import type { Scratch } from "../../shared/config/scratch.ts";
import { createAuthority } from "../../support/certificates.ts";
import { startGatedHost } from "../../support/gated-host.ts";
import { FACTS } from "../../support/pipeline-world.ts";

const DIGEST = "ab".repeat(32);
const MODELS: readonly DoubleModel[] = [
  { name: "chat", digest: DIGEST, contextLength: 8192 },
  { name: "short", contextLength: 2048 },
  { name: "vectors", capabilities: ["embedding"] },
];

const REPLY: ModelReply = {
  ...{ kind: "reply", text: "ok", toolCalls: [], promptTokens: 9_000, completionTokens: 1 },
  ...{ loadMs: 0, doneReason: "stop" },
};

let scratch: Scratch;
const open: { close(): Promise<void> }[] = [];
beforeEach(async () => {
  scratch = await makeScratch();
});
afterEach(async () => {
  await scratch.remove();
  for (const server of open.splice(0)) await server.close();
});

async function check(
  model: object,
  embed: object = {},
  window: "probe" | "look" = "look",
): Promise<readonly Check[]> {
  await scratch.write("nightdesk.yaml", JSON.stringify({ model, embed }));
  return checkModelHost(await scratch.load(), {}, window);
}

async function ollama(model: object, embed: object = {}): Promise<readonly Check[]> {
  const double = await startOllamaDouble({ models: MODELS });
  open.push(double);
  return check({ provider: "ollama", base_url: double.url, ...model }, embed);
}

const codes = (checks: readonly Check[]): string[] =>
  checks.map(({ level, code }) => `${level} ${code}`);
const HOST_OK = "ok DOCTOR_OLLAMA_OK";
const MODEL_OK = "ok DOCTOR_MODEL_OK";

describe("a model host that answers", () => {
  test("has every configured model, each looked at once", async () => {
    const aliases = { quick: "chat" };
    const checks = await ollama({ name: "chat", fast: "quick", big: "short", aliases });
    expect(codes(checks)).toEqual([HOST_OK, MODEL_OK, MODEL_OK, "warn DOCTOR_MODEL_WINDOW"]);
    expect(checks[1]?.message).toBe("Model chat is installed (Q4_K_M, digest abababababab).");
  });

  test("says how to get a model that is missing", async () => {
    const checks = await ollama({ name: "ghost" });
    expect(codes(checks)).toEqual([HOST_OK, "fail DOCTOR_MODEL_MISSING"]);
    expect(checks[1]?.fix).toBe("Run: ollama pull ghost");
  });

  test("has the build that model.digest names, or both digests are told", async () => {
    const pinned = { name: "chat:latest", digest: DIGEST };
    expect(codes(await ollama(pinned))).toEqual([HOST_OK, MODEL_OK]);
    const asked = "cd".repeat(32);
    const [, wrong] = await ollama({ ...pinned, digest: asked });
    expect(wrong).toMatchObject({ level: "fail", code: "DOCTOR_MODEL_DIGEST" });
    expect(wrong?.message).toContain(asked);
    expect(wrong?.message).toContain(DIGEST);
  });

  test("notes a window that is smaller than model.num_ctx", async () => {
    const checks = await ollama({ name: "short", num_ctx: 4096 });
    expect(checks[2]).toMatchObject({ level: "warn", code: "DOCTOR_MODEL_WINDOW" });
    expect(checks[2]?.message).toContain("2048");
    expect(checks[2]?.message).toContain("4096");
  });

  test.each([
    ["refuses what does not fit", "new", "does not fit the window"],
    ["cuts it, which its count of tokens shows", "old", "for a longer prompt in a window of 4096"],
  ] as const)("is asked with a prompt that it must refuse: it %s", async (_, version, words) => {
    const double = await startOllamaDouble({ models: MODELS, version });
    open.push(double);
    const model = { provider: "ollama", base_url: double.url, name: "chat", num_ctx: 4096 };
    const checks = await check(model, {}, "probe");
    expect(codes(checks)).toEqual([HOST_OK, MODEL_OK, "ok DOCTOR_MODEL_WINDOW_OK"]);
    expect(checks[2]?.message).toContain("4,096 tokens can't hold");
    expect(checks[2]?.message).toContain(words);
  });

  test("that answers a prompt which does not fit is a failed check, and one that can't be asked a warning", async () => {
    await scratch.write("nightdesk.yaml", "{}");
    const config = await scratch.load();
    const answers: Model = {
      name: "chat",
      facts: { ...FACTS, windowTokens: 4096 },
      promptChars: () => 4096,
      complete: async () => REPLY,
    };
    expect((await probeWindow(answers, config)).code).toBe("DOCTOR_MODEL_WINDOW_CUT");
    const breaks = { ...answers, complete: () => Promise.reject(new Error("out of memory")) };
    expect(await probeWindow(breaks, config)).toMatchObject({
      code: "DOCTOR_MODEL_WINDOW_UNPROBED",
      message: expect.stringContaining("out of memory"),
    });
  });

  test("has the embedder's model, which is asked for where the embedder is", async () => {
    const embed = (name: string) => ({ provider: "ollama", model_id: name });
    expect(codes(await ollama({ name: "chat" }, embed("vectors")))).toEqual([
      HOST_OK,
      MODEL_OK,
      MODEL_OK,
    ]);
    const elsewhere = await startOllamaDouble({ models: [] });
    open.push(elsewhere);
    const away = { ...embed("vectors"), base_url: elsewhere.url };
    expect(codes(await ollama({ name: "chat" }, away)).at(-1)).toBe("fail DOCTOR_MODEL_MISSING");
  });

  test("embeds as each host of the embedder is asked: what is wrong at one is told beside the others", async () => {
    const start = async (embeds: boolean, weightBytes = 1_000) => {
      const double = await startOpenAiDouble({
        models: [{ name: "vectors" }],
        embeds,
        weightBytes,
      });
      open.push(double);
      return double.url;
    };
    const entry = (name: string, url: string) => ({ name, kind: "llama-server", url });
    const hosts = [
      entry("good", await start(true)),
      entry("other", await start(true, 2_000)),
      entry("chats", await start(false)),
    ];
    const embed = { provider: "hosts", model_id: "vectors" };
    const model = { provider: "extractive" };
    await scratch.write("nightdesk.yaml", JSON.stringify({ model, embed, hosts }));
    const checks = await checkModelHost(await scratch.load());
    const answers = "ok DOCTOR_HOST_OK";
    const invalid = "fail DOCTOR_EMBED_CONFIG_INVALID";
    expect(codes(checks)).toEqual([HOST_OK, answers, answers, answers, MODEL_OK, invalid, invalid]);
    expect(checks.at(-2)?.message).toContain("is another build");
    expect(checks.at(-1)?.message).toContain("can't embed");
  });

  test("may be an OpenAI-compatible one", async () => {
    const double = await startOpenAiDouble({ models: MODELS, windowTokens: 2048 });
    open.push(double);
    const model = { provider: "openai-compatible", base_url: double.url, num_ctx: 4096 };
    expect(codes(await check({ ...model, name: "chat", big: "ghost" }))).toEqual([
      HOST_OK,
      MODEL_OK,
      "warn DOCTOR_MODEL_WINDOW",
      "fail DOCTOR_MODEL_MISSING",
    ]);
  });
});

describe("a host of the list", () => {
  const checkListed = async (host: object) => {
    const hosts = [{ name: "desk", kind: "openai", models: ["m"], ...host }];
    const model = { provider: "hosts", name: "m" };
    await scratch.write("nightdesk.yaml", JSON.stringify({ model, hosts }));
    return checkModelHost(await scratch.load());
  };
  const find = (checks: readonly Check[]) =>
    checks.find(({ code }) => code === "DOCTOR_HOST_UNREACHABLE");

  test("is told below the path that it has, and what its gateway does not have below another", async () => {
    const double = await startOpenAiDouble({ models: [{ name: "m" }] });
    open.push(double);
    const gate = await startGatedHost(double.url, { below: "/team" });
    open.push(gate);
    const checks = await checkListed({ url: gate.url });
    expect(codes(checks)).toContain("ok DOCTOR_HOST_OK");
    expect(codes(checks)).toContain(MODEL_OK);
    expect(gate.calls.every(({ path }) => path.startsWith("/team/"))).toBe(true);
    const missed = find(await checkListed({ url: `${gate.url}/other` }));
    expect(missed?.message).toContain(
      `${gate.url}/other) does not answer (it says nothing at /v1/models)`,
    );
  });

  test("whose certificate can't be trusted is told so, with what to do", async () => {
    const double = await startOpenAiDouble({ models: [{ name: "m" }] });
    open.push(double);
    const certificate = createAuthority().issue(["127.0.0.1"]);
    const gate = await startGatedHost(double.url, { certificate });
    open.push(gate);
    const missed = find(await checkListed({ url: gate.url }));
    expect(missed?.message).toContain(`The certificate of ${gate.url} is signed by nobody`);
    expect(missed?.fix).toContain("ca_file of hosts: desk");
  });

  test("whose proxy lets nobody through is told so", async () => {
    const missed = find(
      await checkListed({ url: "https://desk.example", proxy: "http://127.0.0.1:1" }),
    );
    expect(missed?.message).toContain("the proxy http://127.0.0.1:1 is not reached");
    expect(missed?.fix).toContain("Look at its proxy in hosts");
  });
});

describe("a model host that is not there", () => {
  test.each(["ollama", "openai-compatible"])("is one failed check for %s", async (provider) => {
    const checks = await check({ provider, base_url: "http://127.0.0.1:1", name: "chat" });
    expect(codes(checks)).toEqual(["fail DOCTOR_OLLAMA_UNREACHABLE"]);
    expect(checks[0]?.message).toContain("ECONNREFUSED");
  });

  test("is not asked for by the extractive model", async () => {
    const checks = await check({ provider: "extractive", base_url: "http://127.0.0.1:1" });
    expect(codes(checks)).toEqual([HOST_OK]);
  });

  test("may be a URL that is none", async () => {
    const checks = await check({ provider: "ollama", base_url: "nowhere", name: "chat" });
    expect(codes(checks)).toEqual(["fail DOCTOR_OLLAMA_URL_INVALID"]);
  });
});
