import { describe, expect, test } from "@jest/globals";
import type { Config } from "../../../src/shared/config/schema.ts";
import { createModels } from "../../../src/worker/model/create-model.ts";

const configOf = (
  provider: Config["model"]["provider"],
  baseUrl: string | null,
): Pick<Config, "model" | "origins"> => ({
  origins: new Map(),
  model: {
    provider,
    base_url: baseUrl,
    name: null,
    fast: null,
    big: null,
    prefer_fast: true,
    big_triggers: [],
    num_ctx: 8192,
    temperature: 0.2,
    seed: 1,
    max_tokens: 800,
    max_tokens_big_second: 4500,
    timeout_s: 300,
    timeout_s_big_second: 600,
    keep_alive: "5m",
    aliases: {},
    digest: null,
  },
});

describe("createModels", () => {
  test("extractive is there with every provider", () => {
    for (const provider of ["extractive", "ollama"] as const) {
      const models = createModels(configOf(provider, "http://127.0.0.1:11434"));
      expect(models.get("extractive").name).toBe("extractive");
    }
  });

  test("a model of a host is made once, with a window in which a prompt and its reply fit", () => {
    const models = createModels(configOf("ollama", "http://127.0.0.1:11434"));
    expect(models.get("qwen3")).toBe(models.get("qwen3"));
    expect(models.get("qwen3").promptChars(800)).toBe((8192 - 800 - 64) * 3);
    expect(models.get("qwen3").promptChars(100_000)).toBe((4096 - 64) * 3);
  });

  test("the extractive provider has no other model, and says how to get one", () => {
    const models = createModels(configOf("extractive", null));
    expect(() => models.get("qwen3")).toThrow(/Set model.provider: ollama/);
  });
});
