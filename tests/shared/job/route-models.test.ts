import { describe, expect, test } from "@jest/globals";
import { routeChat, routeModels } from "../../../src/shared/job/route-models.ts";
import { SETTINGS } from "../../support/pipeline-world.ts";

const base = { ...SETTINGS.model, name: "mid" };
const both = { ...base, fast: "small", big: "large" };

describe("routing", () => {
  test.each([
    ["neither fast nor big", base, {}, "Compare", ["mid", "mid"]],
    ["fast preferred", both, {}, "What?", ["small", "small"]],
    ["a trigger as a word takes big for pass 2", both, {}, "Compare a and b", ["small", "large"]],
    ["how long is a measure", both, {}, "How long is it?", ["small", "small"]],
    ["belong holds no trigger", both, {}, "Do they belong?", ["small", "small"]],
    ["fast not preferred", { ...both, prefer_fast: false }, {}, "x", ["large", "large"]],
    [
      "fast not preferred, no big",
      { ...base, fast: "small", prefer_fast: false },
      {},
      "x",
      ["small", "small"],
    ],
    ["route fast", both, { route: "fast" }, "Compare", ["small", "small"]],
    ["route fast without fast", base, { route: "fast" }, "x", ["mid", "mid"]],
    ["route big", both, { route: "big" }, "x", ["small", "large"]],
    ["route big without big", base, { route: "big" }, "x", ["mid", "mid"]],
    ["the option model", both, { model: "other", route: "big" }, "x", ["other", "other"]],
    [
      "a name that every object has",
      base,
      { model: "constructor" },
      "x",
      ["constructor", "constructor"],
    ],
    ["an alias", { ...base, aliases: { mid: "qwen3:8b" } }, {}, "x", ["qwen3:8b", "qwen3:8b"]],
    [
      "extractive",
      { ...both, provider: "extractive" },
      {},
      "Compare",
      ["extractive", "extractive"],
    ],
    ["nothing configured", { ...base, name: null }, {}, "x", [null, null]],
  ] as const)("%s", (...[, settings, options, question, names]) => {
    const { first, second } = routeModels(question, settings, options);
    expect([first.name, second.name]).toEqual(names);
  });

  test("pass 2 of the big model gets the larger budget, pass 1 never", () => {
    const { first, second } = routeModels("Compare", both, {});
    expect(first).toMatchObject({ maxTokens: 800, timeoutMs: 300_000 });
    expect(second).toMatchObject({ maxTokens: 4500, timeoutMs: 600_000, why: 'trigger "compare"' });
  });

  test("a chat takes model.name, whatever fast and big are", () => {
    expect(routeChat(both, undefined).name).toBe("mid");
    expect(routeChat(both, "other").name).toBe("other");
    expect(routeChat({ ...both, name: null }, undefined).name).toBe("small");
  });
});
