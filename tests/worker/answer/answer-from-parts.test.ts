import { describe, expect, test } from "@jest/globals";
import type { RunResult } from "../../../src/shared/job/run-result.ts";
import type { RunEnd } from "../../../src/shared/job/settlement.ts";
import { startTrace } from "../../../src/worker/run-trace.ts";
import { answerQuestion } from "../../../src/worker/jobs/ask.ts";
import type { Model } from "../../../src/worker/models/model.ts";
import {
  callFor,
  passageOf,
  scripted,
  SETTINGS,
  sha256Of,
  worldOf,
} from "../../support/pipeline-world.ts";
import type { World } from "../../support/pipeline-world.ts";
import { boundaryIn, piecesIn, readingModel } from "../../support/reading-model.ts";
import type { ReadingModel } from "../../support/reading-model.ts";

const PATH = "corpus/minutes.md";
const LINES = Array.from({ length: 600 }, (_, index) => `Item ${index}: nothing was decided.`);
LINES[17] = "The fare rises to 5 EUR in May.";
LINES[540] = "The fare falls to 3 EUR in June.";
const TEXT = `${LINES.join("\n")}\n`;
const FULL = `Scope: full evidence from read_text_file (${TEXT.length}/${TEXT.length}), sha256=${sha256Of(TEXT)}`;
const QUESTION = `Give a thorough answer: what happens to the fare in ${PATH}?`;

type Run = { readonly outcome: RunEnd; readonly record: Omit<RunResult, "outcome"> };

async function ask(model: Model, world: Partial<World> = {}, question = QUESTION): Promise<Run> {
  const trace = startTrace();
  const deps = worldOf({ files: { [PATH]: TEXT }, models: [model], ...world });
  const input = { kind: "ask", question } as const;
  const { signal } = new AbortController();
  const outcome = await answerQuestion({ jobId: "job", input }, deps, trace, signal);
  return { outcome, record: trace.record() };
}

const isLast = (text: string): boolean => text.includes("numbered notes");

/** Notes each sentence on the fare, and answers with all that it was shown. */
const clerk = (window: { readonly promptChars: number; readonly weight?: number }): ReadingModel =>
  readingModel(window, (request) => {
    const pieces = piecesIn(request);
    const isFinal = isLast(request.messages[0]?.content ?? "");
    const found = pieces.flatMap((piece, index) =>
      Array.from(
        piece.matchAll(/The fare[^.]*\./g),
        ([note]) => `${note.slice(0, -1)} [${index + 1}].`,
      ),
    );
    if (found.length === 0) return "INSUFFICIENT_EVIDENCE";
    return isFinal ? `In short: ${found.join(" ")}` : found.join(" ");
  });

