import { isDeepStrictEqual } from "node:util";
import { afterEach, describe, expect, test } from "@jest/globals";
import type { Config } from "../../../src/shared/config/schema.ts";
import { createModels } from "../../../src/worker/models/create-model.ts";
import type { SchemaMemory } from "../../../src/worker/models/create-model.ts";
import type { ModelRegistry } from "../../../src/worker/models/model.ts";
import { openOffload } from "../../../src/worker/offload/offload.ts";
import { startOllamaDouble } from "../../doubles/ollama-server.ts";
import type { OllamaDouble, OllamaDoubleOptions } from "../../doubles/ollama-server.ts";
import { startOpenAiDouble } from "../../doubles/openai-server.ts";
import { complete, failureOf } from "../../support/model-hosts.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

const signal = new AbortController().signal;
const DIGEST = "ab".repeat(32);

/** What only models in a process of the worker are opened by. */
const UNUSED: object = {
  embed: { cache_dir: null },
  queue: { concurrency: 1 },
  roots: { workroot: "/nowhere" },
};
const configOf = (
  provider: Config["model"]["provider"],
  baseUrl: string | null,
  more: Partial<Config["model"]> = {},
): Pick<Config, "model" | "origins" | "embed" | "queue" | "roots"> => ({
  origins: new Map(),
  ...(UNUSED as Pick<Config, "embed" | "queue" | "roots">),
  model: {
    provider,
    base_url: baseUrl,
    name: null,
    fast: null,
    big: null,
    prefer_fast: true,
    big_triggers: [],
    sees: [],
    num_ctx: 4096,
    temperature: 0.2,
    seed: 1,
    max_tokens: 800,
    max_tokens_big_second: 4500,
    timeout_s: 300,
    timeout_s_big_second: 600,
    keep_alive: "5m",
    aliases: {},
    parallel: null,
    breaker_failures: 5,
    digest: null,
    transformers: { dtype: "fp32", device: "cpu", recycle_replies: 500, recycle_mb: 4_096 },
    ...more,
  },
});

type World = { readonly double: OllamaDouble; readonly models: ModelRegistry };

async function world(
  model: Partial<Config["model"]> = {},
  options: Partial<OllamaDoubleOptions> = {},
): Promise<World> {
  const double = await startOllamaDouble({
    models: [{ name: "qwen3", digest: DIGEST }, { name: "other" }],
    ...options,
  });
  open.push(double);
  return { double, models: createModels(configOf("ollama", double.url, model)) };
}

const shows = ({ requests }: OllamaDouble): number =>
  requests.filter(({ path }) => path === "/api/show").length;

