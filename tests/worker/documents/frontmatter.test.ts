import { describe, expect, test } from "@jest/globals";
import { parseFrontmatter, withFileMetadata } from "../../../src/worker/documents/frontmatter.ts";
import { timeTaken } from "../../support/time-taken.ts";

const read = (yaml: string) => parseFrontmatter(`---\n${yaml}\n---\n# Text\n`);

describe("frontmatter", () => {
  test("a mapping is read, and the text begins on the line after it", () => {
    const found = parseFrontmatter("\uFEFF--- \r\ntitle: ' Rail '\r\ntags: [a, b]\r\n---\r\ntext");
    expect(found).toMatchObject({ state: "present", firstLine: 4, title: "Rail" });
    expect(JSON.parse(found.json ?? "")).toEqual({ title: " Rail ", tags: ["a", "b"] });
  });

  test("has its problem, or the properties of the file beside its own", () => {
    const metadata = { encoding: "windows-1252", title: "File" };
    const broken = parseFrontmatter("---\ntitle: a\n");
    expect(withFileMetadata(broken, metadata)).toEqual(broken);
    expect(withFileMetadata(parseFrontmatter("words"), metadata)).toMatchObject({
      ...{ state: "present", title: "File", json: JSON.stringify(metadata) },
    });
  });

  test("an empty mapping is one", () => {
    expect(parseFrontmatter("---\n---\ntext")).toMatchObject({ state: "present", json: "{}" });
  });

  test.each(["# Title\n\n---\na: 1\n---\n", "", "----\na: 1\n---\n", " ---\na: 1\n---\n"])(
    "%j has none",
    (text) => {
      expect(parseFrontmatter(text)).toMatchObject({ state: "absent", firstLine: 0 });
    },
  );

  test.each([
    ["not closed", "---\ntitle: a\n"],
    ["a note that opens with a rule", "---\nOnly prose.\n---\n"],
    ["a list", "---\n- a\n- b\n---\n"],
    ["an error", "---\na: [1\n---\n"],
    ["a key twice", "---\na: 1\na: 2\n---\n"],
    ["a custom tag", "---\na: !!python/object:os.system x\n---\n"],
    ["an alias", "---\na: &x [1]\nb: *x\n---\n"],
    ["an alias bomb", `---\na: &a [x]\n${bomb()}\n---\n`],
    ["a merge of itself", "---\na: &a\n  <<: *a\n---\n"],
    ["a second document", "---\na: 1\n...\nb: 2\n---\n"],
    ["nesting that is deeper than 32 levels", `---\na: ${"[".repeat(32)}${"]".repeat(32)}\n---\n`],
    ["more than anybody writes", `---\na: ${"x".repeat(70_000)}\n---\n`],
  ])("%s is unknown, and stays text", (_name, text) => {
    expect(parseFrontmatter(text)).toMatchObject({ state: "unknown", json: null, firstLine: 0 });
    expect(timeTaken(() => parseFrontmatter(text), 3_000)).toBeLessThan(3_000);
  });

  test.each([
    ["not closed", "---\ntitle: a\n", "does not end with a line of ---"],
    ["too long", `---\na: ${"x".repeat(70_000)}\n---\n`, "does not end within 16,384 characters"],
    ["prose", "---\nOnly prose.\n---\n", "is a text and no mapping of names to values"],
    ["a list", "---\n- a\n---\n", "is a list and no mapping of names to values"],
    ["a key twice", "---\na: 1\nb: 2\na: 3\n---\n", "is not valid YAML: duplicate key on line 4"],
    ["a tag", "---\na: !secret x\n---\n", "is not valid YAML: tag resolve failed on line 2"],
    ["two documents", "---\na: 1\n...\nb: 2\n---\n", "holds several YAML documents"],
    ["an alias", "---\na: &x [1]\nb: *x\n---\n", "has aliases, which can grow without end"],
  ])("%s: says why it can't be read, and nothing of what it holds", (_name, text, problem) => {
    expect(parseFrontmatter(text).problem).toBe(problem);
  });

  test.each([
    ["aliases", "a: &x [1]\nb: *x", "aliases"],
    ["nesting", `a: ${"[".repeat(40)}${"]".repeat(40)}`, "32 levels"],
    ["an error", "a: [1", null],
  ])("%s are told from what is only wrong", (_name, yaml, danger) => {
    expect(read(yaml).danger).toEqual(danger === null ? null : expect.stringContaining(danger));
  });

  test("nesting that somebody writes is read", () => {
    const { json } = read(`a: ${"[".repeat(30)}1${"]".repeat(30)}`);
    expect(json).toBe(`{"a":${"[".repeat(30)}1${"]".repeat(30)}}`);
  });

  test("what JSON or Postgres does not know is written as they do", () => {
    const { json } = read('a: .nan\nb: "x\\0y \\ud800 \\\\u0000"\nc: 2024-05-01\n1: one');
    expect(JSON.parse(json ?? "")).toEqual({
      a: "NaN",
      b: "x\uFFFDy \uFFFD \\u0000",
      c: "2024-05-01",
      "1": "one",
    });
  });
});

function bomb(): string {
  const names = "abcdefgh".split("");
  return names
    .slice(1)
    .map(
      (name, at) =>
        `${name}: &${name} [${Array(9)
          .fill(`*${names[at] ?? ""}`)
          .join(",")}]`,
    )
    .join("\n");
}