describe("a question for the whole of a file beyond the window", () => {
  test("is answered from notes on its parts, which cite the lines of the parts", async () => {
    const model = clerk({ promptChars: 9_000 });
    const { outcome, record } = await ask(model);
    const leaves = record.parts.filter(({ level }) => level === 0);
    expect(leaves.length).toBeGreaterThan(3);
    expect(outcome).toMatchObject({
      kind: "succeeded",
      answer: `In short: The fare rises to 5 EUR in May [1]. The fare falls to 3 EUR in June [2].\n${FULL}, parts=${leaves.length}`,
      scope: `${FULL}, parts=${leaves.length}`,
    });
    const spans = leaves.filter(({ summary }) => summary !== "INSUFFICIENT_EVIDENCE");
    expect(spans).toHaveLength(2);
    expect(outcome).toMatchObject({
      citations: spans.map(({ lineStart, lineEnd }) => ({
        path: PATH,
        chunkKey: null,
        lineStart,
        lineEnd,
      })),
    });
    expect(spans[0]?.lineStart).toBeLessThanOrEqual(18);
    expect(spans[0]?.lineEnd).toBeGreaterThanOrEqual(18);
  });

  test("shows every line of the file once, in a frame of its own for each part", async () => {
    const model = clerk({ promptChars: 9_000 });
    await ask(model);
    const parts = model.taken.filter(({ messages }) =>
      /is too long to be read/.test(messages[0]?.content ?? ""),
    );
    expect(parts.flatMap(piecesIn).join("")).toBe(TEXT);
    expect(new Set(model.taken.map(boundaryIn)).size).toBe(model.taken.length);
  });

  test("keeps each part on record: contiguous, from the first character to the last", async () => {
    const { record } = await ask(clerk({ promptChars: 9_000 }));
    let position = 0;
    for (const [index, part] of record.parts.entries()) {
      expect(part).toMatchObject({ level: 0, ordinal: index, startChar: position });
      position = part.endChar;
    }
    expect(position).toBe(TEXT.length);
    expect(record.replies.filter(({ pass }) => pass === "part")).toHaveLength(record.parts.length);
    expect(record.replies.at(-1)?.prompt).toMatchObject({
      template: "answer-from-notes/1",
      evidence: [{ summaryLevel: 0, chunkKey: null }, { summaryLevel: 0 }],
    });
  });

  test("is refused where no part bears on it, without a last call", async () => {
    const model = readingModel({ promptChars: 9_000 }, () => "INSUFFICIENT_EVIDENCE");
    const { outcome, record } = await ask(model);
    expect(outcome).toMatchObject({
      code: "EVIDENCE_NOT_ACQUIRED",
      message: expect.stringContaining(`${record.parts.length} parts`),
    });
    expect(record.replies.every(({ pass }) => pass !== "second")).toBe(true);
  });

  test("holds quotes against the words of the file, not against the notes", async () => {
    const invented = readingModel({ promptChars: 9_000 }, ({ messages }) =>
      isLast(messages[0]?.content ?? "")
        ? 'It says "the note-taker made this up" [1].'
        : "The note-taker made this up [1].",
    );
    const settings = { ...SETTINGS, ask: { ...SETTINGS.ask, unsupported: "repair" } } as const;
    expect((await ask(invented, { settings })).outcome).toMatchObject({
      code: "ANSWER_UNSUPPORTED",
    });
    const quoting = readingModel({ promptChars: 9_000 }, ({ messages }) =>
      isLast(messages[0]?.content ?? "")
        ? 'It says "The fare rises to 5 EUR in May" [1].'
        : "On fares [1].",
    );
    const { outcome, record } = await ask(quoting);
    expect(outcome).toMatchObject({ kind: "succeeded" });
    expect(record.checks.quotes).toMatchObject([
      { class: "verbatim", span: { path: PATH, lineStart: 18, lineEnd: 18 } },
    ]);
  });

  test("combines notes in layers where they overflow too", async () => {
    const long = "A note that goes on and on about the fare and its rise. ".repeat(12);
    const model = readingModel({ promptChars: 6_500 }, ({ messages }) =>
      isLast(messages[0]?.content ?? "") ? "The fare changes [1]." : `${long}[1]`,
    );
    const { outcome, record } = await ask(model);
    const leaves = record.parts.filter(({ level }) => level === 0);
    expect(record.parts.some(({ level }) => level === 1)).toBe(true);
    expect(outcome).toMatchObject({ scope: `${FULL}, parts=${leaves.length}` });
    expect(new Set(record.parts.map(({ level, ordinal }) => `${level}/${ordinal}`)).size).toBe(
      record.parts.length,
    );
  });

  test("is refused with the place of a part that broke the rules twice", async () => {
    const model = readingModel({ promptChars: 9_000 }, () => "a | b\n--- | ---\n1 | 2");
    expect((await ask(model)).outcome).toMatchObject({
      code: "SECOND_PASS_FORMAT_VIOLATION",
      message: expect.stringMatching(/^Lines 1 to \d+ of corpus\/minutes.md: /),
    });
  });

  test("over the cap is refused with the counts", async () => {
    const settings = { ...SETTINGS, ask: { ...SETTINGS.ask, max_chars_full_read: 5_000 } };
    const { outcome, record } = await ask(clerk({ promptChars: 9_000 }), { settings });
    expect(outcome).toMatchObject({
      code: "EVIDENCE_TRUNCATED",
      message: expect.stringContaining(`5000 of its ${TEXT.length}`),
    });
    expect(record.replies.map(({ pass }) => pass)).toEqual(["first"]);
  });
});

