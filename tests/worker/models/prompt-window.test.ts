import { describe, expect, test } from "@jest/globals";
import {
  estimateTokens,
  replyTokens,
  roomForCountedPrompt,
  wasCountedPromptCut,
  wasPromptCut,
} from "../../../src/worker/models/prompt-window.ts";

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
    ["a new host that kept half of a dense one", 16_000, 2050, true],
    ["whole messages dropped", 40_000, 300, true],
    ["a prompt that may not fit, without a count", 16_000, 0, false],
    ["a prompt that can't fit, without a count", 40_000, 0, true],
  ])("%s", (...[, chars, promptTokens, cut]) => {
    expect(wasPromptCut(prose(chars), promptTokens, 4096)).toBe(cut);
  });

  test("a reply never takes more than half of the window", () => {
    expect([replyTokens(4096, 800), replyTokens(4096, 4500)]).toEqual([800, 2048]);
  });
});

describe("a prompt that is counted beforehand", () => {
  test.each([256, 4096, 131_072])("passes when it has the room of a window of %i", (window) => {
    const room = roomForCountedPrompt(window, 100);
    expect(room).toBeGreaterThan(0);
    const content = "x".repeat(room);
    expect(estimateTokens([{ content }]).most).toBeLessThanOrEqual(window - 100);
  });

  test.each([
    ["a usual count", 2000, "reported", false],
    ["a usual count", 2000, "assumed", false],
    ["a count that only spaces have", 1400, "reported", false],
    ["a count that only spaces have", 1400, "assumed", true],
    ["a count that nothing has", 1000, "reported", true],
    ["no count", 0, "reported", false],
    ["no count", 0, "assumed", false],
  ] as const)("with %s of %i tokens in a window that is %s", (...[, count, window, cut]) => {
    expect(wasCountedPromptCut(prose(9000), count, window)).toBe(cut);
  });
});