describe("the models of a process", () => {
  test("have extractive with every provider, and need no host for it", async () => {
    for (const provider of ["extractive", "ollama", "openai-compatible"] as const) {
      const models = createModels(configOf(provider, "http://127.0.0.1:1"));
      expect((await models.get("extractive", signal)).name).toBe("extractive");
    }
  });

  test("are asked about once, also by two at a time, with room for a prompt and its reply", async () => {
    const { double, models } = await world();
    const [first, second] = await Promise.all([
      models.get("qwen3", signal),
      models.get("qwen3", signal),
    ]);
    expect(first).toBe(second);
    expect(await models.get("qwen3", signal)).toBe(first);
    expect(shows(double)).toBe(1);
    expect(first.promptChars(800)).toBe((4096 - 800 - 64) * 3);
    expect(first.promptChars(100_000)).toBe((2048 - 64) * 3);
  });

  test("are asked about again after a fault of the host", async () => {
    const models = [
      { name: "qwen3", respond: () => ({ text: "a b", ending: "socket_dies" as const }) },
    ];
    const { double, models: registry } = await world({}, { models });
    const model = await registry.get("qwen3", signal);
    expect((await failureOf(complete(model))).code).toBe("MODEL_UNREACHABLE");
    await registry.get("qwen3", signal);
    expect(shows(double)).toBe(2);
  });

  test("that were not there are asked for again", async () => {
    const installed: { name: string }[] = [];
    const { models } = await world({}, { models: installed });
    expect((await failureOf(models.get("qwen3", signal))).code).toBe("MODEL_NOT_FOUND");
    installed.push({ name: "qwen3" });
    expect((await models.get("qwen3", signal)).name).toBe("qwen3");
  });

  test("are remembered as builds that ignore schemas", async () => {
    const { double } = await world();
    const faults: unknown[] = [];
    const memory: SchemaMemory = {
      hasFault: async (build) => faults.some((one) => isDeepStrictEqual(one, build)),
      noteFault: async (build) => void faults.push(build),
    };
    const config = configOf("ollama", double.url);
    const models = createModels(config, openOffload(), memory);
    const model = await models.get("qwen3", signal);
    expect(model.facts.ignoresSchemas).toBe(false);
    await model.noteIgnoredSchema?.();
    expect((await models.get("qwen3", signal)).facts.ignoresSchemas).toBe(true);
    expect((await models.get("other", signal)).facts.ignoresSchemas).toBe(false);
    const elsewhere = createModels(config, openOffload(), memory);
    expect((await elsewhere.get("qwen3", signal)).facts.ignoresSchemas).toBe(true);
    expect(faults).toMatchObject([{ provider: "ollama", model: "qwen3", digest: DIGEST }]);
  });

  test("go by their aliases, and by no name that every object has", async () => {
    const { models } = await world({ aliases: { quick: "qwen3" } });
    expect((await models.get("quick", signal)).name).toBe("qwen3");
    const failure = await failureOf(models.get("constructor", signal));
    expect(failure.message).toContain('no model "constructor"');
  });

  test("of the extractive provider are no other, and it says how to get one", async () => {
    const models = createModels(configOf("extractive", null));
    await expect(models.get("qwen3", signal)).rejects.toThrow(/Set model.provider: ollama/);
  });

  test("come from an OpenAI-compatible host as well", async () => {
    const double = await startOpenAiDouble({ models: [{ name: "qwen3" }] });
    open.push(double);
    const models = createModels(configOf("openai-compatible", double.url));
    const model = await models.get("qwen3", signal);
    expect(model.facts.provider).toBe("openai-compatible");
    expect(await complete(model)).toMatchObject({ text: "ok" });
  });

  test.each([
    ["ghost", "set model.big to one"],
    ["judge", "set verify.judge.model to one"],
    ["nick", "set model.aliases.nick to one"],
    ["of-a-job", "or name one"],
  ])("that are missing are to be named where they are: %s", async (name, words) => {
    const double = await startOpenAiDouble({ models: [{ name: "qwen3" }] });
    open.push(double);
    const model = { name: "qwen3", big: "ghost", aliases: { nick: "old" }, sees: ["of-a-job"] };
    const verify = { judge: { model: ["qwen3", "judge"] } } as unknown as Config["verify"];
    const config = configOf("openai-compatible", double.url, model);
    const failure = await failureOf(createModels({ ...config, verify }).get(name, signal));
    expect(failure.message).toContain(`${words} that GET /v1/models lists`);
  });
});

describe("model.digest", () => {
  test.each(["qwen3", "qwen3:latest", "QWEN3", "alias"])(
    "lets the model that it names through, as %s",
    async (name) => {
      const pinned = { name: "alias", aliases: { alias: "qwen3" }, digest: DIGEST };
      const { models } = await world(pinned);
      expect((await models.get(name, signal)).facts.digest).toBe(DIGEST);
    },
  );

  test("refuses another build, with both digests", async () => {
    const asked = "cd".repeat(32);
    const { models } = await world({ name: "qwen3", digest: asked });
    const failure = await failureOf(models.get("qwen3", signal));
    expect(failure.code).toBe("MODEL_NOT_FOUND");
    expect(failure.message).toContain(asked);
    expect(failure.message).toContain(DIGEST);
  });

  test("refuses a host that reports none", async () => {
    const { models } = await world({ name: "qwen3", digest: DIGEST }, { without: ["/api/tags"] });
    const failure = await failureOf(models.get("qwen3", signal));
    expect(failure.code).toBe("MODEL_NOT_FOUND");
    expect(failure.message).toContain("reports none");
  });

  test("finds out at the next job that somebody pulled another build", async () => {
    const installed = [{ name: "qwen3", digest: DIGEST }];
    const { models } = await world({ name: "qwen3", digest: DIGEST }, { models: installed });
    await models.get("qwen3", signal);
    installed.splice(0, 1, { name: "qwen3", digest: "cd".repeat(32) });
    expect((await failureOf(models.get("qwen3", signal))).code).toBe("MODEL_NOT_FOUND");
  });

  test("says nothing of other models", async () => {
    const { models } = await world({ name: "qwen3", fast: "other", digest: "cd".repeat(32) });
    expect((await models.get("other", signal)).name).toBe("other");
  });
});
