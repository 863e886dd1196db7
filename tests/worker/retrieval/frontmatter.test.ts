import { describe, expect, test } from "@jest/globals";
import { readFrontmatter } from "../../../src/worker/retrieval/frontmatter.ts";

const read = (yaml: string) => readFrontmatter(`---\n${yaml}\n---\n# Text\n`);

describe("frontmatter", () => {
  test("a mapping is read, and the text begins on the line after it", () => {
    const found = readFrontmatter("\uFEFF--- \r\ntitle: ' Rail '\r\ntags: [a, b]\r\n---\r\ntext");
    expect(found).toMatchObject({ state: "present", firstLine: 4, title: "Rail" });
    expect(JSON.parse(found.json ?? "")).toEqual({ title: " Rail ", tags: ["a", "b"] });
  });

  test("an empty mapping is one", () => {
    expect(readFrontmatter("---\n---\ntext")).toMatchObject({ state: "present", json: "{}" });
  });

  test.each(["# Title\n\n---\na: 1\n---\n", "", "----\na: 1\n---\n", " ---\na: 1\n---\n"])(
    "%j has none",
    (text) => {
      expect(readFrontmatter(text)).toMatchObject({ state: "absent", firstLine: 0 });
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
    ["nesting beyond any stack", `---\na: ${"[".repeat(30_000)}\n---\n`],
    ["more than anybody writes", `---\na: ${"x".repeat(70_000)}\n---\n`],
  ])("%s is unknown, and stays text", (_name, text) => {
    const startedAt = performance.now();
    expect(readFrontmatter(text)).toMatchObject({ state: "unknown", json: null, firstLine: 0 });
    expect(performance.now() - startedAt).toBeLessThan(3_000);
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