describe("text that is denser than its length says", () => {
  const dense = `${"火车每小时运行一次。".repeat(400)}The fare rises to 5 EUR.`;

  test("is cut again until it fits, and all of it is covered", async () => {
    const model = clerk({ promptChars: 9_000, weight: 9_000 });
    const { outcome, record } = await ask(model, { files: { [PATH]: dense } });
    const chars = Array.from(dense).length;
    expect(outcome).toMatchObject({
      kind: "succeeded",
      scope: `Scope: full evidence from read_text_file (${chars}/${chars}), sha256=${sha256Of(dense)}, parts=${record.parts.length}`,
    });
    expect(record.parts.length).toBeGreaterThan(1);
    expect(model.requests.length).toBeLessThan(4 * model.taken.length);
    expect(record.parts.at(-1)?.endChar).toBe(chars);
  });

  test("is refused when not even the shortest part fits", async () => {
    const model = clerk({ promptChars: 9_000, weight: 2_000 });
    const { outcome } = await ask(model, { files: { [PATH]: dense } }, `Read ${PATH} in depth.`);
    expect(outcome).toMatchObject({ code: "CONTEXT_OVERFLOW" });
    expect(model.requests.length).toBeLessThan(12);
  });
});

describe("a question for which a part of the file will do", () => {
  const question = `When is the first item in ${PATH}?`;

  test("reads what fits, and says how much that was", async () => {
    const model = readingModel({ promptChars: 9_000 }, () => "At the start [1].");
    // The index knows the file, and has nothing better of it than what the beginning holds.
    const own = { ...passageOf(PATH, TEXT.slice(0, 100)), sha256: sha256Of(TEXT) };
    const passages = [{ ...own, docChars: TEXT.length }];
    const { outcome, record } = await ask(model, { passages }, question);
    expect(outcome).toMatchObject({
      scope: expect.stringMatching(
        new RegExp(
          `^Scope: partial evidence from read_text_file \\(\\d+/${TEXT.length}\\), sha256=\\w{64}$`,
        ),
      ),
    });
    expect(record.parts).toEqual([]);
  });

  test("reads the whole of it where it names another file too, whose passages do not stand in", async () => {
    const fares = "Fares are set in May.";
    const { outcome, record } = await ask(
      readingModel({ promptChars: 9_000 }, () => "In May [2]."),
      {
        files: { [PATH]: TEXT, "corpus/fares.md": fares },
        passages: [passageOf("corpus/fares.md", fares)],
      },
      `When do ${PATH} and corpus/fares.md change?`,
    );
    const footer = new RegExp(
      `^Scope: full evidence from 2 files, snapshot=\\w{64}, parts=${record.parts.length}$`,
    );
    expect(outcome).toMatchObject({ scope: expect.stringMatching(footer) });
    expect(record.parts.map(({ path }) => path)).toEqual(record.parts.map(() => PATH));
    expect(record.evidence.map(({ kind, admitted }) => [kind, admitted])).toEqual([
      ["file", true],
      ["file", true],
      ["chunk", false],
    ]);
  });
});

test("a part of a document of the snapshot and passages of another join the one prompt", async () => {
  const other = passageOf("corpus/fares.md", "Fares are set in May.");
  const first = { ...passageOf(PATH, TEXT.slice(0, 100)), sha256: sha256Of(TEXT) };
  const { outcome, record } = await ask(
    scripted([callFor(PATH), "In May [3]."], 9_000),
    { passages: [first, other] },
    "When do fares change?",
  );
  expect(outcome).toMatchObject({
    scope: expect.stringMatching(
      /^Scope: partial evidence .*; 2 passages from 2 files, snapshot=\w{64}$/,
    ),
    citations: [{ path: "corpus/fares.md", chunkKey: other.chunkKey }],
  });
  expect(record.parts).toEqual([]);
});
