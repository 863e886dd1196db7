import { readdirSync, readFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { parseFrontmatter } from "../../src/worker/documents/frontmatter.ts";

const examples = fileURLToPath(new URL("../../examples/", import.meta.url));
const isHidden = (path: string): boolean => /(^|\/)\./.test(path);

/** Every file of the corpus, hidden ones too: path relative to `examples`, and its text. */
const everyFile = new Map(
  readdirSync(join(examples, "corpus"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [path.slice(examples.length), readFileSync(path, "utf8")] as const),
);
const notes = new Map([...everyFile].filter(([path]) => !isHidden(path)));
const hutBook = "corpus/log/season-2025.md";

const textOf = (path: string): string => everyFile.get(path) ?? "";
const bytesOf = (path: string): number => Buffer.byteLength(textOf(path));
const notesWith = (pattern: RegExp): string[] =>
  [...notes].filter(([, text]) => pattern.test(text)).map(([path]) => path);

const jobSchema = z.strictObject({
  custom_id: z.string(),
  kind: z.enum(["ask", "summarize", "embed", "chat"]),
  question: z.string().optional(),
  path: z.string().optional(),
  text: z.union([z.string(), z.array(z.string())]).optional(),
  prompt: z.string().optional(),
  options: z.strictObject({ path_prefix: z.string() }).optional(),
});
const goldSchema = z.strictObject({
  custom_id: z.string(),
  question: z.string(),
  path: z.string(),
  must_contain: z.string(),
});
const readLines = <T>(file: string, schema: z.ZodType<T>): T[] =>
  readFileSync(join(examples, file), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => schema.parse(JSON.parse(line)));

const jobs = readLines("batch.jsonl", jobSchema);
const golds = readLines("questions.jsonl", goldSchema);

describe("the example corpus", () => {
  test("is a small company's worth of notes in three formats", () => {
    const bytes = [...notes.keys()].reduce((sum, path) => sum + bytesOf(path), 0);
    expect(notes.size).toBeGreaterThanOrEqual(44);
    expect(bytes).toBeGreaterThan(135_000);
    expect(bytes).toBeLessThan(165_000);
    expect(new Set([...notes.keys()].map((path) => extname(path)))).toEqual(
      new Set([".md", ".txt", ".json"]),
    );
  });

  test("holds one long document and one empty file", () => {
    expect(bytesOf(hutBook)).toBeGreaterThanOrEqual(58_000);
    expect(bytesOf(hutBook)).toBeLessThanOrEqual(64_000);
    const empty = [...notes.keys()].filter((path) => bytesOf(path) === 0);
    expect(empty).toEqual(["corpus/minutes/2025-12-06-winter-meeting.md"]);
  });

  test.each([
    ["no block", "absent", "contracts/mule-contract.md"],
    ["a block", "present", "runbooks/start-the-turbine.md"],
    ["a byte order mark and a block", "present", "suppliers/supplier-log.md"],
    ["a block with CRLF", "present", "contracts/insurance.md"],
    ["a block of nothing", "empty", "contracts/land-lease.md"],
    ["a block of {}", "empty", "runbooks/internet-and-booking-outage.md"],
    ["a block that nobody closed", "unknown", "incidents/2024-09-08-stomach-bug.md"],
    ["a rule", "unknown", "people/house-rules-for-guests.md"],
    ["a list", "unknown", "incidents/2025-07-06-sock-on-the-stove.md"],
    ["broken YAML", "unknown", "incidents/2025-09-02-marmot-brake-hose.md"],
  ])("has a note that opens with %s: its metadata is %s", (_, expected, path) => {
    const { state, json } = parseFrontmatter(textOf(`corpus/${path}`));
    expect(json === "{}" ? "empty" : state).toBe(expected);
  });

  test("has one file with a byte order mark and one with CRLF lines", () => {
    expect(notesWith(/^\uFEFF/)).toEqual(["corpus/suppliers/supplier-log.md"]);
    expect(notesWith(/\r\n/)).toEqual(["corpus/contracts/insurance.md"]);
    expect(textOf("corpus/contracts/insurance.md")).not.toMatch(/[^\r]\n/);
  });

  test("shows the Markdown that a chunker must get right", () => {
    expect(notesWith(/^```sh\n# /m)).not.toEqual([]);
    expect(notesWith(/^\S.*\n={3,}\n/m).length).toBeGreaterThanOrEqual(2);
    expect(notesWith(/^\|(?: ?:?-+:? ?\|)+\r?$/m).length).toBeGreaterThanOrEqual(15);
    expect(notesWith(/^> /m).length).toBeGreaterThanOrEqual(4);
    const outline = textOf("corpus/kitchen/cookbook-outline.md").trimEnd().split("\n");
    expect(outline.filter((line) => !/^#{1,3} /.test(line))).toEqual([]);
  });

  test("has no wiki link that leads nowhere", () => {
    const names = new Set([...notes.keys()].flatMap((p) => [basename(p), basename(p, ".md")]));
    const targets = [...notes.values()]
      .flatMap((text) => [...text.matchAll(/\[\[([^\]#|\\]+)/g)])
      .map((match) => match[1] ?? "");
    expect(targets.length).toBeGreaterThanOrEqual(30);
    expect(targets.filter((target) => !names.has(target))).toEqual([]);
  });

  test("has one file name in two folders, and one hidden file", () => {
    const names = [...notes.keys()].map((path) => basename(path));
    const twice = names.filter((name, at) => names.indexOf(name) !== at);
    expect(twice).toEqual(["checklist.md"]);
    expect([...everyFile.keys()].filter(isHidden)).toEqual(["corpus/.drafts/salaries.md"]);
  });

  test("plants instructions to the model in one note only", () => {
    const planted = ["corpus/suppliers/letter-from-gipfelglanz.md"];
    expect(notesWith(/ignore all previous instructions/i)).toEqual(planted);
    expect(notesWith(/"type":"tool_call"/)).toEqual(planted);
    expect(notesWith(/^Scope: full evidence from read_text_file/m)).toEqual(planted);
  });

  test("keeps a hut book whose nights add up to what the assembly was told", () => {
    const season = textOf(hutBook).split("### Saturday 14 June")[1]?.split("### Sunday 5 October");
    const days = (season?.[0] ?? "").split(/^### /m);
    const counts = days.map((day) => /(\d+) guests/.exec(day)?.[1] ?? "0").map(Number);
    expect(counts).toHaveLength(113);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(3503);
    expect(textOf("corpus/minutes/2025-10-25-general-assembly.md")).toContain(
      "113 nights and 3,503 overnight stays",
    );
  });

  test("holds registers that are JSON", () => {
    const registers = [...notes].filter(([path]) => path.endsWith(".json"));
    expect(registers.length).toBeGreaterThanOrEqual(4);
    for (const [, text] of registers) expect(JSON.parse(text)).toBeInstanceOf(Object);
  });

  test("names nothing of the machine that it was written on", () => {
    const files = ["batch.jsonl", "questions.jsonl"].map((name) =>
      readFileSync(join(examples, name), "utf8"),
    );
    for (const text of [...everyFile.values(), ...files]) {
      expect(text).not.toContain(examples);
      expect(text).not.toMatch(/\/(home|Users|root|tmp|work|mnt|var)\//);
    }
  });
});

describe("the example batch", () => {
  const byKind = (kind: string): number => jobs.filter((job) => job.kind === kind).length;

  test("has jobs of every kind under ids of their own", () => {
    expect(jobs.length).toBeGreaterThanOrEqual(66);
    expect(new Set(jobs.map((job) => job.custom_id)).size).toBe(jobs.length);
    expect(byKind("ask")).toBeGreaterThanOrEqual(38);
    expect(byKind("summarize")).toBeGreaterThanOrEqual(16);
    expect([byKind("embed"), byKind("chat")]).toEqual([4, 2]);
  });

  test("summarises files with text in them, but for the jobs that must be refused", () => {
    const summaries = jobs.filter((job) => job.kind === "summarize");
    const hopeless = summaries.filter((job) => (notes.get(job.path ?? "") ?? "") === "");
    expect(hopeless.map((job) => job.custom_id)).toEqual([
      "refused-missing-file",
      "refused-hidden-file",
      "refused-traversal",
      "refused-absolute-path",
      "refused-empty-file",
      "refused-folder",
    ]);
  });

  test("asks two questions whose words stand nowhere in the corpus", () => {
    const corpus = [...notes.values()].join("\n").toLowerCase();
    const questions = jobs.filter((job) => job.custom_id.startsWith("refused-nothing-"));
    const words = questions.flatMap((job) => job.question?.toLowerCase().match(/\w+/g) ?? []);
    expect(questions).toHaveLength(2);
    expect(words.filter((word) => corpus.includes(word))).toEqual(["which", "did"]);
  });
});

describe("the questions with a known answer", () => {
  test("are asked by the batch, at least thirty of them", () => {
    const asked = new Map(jobs.map((job) => [job.custom_id, job.question]));
    expect(golds.length).toBeGreaterThanOrEqual(30);
    expect(golds.filter((gold) => asked.get(gold.custom_id) !== gold.question)).toEqual([]);
  });

  test("find their answer in the file that is named", () => {
    const lost = golds.filter((gold) => !notes.get(gold.path)?.includes(gold.must_contain));
    expect(lost).toEqual([]);
  });

  test("do not carry their answer in themselves", () => {
    expect(golds.filter((gold) => gold.question.includes(gold.must_contain))).toEqual([]);
  });
});
