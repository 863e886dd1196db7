import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { IGNORE_FILE } from "../../../src/worker/index/ignore-rules.ts";
import { listFiles } from "../../../src/worker/index/list-files.ts";

const FILES = [
  "a.md",
  "b.md",
  "B.md",
  "drafts/a.md",
  "drafts/deep/b.md",
  "drafts/deep/keep.md",
  "build/a.md",
  "sub/build/a.md",
  "sub/drafts/b.md",
  "sub/with space.md",
  "#odd.md",
  "a [b]*/a.md",
  "aaaaaaaaaa.md",
  "x-y/1.md",
  "x-y/].md",
  "x-y/^.md",
  "x-y/back\\slash.md",
  "x-y/tab\t.md",
];

describe("an ignore file", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "nightdesk-ignore-"));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  const write = (path: string, text: string | Buffer) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  const list = () => listFiles({ folder, label: "notes" }, new Set([".md"]));
  const listed = async () => {
    const listing = await list();
    return listing.kind === "missing" ? [] : listing.files.map(({ relativePath }) => relativePath);
  };
  /** What git would track, given the same rules in its own files. */
  const byGit = () => {
    const git = (...words: string[]) =>
      execFileSync("git", ["-c", "core.quotePath=false", "-C", folder, ...words], {
        encoding: "utf8",
        env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" },
      });
    git("init", "--quiet");
    return git("ls-files", "--others", "--exclude-standard", "-z")
      .split("\0")
      .filter((path) => path.endsWith(".md"))
      .sort();
  };
  const writeRules = (rules: Readonly<Record<string, string>>) => {
    for (const file of FILES) write(file, "text");
    for (const [place, text] of Object.entries(rules)) {
      write(join(place, IGNORE_FILE), text);
      write(join(place, ".gitignore"), text);
    }
  };

  test.each([
    ["a name anywhere", { "": "a.md" }],
    ["an anchored name", { "": "/a.md" }],
    ["a folder", { "": "build/" }],
    ["a pattern with an exception", { "": "*.md\n!b.md" }],
    ["two stars", { "": "drafts/**/b.md\n**/build" }],
    ["a comment, an escaped hash and blanks at the end", { "": "# a.md\n\\#odd.md\na.md  \n" }],
    ["a name with a blank", { "": "with space.md" }],
    ["CRLF and a byte order mark", { "": "\uFEFFa.md\r\nbuild/\r\n" }],
    ["letters as they are written", { "": "b.md" }],
    ["a class of characters", { "": "[ab].md" }],
    ["a nested file that brings back what the outer one leaves out", { "": "b.md", sub: "!b.md" }],
    ["a nested file with an anchored name", { drafts: "/deep" }],
    ["a nested file in a folder of an odd name", { "a [b]*": "/a.md" }],
    ["a nested file that brings back a folder", { "": "deep", drafts: "!deep" }],
    ["an exception below a folder that is left out", { "": "drafts/\n!drafts/deep/keep.md" }],
    ["an exception below a pattern for files", { "": "drafts/deep/*\n!drafts/deep/keep.md" }],
    ["many stars in one name", { "": "*a*a*a*a*a*a*.md\n*a*a*b" }],
    ["three stars and more", { "": "***/deep/***\nsub***\n" }],
    ["two stars that are no folder", { "": "dr**ts/a.md\nsub/**b.md" }],
    [
      "all below a folder but its own name",
      { "": "drafts/**\n!drafts/deep\n!drafts/deep/keep.md" },
    ],
    ["folders at any depth in one of a name", { "": "**/drafts/**/*.md" }],
    ["a slash in the middle", { "": "sub/build\ndeep/b.md" }],
    ["a folder that a file has the name of", { "": "a.md/\n/drafts/a.md/" }],
    ["one character, never a slash", { "": "?.md\ndrafts?deep/b.md" }],
    ["a star, never a slash", { "": "drafts*b.md\nsub/*" }],
    ["characters that mean themselves", { "": "\\a.md\na\\ \\[b]\\*/a.md\nback\\\\slash.md" }],
    ["a slash that means itself", { "": "drafts\\/a.md\n**\\/deep\\/b.md" }],
    ["an exclamation mark that means itself", { "": "a.md\n\\!a.md" }],
    ["an exception that comes first", { "": "!a.md\na.md" }],
    ["a blank that is kept and those that are not", { "": "a.md\\ \nb.md \\  \nbuild/   \n" }],
    ["a tab at the end", { "": "a.md\t\nb.md" }],
    [
      "sets with ranges, not in them, and in reverse",
      { "": "[a-c].md\n[!a-z]*.md\n[z-a].md\n[1-]*" },
    ],
    ["sets of signs", { "": "[]].md\n[\\^].md\nback[\\\\]*" }],
    [
      "sets by a name, also one that there is not",
      { "": "[[:digit:]].md\ntab[[:space:]]*\n[[:odd:]]*" },
    ],
    ["sets and a slash", { "": "drafts[/]a.md\ndrafts[!a]a.md" }],
    ["patterns that match nothing", { "": "[a\na.md\\\n!\n/\n//\ndrafts//a.md\n/**/" }],
    ["a nested file with two stars and more", { drafts: "**/b.md\n/**/keep.md\n", sub: "*/" }],
  ])("leaves out as git does: %s", async (_name, rules) => {
    writeRules(rules);
    expect(await listed()).toEqual(byGit());
  });

  test("leaves out as git does, whatever the rules", async () => {
    const names = ["a.md", "b.md", "build", "drafts", "deep", "*", "**", "[ab]*", "?.md", "*e*p"];
    const rule = fc
      .tuple(
        fc.constantFrom("", "!", "/", "!/"),
        fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }),
        fc.constantFrom("", "/"),
      )
      .map(([before, parts, slash]) => before + parts.join("/") + slash);
    const rules = fc.array(rule, { maxLength: 4 }).map((lines) => lines.join("\n"));
    await fc.assert(
      fc.asyncProperty(rules, rules, async (outer, inner) => {
        writeRules({ "": outer, drafts: inner });
        expect(await listed()).toEqual(byGit());
      }),
      { numRuns: 40 },
    );
  }, 60_000);

  test.each([
    [
      "a link",
      () => {
        symlinkSync("/etc/hostname", join(folder, "sub", IGNORE_FILE));
      },
    ],
    ["a named pipe", () => execFileSync("mkfifo", [join(folder, "sub", IGNORE_FILE)])],
    [
      "over 64 KB",
      () => {
        write(`sub/${IGNORE_FILE}`, "a.md\n".repeat(20_000));
      },
    ],
    [
      "written in UTF-16",
      () => {
        write(`sub/${IGNORE_FILE}`, Buffer.from("\uFEFFb.md\n", "utf16le"));
      },
    ],
    [
      "over 64 KB with those above",
      () => {
        write(IGNORE_FILE, "a.html\n".repeat(6_000));
        write(`sub/${IGNORE_FILE}`, "a.html\n".repeat(6_000));
      },
    ],
  ])("that is %s leaves its folder as it was, and says so", async (_name, plant) => {
    write("a.md", "text");
    write("sub/b.md", "text");
    plant();
    expect(await list()).toMatchObject({
      files: [{ relativePath: "a.md" }],
      unreadable: ["sub"],
      failures: [{ path: `notes/sub/${IGNORE_FILE}`, code: "FILE_READ_ERROR" }],
    });
  });

  test("counts no rule of a folder above that can match nothing below", async () => {
    write("sub/b.md", "text");
    write(IGNORE_FILE, "/a.html\n".repeat(8_000));
    write(`sub/${IGNORE_FILE}`, "b.md\n");
    expect(await list()).toMatchObject({ files: [], ignored: 1, unreadable: [] });
  });
});
