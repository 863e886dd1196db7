import { describe, expect, test } from "@jest/globals";
import {
  cleanForDatabase,
  cleanForTerminal,
  jsonForTerminal,
} from "../../src/shared/terminal-text.ts";

describe("text for the terminal", () => {
  test.each([
    ["\u001b[31mred\u001b[0m", "␛[31mred␛[0m"],
    ["\u001b]0;title\u0007", "␛]0;title␇"],
    ["\u009b31m", "<U+009B>31m"],
    ["done\rgone\b\b\b", "done␍gone␈␈␈"],
    ["\u0000\u000b\u000c\u007f", "␀␋␌␡"],
    ["\u0085", "<U+0085>"],
    ["a\u202egpj.exe", "a<U+202E>gpj.exe"],
    ["\u2066x\u2069\u200f\u061c", "<U+2066>x<U+2069><U+200F><U+061C>"],
    ["\ud800x\udfff", "<U+D800>x<U+DFFF>"],
  ])("%j shows as %s", (text, expected) => {
    expect(cleanForTerminal(text)).toBe(expected);
  });

  test.each(["two\nlines\tand a tab", "Grüße, 日本語, 👩‍🚀, עברית", "", "a\u00a0b\u200db"])(
    "%j stays as it is",
    (text) => {
      expect(cleanForTerminal(text)).toBe(text);
    },
  );

  test("holds no control character any more, whatever went in", () => {
    const every = Array.from(
      { length: 0x10000 },
      (_, code) => `${String.fromCharCode(code)} `,
    ).join("");
    const kept = cleanForTerminal(every).match(/\p{Cc}|\p{Cs}|\p{Bidi_Control}/gu) ?? [];
    expect(new Set(kept)).toEqual(new Set(["\n", "\t"]));
  });
});

test("JSON for the terminal holds nothing that drives it, and means the same", () => {
  const value = { text: "\u009b31m \u202egpj \u007f \u001b[0m \ud800 Grüße 👩‍🚀\n" };
  const shown = jsonForTerminal(value);
  expect(shown).not.toMatch(/\p{Cc}|\p{Cs}|\p{Bidi_Control}/u);
  expect(JSON.parse(shown)).toEqual(value);
});

describe("text for the database", () => {
  test.each([
    ["a\u0000b\u0000", "ab"],
    ["\ud800", "\ufffd"],
    ["x\udc00\ud800y", "x\ufffd\ufffdy"],
    ["\ud83d\u0000\ude00", "😀"],
    ["\u001b[31m", "\u001b[31m"],
    ["😀 Grüße", "😀 Grüße"],
    ["", ""],
  ])("%j becomes %j", (text, expected) => {
    expect(cleanForDatabase(text)).toBe(expected);
  });
});

test("two million hostile characters take linear time", () => {
  const started = performance.now();
  const hostile = "\u001b\u0000\ud800\u202e".repeat(500_000);
  expect(cleanForTerminal(hostile).length).toBeGreaterThan(hostile.length);
  expect(cleanForDatabase(hostile)).toHaveLength(1_500_000);
  expect(performance.now() - started).toBeLessThan(15_000);
});
