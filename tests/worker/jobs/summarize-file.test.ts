import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { SummarizeInput } from "../../../src/shared/job/job.ts";
import type { PartRecord, RunResult } from "../../../src/shared/job/run-result.ts";
import type { RunEnd } from "../../../src/shared/job/settlement.ts";
import { startTrace } from "../../../src/worker/run-trace.ts";
import type { CallLog, RecordedReply } from "../../../src/worker/evidence/types.ts";
import { summarizeFile } from "../../../src/worker/jobs/summarize.ts";
import { UNLIMITED } from "../../../src/worker/models/limiter.ts";
import { scripted, SETTINGS, sha256Of, userText, worldOf } from "../../support/pipeline-world.ts";
import type { World } from "../../support/pipeline-world.ts";
import { boundaryIn, piecesIn, readingModel } from "../../support/reading-model.ts";
import type { ReadingModel } from "../../support/reading-model.ts";

async function summarize(
  world: World & { readonly options?: SummarizeInput["options"] },
): Promise<{ readonly outcome: RunEnd; readonly record: Omit<RunResult, "outcome"> }> {
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
    expect(record.models.map(({ pass, model }) => [pass, model])).toEqual([["second", "scripted"]]);
    expect(model.requests[0]?.task).toMatchObject({
      purpose: "summarize",
      title: "Rail",
      sentences: 5,
    });
  });

  test("is not summarised by a lead-in, unless it holds nothing else", async () => {
    const leadIn = "Here is a summary:";
    const models = [scripted([leadIn, leadIn])];
    const { outcome } = await summarize({ files: { "a.md": text }, models });
    expect(outcome).toMatchObject({ code: "SECOND_PASS_FORMAT_VIOLATION" });
    const questions = await summarize({
      files: { "a.md": "# Rail\n\nWhen do trains run?\n" },
      models: [scripted(["When do trains run?"])],
    });
    expect(questions.outcome).toMatchObject({ kind: "succeeded" });
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

const chars = (text: string): number => Array.from(text).length;
const coverage = (text: string): string =>
  `Scope: full evidence from read_text_file (${chars(text)}/${chars(text)}), sha256=${sha256Of(text)}`;

/** The levels of a record, each of which must cover the file from its first character to its last. */
function expectCovered(text: string, parts: readonly PartRecord[]): void {
  for (const level of new Set(parts.map((part) => part.level))) {
    let position = 0;
    for (const [ordinal, part] of parts.filter((one) => one.level === level).entries()) {
      expect(part).toMatchObject({ ordinal, startChar: position });
      position = part.endChar;
    }
    expect(position).toBe(chars(text));
  }
}

const leavesIn = (parts: readonly PartRecord[]): number =>
  parts.filter(({ level }) => level === 0).length;

describe("a file beyond the window", () => {
  const lines = Array.from({ length: 400 }, (_, index) => `Line number ${index} of the file.`);
  const text = `${lines.join("\n")}\n`;

  test("is summarised in parts that show every line, and the footer counts them", async () => {
    const model = readingModel({ promptChars: 7_000 }, () => "A part [1].");
    const { outcome, record } = await summarize({ files: { "a.md": text }, models: [model] });
    const parts = record.replies.filter(({ pass }) => pass === "part").length;
    expect(parts).toBeGreaterThan(2);
    expect(outcome).toMatchObject({ scope: `${coverage(text)}, parts=${parts}` });
    expect(model.taken.slice(0, parts).flatMap(piecesIn).join("")).toBe(text);
    expect(piecesIn(model.taken.at(-1))).toEqual(new Array(parts).fill("A part."));
    expectCovered(text, record.parts);
  });

  test("states of each part no more than the part, in a frame of its own", async () => {
    const model = readingModel({ promptChars: 7_000 }, () => "A part [1].");
    const { record } = await summarize({ files: { "a.md": text }, models: [model] });
    for (const [index, { startChar, endChar }] of record.parts.entries()) {
      expect(userText(model.taken[index])).toContain(
        `Scope: partial evidence from read_text_file (${endChar - startChar}/${text.length})`,
      );
    }
    expect(new Set(model.taken.map(boundaryIn)).size).toBe(model.taken.length);
  });

  test("cites in its summary the lines of the parts", async () => {
    const model = readingModel({ promptChars: 7_000 }, () => "All [2].");
    const { outcome, record } = await summarize({ files: { "a.md": text }, models: [model] });
    const { lineStart, lineEnd } = record.parts[1] ?? {};
    expect(outcome).toMatchObject({ citations: [{ path: "a.md", lineStart, lineEnd }] });
  });

  test("whose partial summaries overflow too is combined in layers, each of which covers it", async () => {
    const long = "A partial summary that is rather long. ".repeat(10);
    const model = readingModel({ promptChars: 6_000 }, () => long);
    const { outcome, record } = await summarize({ files: { "a.md": text }, models: [model] });
    expect(Math.max(...record.parts.map(({ level }) => level))).toBeGreaterThan(0);
    expect(outcome).toMatchObject({ scope: `${coverage(text)}, parts=${leavesIn(record.parts)}` });
    expect(record.replies.at(-1)?.pass).toBe("second");
    expectCovered(text, record.parts);
  });

  test("is refused when the window can't even hold two partial summaries", async () => {
    const model = readingModel({ promptChars: 3_600 }, () => "long ".repeat(200));
    const { outcome } = await summarize({ files: { "a.md": text }, models: [model] });
    expect(outcome).toMatchObject({ code: "CONTEXT_OVERFLOW" });
  });

  test("is not refused for a part with nothing in it, which goes on record as that", async () => {
    const model = readingModel({ promptChars: 7_000 }, (request) =>
      piecesIn(request)[0]?.includes("Line number 0 ") === true
        ? "INSUFFICIENT_EVIDENCE"
        : "A part.",
    );
    const { outcome, record } = await summarize({ files: { "a.md": text }, models: [model] });
    expect(record.parts[0]).toMatchObject({ startChar: 0, summary: "INSUFFICIENT_EVIDENCE" });
    expect(outcome).toMatchObject({ scope: `${coverage(text)}, parts=${record.parts.length}` });
    expect(piecesIn(model.taken.at(-1))).toHaveLength(record.parts.length - 1);
    expectCovered(text, record.parts);
  });

  test("is refused when there is nothing in any part", async () => {
    const model = readingModel({ promptChars: 7_000 }, () => "INSUFFICIENT_EVIDENCE");
    const { outcome } = await summarize({ files: { "a.md": text }, models: [model] });
    expect(outcome).toMatchObject({ code: "EVIDENCE_NOT_ACQUIRED" });
  });

  test("is refused when one part is, with the place of that part", async () => {
    const model = readingModel({ promptChars: 7_000 }, () => "a | b\n--- | ---");
    const { outcome, record } = await summarize({ files: { "a.md": text }, models: [model] });
    expect(outcome).toMatchObject({
      code: "SECOND_PASS_FORMAT_VIOLATION",
      message: expect.stringMatching(/^Lines 1 to \d+ of a.md: /),
    });
    expect(record.replies).toHaveLength(2);
  });
});

test("whatever the text and the window: a summary rests on levels that each cover the whole file", async () => {
  const piece = fc.constantFrom(
    "\n",
    "\r\n",
    "\r",
    "\n# Head\n",
    ". ",
    "word ",
    "🚲",
    "火车",
    "x".repeat(90),
  );
  const texts = fc
    .array(piece, { minLength: 1, maxLength: 300 })
    .map((pieces) => `Trains.${pieces.join("")}`);
  const promptChars = fc.integer({ min: 4_000, max: 7_000 });
  const weight = fc.integer({ min: 2_400, max: 12_000 });
  await fc.assert(
    fc.asyncProperty(texts, promptChars, weight, async (text, chars, most) => {
      const model = readingModel({ promptChars: chars, weight: most }, (request) =>
        piecesIn(request).length % 3 === 2 ? "INSUFFICIENT_EVIDENCE" : "Words of it. ".repeat(20),
      );
      const { outcome, record } = await summarize({ files: { "a.md": text }, models: [model] });
      if (outcome.kind === "refused") {
        expect(["CONTEXT_OVERFLOW", "EVIDENCE_NOT_ACQUIRED"]).toContain(outcome.code);
        return;
      }
      const leaves = leavesIn(record.parts);
      const parts = leaves === 0 ? "" : `, parts=${leaves}`;
      expect(outcome).toMatchObject({ kind: "succeeded", scope: `${coverage(text)}${parts}` });
      expectCovered(text, record.parts);
    }),
    { numRuns: 60 },
  );
});

describe("a summary in parts that was cut off", () => {
  const text = "Trains run hourly on every line.\n".repeat(600);

  test("goes on at the part where it stopped, and ends in the same words", async () => {
    const kept = new Map<string, RecordedReply>();
    const calls: CallLog = {
      recall: async (request) => kept.get(request),
      commit: async (call) => void kept.set(call.requestSha256, call),
      limiter: UNLIMITED,
    };
    const summarizeWith = (model: ReadingModel): Promise<RunEnd> =>
      summarizeFile(
        { jobId: "j", input: { kind: "summarize", path: "a.md" } },
        { ...worldOf({ files: { "a.md": text }, models: [model] }), calls },
        startTrace(),
        new AbortController().signal,
      );
    const dying = readingModel({ promptChars: 7_000 }, () => {
      if (kept.size === 3) throw new Error("the host died");
      return "A part.";
    });
    await expect(summarizeWith(dying)).rejects.toThrow("the host died");
    const second = readingModel({ promptChars: 7_000 }, () => "A part.");
    const whole = readingModel({ promptChars: 7_000 }, () => "A part.");
    const outcome = await summarizeWith(second);
    kept.clear();
    expect(await summarizeWith(whole)).toEqual(outcome);
    expect(second.requests).toHaveLength(whole.requests.length - 3);
  });
});

describe("text that is denser than its length says", () => {
  test.each([
    ["Chinese", "火车每小时运行一次。\n".repeat(900)],
    ["one line of emoji", "🚲🚂".repeat(1_500)],
    [
      "one dense page among light ones",
      `${"Trains run. ".repeat(400)}${"密".repeat(2_500)}${" Buses too.".repeat(400)}`,
    ],
  ])("%s is cut again where it overflows, and covered", async (_, text) => {
    const model = readingModel({ promptChars: 9_000, weight: 9_000 }, () => "A part.");
    const { outcome, record } = await summarize({ files: { "a.md": text }, models: [model] });
    expect(outcome).toMatchObject({ scope: `${coverage(text)}, parts=${leavesIn(record.parts)}` });
    expect(
      model.taken
        .filter(({ messages }) => !/summaries/.test(messages[0]?.content ?? ""))
        .flatMap(piecesIn)
        .join(""),
    ).toBe(text);
    expect(model.requests.length - model.taken.length).toBeLessThanOrEqual(model.taken.length);
    expectCovered(text, record.parts);
  });

  test("summaries that are too dense to be combined at once are combined in smaller groups", async () => {
    const model = readingModel({ promptChars: 9_000, weight: 9_000 }, () =>
      "火车每小时。".repeat(40),
    );
    const text = "Trains run hourly.\n".repeat(2_000);
    const { outcome, record } = await summarize({ files: { "a.md": text }, models: [model] });
    expect(outcome).toMatchObject({ scope: `${coverage(text)}, parts=${leavesIn(record.parts)}` });
    expect(record.parts.some(({ level }) => level > 0)).toBe(true);
    expectCovered(text, record.parts);
  });
});

describe("2 MB of text", () => {
  const settings = { ...SETTINGS, ask: { ...SETTINGS.ask, max_chars_full_read: 10_000_000 } };
  const line = (index: number): string =>
    `Item ${index}: trains run hourly on line ${index % 97}.\n`;
  const book = Array.from({ length: 50_000 }, (_, index) => line(index)).join("");

  test("is summarised with a footer that states full coverage", async () => {
    expect(book.length).toBeGreaterThan(2_000_000);
    const model = readingModel({ promptChars: 17_000 }, () => "Trains run hourly on many lines.");
    const { outcome, record } = await summarize({
      files: { "a.md": book },
      models: [model],
      settings,
    });
    const parts = leavesIn(record.parts);
    expect(parts).toBeGreaterThan(150);
    expect(outcome).toMatchObject({
      kind: "succeeded",
      scope: `Scope: full evidence from read_text_file (${book.length}/${book.length}), sha256=${sha256Of(book)}, parts=${parts}`,
    });
    expect(model.taken.slice(0, parts).flatMap(piecesIn).join("")).toBe(book);
    expectCovered(book, record.parts);
  });
});
