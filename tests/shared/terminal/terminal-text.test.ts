import { describe, expect, test } from "@jest/globals";
import {
  cleanForDatabase,
  cleanForTerminal,
  cleanLine,
  cleanLines,
  cleanMessage,
  escapeInJson,
  jsonForTerminal,
} from "../../../src/shared/terminal/styled-text.ts";

describe("text for the terminal", () => {
  test.each([
    ["\u001b[31mred\u001b[0m", "␛[31mred␛[0m"],
    ["\u001b]0;title\u0007", "␛]0;title␇"],
    ["\u009b31m", "<U+009B>31m"],
    ["done\rgone\b\b\b", "done␍gone␈␈␈"],
    ["of Windows\r\nlines\r\n", "of Windows\nlines\n"],
    ["\u0000\u000b\u000c\u007f", "␀␋␌␡"],
    ["\u0085", "<U+0085>"],
    ["a\u202egpj.exe", "a<U+202E>gpj.exe"],
    ["\u2066x\u2069\u200f\u061c", "<U+2066>x<U+2069><U+200F><U+061C>"],
    ["\ud800x\udfff", "<U+D800>x<U+DFFF>"],
    ["pass\u200bword\ufeff\u2060", "pass<U+200B>word<U+FEFF><U+2060>"],
    ["\u{e0041}\ufff9", "<U+E0041><U+FFF9>"],
    ["one\u2028two\u2029", "one<U+2028>two<U+2029>"],
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

describe("text as lines", () => {
  test.each([
    ["a name\nof two lines", "a name ↵ of two lines"],
    ["  indented\r\n\r\nthen\u2028more\n", "  indented ↵ then ↵ more"],
    ["\u001b[2K\nx", "␛[2K ↵ x"],
    ["plain", "plain"],
  ])("%j is the one line %j", (text, expected) => {
    expect(cleanLine(text)).toBe(expected);
  });

  test("records keep their line ends, and nothing else of carriage returns", () => {
    expect(cleanLines('a,"b\r\nc"\r\nd\re\r')).toBe('a,"b\r\nc"\r\nd␍e\r');
  });

  test("a message of several lines has all but the first indented", () => {
    expect(cleanMessage("bad\n  select\nnightdesk: forged")).toBe(
      "bad\n  select\n  nightdesk: forged",
    );
  });
});

test("JSON that is written already is escaped and means the same", () => {
  const json = JSON.stringify({ a: "\u{e0041}\u200b\u2028" });
  expect(escapeInJson(json)).toBe('{"a":"\\udb40\\udc41\\u200b\\u2028"}');
  expect(JSON.parse(escapeInJson(json))).toEqual(JSON.parse(json));
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
