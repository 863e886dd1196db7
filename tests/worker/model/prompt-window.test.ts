import { describe, expect, test } from "@jest/globals";
import { removeThinking } from "../../../src/worker/model/remove-thinking.ts";
import { replyTokens, wasPromptCut } from "../../../src/worker/model/prompt-window.ts";

const prose = (chars: number): { role: "user"; content: string }[] => [
  { role: "user", content: "word ".repeat(chars / 5) },
];

describe("wasPromptCut", () => {
  test.each([
    ["a short prompt without a count", 400, 0, false],
    ["a prompt that fits with its usual count", 12_000, 3000, false],
    ["a dense prompt that fits, by chance near half", 8_800, 2048, false],
    ["an old host that filled the window", 40_000, 4096, true],
    ["a new host that kept half of it", 20_000, 2050, true],
    ["whole messages dropped", 40_000, 300, true],
    ["a long prompt without a count", 40_000, 0, true],
  ])("%s", (...[, chars, promptTokens, cut]) => {
    expect(wasPromptCut(prose(chars), promptTokens, 4096)).toBe(cut);
  });

  test("a reply never takes more than half of the window", () => {
    expect([replyTokens(4096, 800), replyTokens(4096, 4500)]).toEqual([800, 2048]);
  });
});

describe("removeThinking", () => {
  test.each([
    ["nothing to remove", "Hello.", "Hello."],
    ["a block before", "<think>hm</think>\n\nHello.", "Hello."],
    ["two blocks", "<think>a</think>Hel<think>b</think>lo.", "Hello."],
    ["a block that the template opened", "hm hm</think>Hello.", "Hello."],
    ["a block that never ends", "Hello.<think>and so on", "Hello."],
  ])("%s", (...[, text, visible]) => {
    expect(removeThinking(text)).toBe(visible);
  });

  test("a megabyte of marks takes less than 200 ms", () => {
    const startedAt = performance.now();
    removeThinking("<think>".repeat(75_000) + "</think><think>".repeat(50_000));
    expect(performance.now() - startedAt).toBeLessThan(200);
  });
});
