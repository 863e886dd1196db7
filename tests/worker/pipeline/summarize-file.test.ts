import { describe, expect, test } from "@jest/globals";
import type { SummarizeInput } from "../../../src/shared/job.ts";
import type { Outcome, RunResult } from "../../../src/shared/run-result.ts";
import { startTrace } from "../../../src/shared/run-trace.ts";
import type { Model } from "../../../src/worker/model/model.ts";
import { summarizeFile } from "../../../src/worker/pipeline/summarize-file.ts";
import { scripted, SETTINGS, sha256Of, userText, worldOf } from "./pipeline-world.ts";
import type { World } from "./pipeline-world.ts";

async function summarize(
  world: World & { readonly options?: SummarizeInput["options"] },
): Promise<{ readonly outcome: Outcome; readonly record: Omit<RunResult, "outcome"> }> {
  const trace = startTrace();
  const options = world.options === undefined ? {} : { options: world.options };
  const input: SummarizeInput = { kind: "summarize", path: "a.md", ...options };
  const { signal } = new AbortController();
  const outcome = await summarizeFile({ jobId: "j", input }, worldOf(world), trace, signal);
  return { outcome, record: trace.record() };
}

const footerOf = (text: string): string =>
  `Scope: full evidence from read_text_file (${text.length}/${text.length}), sha256=${sha256Of(text)}`;

describe("a file that fits", () => {
  const text = "# Rail\n\nTrains run hourly.\n";

  test("is summarised by one call, with the full footer", async () => {
    const model = scripted(["Trains run hourly."]);
    const { outcome, record } = await summarize({ files: { "a.md": text }, models: [model] });
    expect(outcome).toMatchObject({
      kind: "succeeded",
      answer: `Trains run hourly.\n${footerOf(text)}`,
      scope: footerOf(text),
    });
    expect(record.events.map(({ step }) => step)).toEqual([
      "tool_call",
      "gate",
      "second_pass",
      "check",
    ]);
    expect(record.models).toEqual({ first: null, second: "scripted" });
    expect(model.requests[0]?.task).toMatchObject({
      purpose: "summarize",
      title: "Rail",
      sentences: 5,
    });
  });

  test("takes length and style from the options", async () => {
    const model = scripted(["- Trains run hourly."]);
    const options = { length: "long", bullets: true } as const;
    await summarize({ files: { "a.md": text }, models: [model], options });
    expect(model.requests[0]?.task).toMatchObject({ sentences: 10, style: "bullets" });
  });

  test.each([
    ["an empty file", "", "FILE_EMPTY"],
    ["a blank file", "\n \n", "FILE_EMPTY"],
  ])("%s is refused without a model", async (_, content, code) => {
    const { outcome, record } = await summarize({
      files: { "a.md": content },
      models: [scripted([])],
    });
    expect(outcome).toMatchObject({ code });
    expect(record.evidence).toMatchObject([{ admitted: false, rejectedReason: code }]);
  });

  test("a missing file is refused with the sandbox's code", async () => {
    expect((await summarize({ models: [] })).outcome).toMatchObject({ code: "FILE_NOT_FOUND" });
  });

  test("a file over the cap is refused with its counts", async () => {
    const settings = { ...SETTINGS, ask: { ...SETTINGS.ask, max_chars_full_read: 300 } };
    const world = { files: { "a.md": "x".repeat(301) }, models: [scripted([])], settings };
    const { outcome } = await summarize(world);
    expect(outcome).toMatchObject({
      code: "EVIDENCE_TRUNCATED",
      message: expect.stringContaining("300 of its 301"),
    });
  });
});

/** A model that answers every summary alike and remembers what it was shown. */
function reader(promptChars: number, reply: string): Model & { readonly shown: string[] } {
  const shown: string[] = [];
  return {
    ...scripted([]),
    shown,
    promptChars: () => promptChars,
    async complete(request) {
      shown.push(userText(request));
      return {
        kind: "reply",
        text: reply,
        promptTokens: 1,
        completionTokens: 1,
        loadMs: 0,
        doneReason: "stop",
      };
    },
  };
}

describe("a file beyond the window", () => {
  const lines = Array.from({ length: 400 }, (_, index) => `Line number ${index} of the file.`);
  const text = `${lines.join("\n")}\n`;

  test("is summarised in parts that show every line, and the footer counts them", async () => {
    const model = reader(7_000, "A part [1].");
    const { outcome, record } = await summarize({ files: { "a.md": text }, models: [model] });
    const parts = record.replies.filter(({ pass }) => pass === "part").length;
    expect(parts).toBeGreaterThan(2);
    expect(outcome).toMatchObject({ scope: `${footerOf(text)}, parts=${parts}` });
    for (const line of lines)
      expect(model.shown.filter((part) => part.includes(line))).toHaveLength(1);
    expect(model.shown.at(-1)).not.toContain("A part [1]");
  });

  test("whose partial summaries overflow too is combined in layers", async () => {
    const model = reader(4_500, "A partial summary that is rather long. ".repeat(10));
    const { outcome, record } = await summarize({ files: { "a.md": text }, models: [model] });
    const first = Math.ceil(text.length / 1_500);
    expect(outcome).toMatchObject({ scope: expect.stringMatching(/, parts=\d+$/) });
    expect(record.replies.length).toBeGreaterThan(first + 2);
    expect(record.replies.at(-1)?.pass).toBe("second");
  });

  test("is refused when the window can't even hold two partial summaries", async () => {
    const model = reader(3_600, "long ".repeat(200));
    const { outcome } = await summarize({ files: { "a.md": text }, models: [model] });
    expect(outcome).toMatchObject({ code: "CONTEXT_OVERFLOW" });
  });
});
