import { describe, expect, test } from "@jest/globals";
import { isGlob, parseGlob } from "../../../src/shared/files/parse-glob.ts";

function takes(glob: string, path: string): boolean | string {
  const matches = parseGlob(glob);
  return typeof matches === "function" ? matches(path) : matches.problem;
}

describe("a glob", () => {
  test.each([
    ["*.md", "a.md", "a/b.md"],
    ["**/*.md", "a.md", "a.txt"],
    ["**/*.md", "a/b/c.md", "a/b.md/c"],
    ["a/**", "a/b/c.md", "b/a/c.md"],
    ["a/**/b/*.md", "a/b/x.md", "a/b/c/x.md"],
    ["a/**/b/*.md", "a/x/y/b/z.md", "a/b.md"],
    ["?.md", "a.md", "aa.md"],
    ["?.md", "\u{1f4c4}.md", "\u{1f4c4}\u{1f4c4}.md"],
    ["*[\u{1f4c4}\u{1f4c5}]?", "\u{1f4c4}\u{1f4c5}\u{1f4c6}", "\u{1f4c4}\u{1f4c6}\u{1f4c6}"],
    ["a?c", "abc", "a/c"],
    ["[ab].md", "a.md", "c.md"],
    ["[a-c]x", "bx", "dx"],
    ["[!a]x", "bx", "ax"],
    ["[^a]x", "bx", "ax"],
    ["[[:digit:]]*", "1a", "a1"],
    ["*.{md,txt}", "a.txt", "a.json"],
    ["{a,b/{c,d}}/*.md", "b/d/x.md", "b/x.md"],
    ["{a,}b", "b", "cb"],
    ["2026-{01..12}.md", "2026-07.md", "2026-7.md"],
    ["{1..3}", "2", "4"],
    ["{10..12}", "11", "1"],
    ["{c..a}", "b", "d"],
    ["{a}", "{a}", "a"],
    ["{a,b", "{a,b", "a"],
    ["{x{a,b}", "{xb", "xb"],
    ["!*.md", "a.txt", "a.md"],
    ["!!*.md", "a.md", "a.txt"],
    ["./a/*", "a/b", "./b"],
    ["\\*.md", "*.md", "a.md"],
    ["\\{a,b\\}", "{a,b}", "a"],
    ["notes (1)*", "notes (1).md", "notes 1.md"],
    ["caf\u00e9*", "cafe\u0301.md", "cafe.md"],
    ["cafe\u0301*", "caf\u00e9.md", "cafe.md"],
  ])("%s takes %s and not %s", (glob, taken, left) => {
    expect(takes(glob, taken)).toBe(true);
    expect(takes(glob, left)).toBe(false);
  });

  test.each(["*", "a?", "[ab]", "[[]", "{a,b}", "{{a,b}", "{a}{b,c}", "{1..3}", "!a", "a/**"])(
    "is %s",
    (text) => {
      expect(isGlob(text)).toBe(true);
    },
  );

  test.each(["a.md", "a/b", "{a}", "{a}b,c}", "[", "[]", "[]a]", "a]", "notes (1).md", "-"])(
    "is not %s",
    (text) => {
      expect(isGlob(text)).toBe(false);
    },
  );

  test.each([
    ["@(a|b).md", "holds a group in parentheses"],
    ["!(a).md*", "holds a group in parentheses"],
    ["{1..201}", "stands for more than 200 patterns"],
    ["{a,b}".repeat(20), "stands for more than 200 patterns"],
    [`*${"a".repeat(5_000)}`, "has more than 500 characters"],
  ])("%.20s is refused with its reason", (glob, problem) => {
    expect(takes(glob, "a")).toContain(problem);
  });
});
