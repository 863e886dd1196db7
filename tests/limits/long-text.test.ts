import { describe, expect, test } from "@jest/globals";
import { startTrace } from "../../src/worker/run-trace.ts";
import { summarizeFile } from "../../src/worker/jobs/summarize.ts";
import { extractiveModel } from "../../src/worker/models/extractive/extractive.ts";
import { findPeople } from "../../src/worker/models/extractive/people.ts";
import { textFor } from "../../src/worker/models/extractive/text-for.ts";
import type { QuotingTask } from "../../src/worker/models/extractive/text-for.ts";
import type { EvidenceBlock, ModelTask } from "../../src/worker/models/model.ts";
import type { Offload } from "../../src/worker/offload/offload.ts";
import { SETTINGS, sha256Of, worldOf } from "../support/pipeline-world.ts";
import { expectLinear } from "../support/time-taken.ts";
import { testOffload, turnsUntil } from "../worker/offload/test-offload.ts";

const TEXT = Array.from(
  { length: 6_000 },
  (_, day) => `On day ${day} the crew stopped lift ${day % 90}, since rope ${day % 70} had frayed.`,
).join(" ");
const EVIDENCE = [{ number: 1, path: "log.md", title: "Log", headingPath: null, text: TEXT }];
const SUMMARY: QuotingTask = {
  purpose: "summarize",
  title: "Log",
  evidence: EVIDENCE,
  sentences: 5,
  style: "prose",
};
const TASKS: readonly (readonly [string, QuotingTask])[] = [
  ["a summary", SUMMARY],
  [
    "an answer",
    {
      purpose: "answer",
      question: "When did rope 33 fray?",
      evidence: EVIDENCE,
      sentences: 3,
    },
  ],
  [
    "fields",
    { purpose: "extract", preset: "people", labels: [], examples: [], evidence: EVIDENCE },
  ],
  ["a digest", { purpose: "digest", evidence: EVIDENCE, lines: 3 }],
];

const offload = testOffload();

const ask = (task: QuotingTask, signal: AbortSignal) =>
  extractiveModel(offload).complete(
    { messages: [], task, maxTokens: 100, timeoutMs: 1_000 },
    signal,
  );

test.each(TASKS)(
  "%s of a long text leaves turns to others, and is what it is at once",
  async (_, task) => {
    const asked = ask(task, new AbortController().signal);
    expect(await turnsUntil(asked)).toBeGreaterThan(20);
    expect(await asked).toMatchObject({ kind: "reply", text: textFor(task) });
  },
);

test("a cancel in the middle of a long text takes effect", async () => {
  const cancel = new AbortController();
  const asked = ask(SUMMARY, cancel.signal);
  setImmediate(() => {
    cancel.abort(new Error("cancelled"));
  });
  await expect(asked).rejects.toThrow("cancelled");
});

test("thousands of members in front of a text do not make each other slow", async () => {
  const finding = (count: number) => {
    const members = Array.from({ length: count }, (_, n) => `member_${n}: Value of it ${n}`);
    const text = `---\n${members.join("\n")}\nauthor: Marta Lind\n---\n\nThe bell rings.\n`;
    return () => findPeople([{ number: 1, path: "a.md", title: null, headingPath: null, text }]);
  };
  expect(finding(8_000)()).toMatchObject([{ name: "Marta Lind", role: "author" }]);
  await expectLinear(2_000, finding);
});

describe("at once", () => {
  const AT_ONCE: Offload = async (work, input) => work.run(input);

  async function reply(task: ModelTask): Promise<string> {
    const request = { messages: [], task, maxTokens: 100, timeoutMs: 1000 };
    const result = await extractiveModel(AT_ONCE).complete(request, new AbortController().signal);
    return result.kind === "reply" ? result.text : result.code;
  }

  const blocks = (text: string): EvidenceBlock[] => [
    { number: 1, path: "corpus/note-1.md", title: null, headingPath: null, text },
  ];
  const answer = (question: string, text: string): Promise<string> =>
    reply({ purpose: "answer", question, evidence: blocks(text), sentences: 3 });
  const task = { purpose: "summarize", title: "Bike shop" } as const;

  test("summaries of up to 60 KB take time in proportion to them", async () => {
    await expectLinear(225, (entries) => {
      const text = Array.from(
        { length: entries },
        (_, n) => `Entry ${n} tells about guest ${n % 97} and soup ${n % 31}, at length.`,
      );
      const evidence = blocks(text.join(" "));
      return () => reply({ ...task, evidence, sentences: 10, style: "prose" });
    });
  });

  test.each([
    ["one endless line", "word "],
    ["stops without blanks", "."],
    ["many short lines", "A b.\n"],
    ["quote marks", '"'],
    ["pipes", "|"],
    ["hashes", "# "],
  ])("an eighth of a megabyte of %s takes time in proportion to it", async (_, piece) => {
    await expectLinear(31_250, (chars) => {
      const text = piece.repeat(chars / piece.length);
      return () => answer("What about the word?", text);
    });
  });
});

describe("a file of 160 KB", () => {
  const settings = {
    ...SETTINGS,
    ask: { ...SETTINGS.ask, max_chars_full_read: 10_000_000 },
    model: { ...SETTINGS.model, name: null, provider: "extractive" as const },
  };
  const LINES = 4_000;
  const textOf = (lines: number, end: string): string =>
    Array.from(
      { length: lines },
      (_, index) => `Item ${index}: trains run hourly on line ${index % 97}.${end}`,
    ).join("");
  const footerOf = (text: string): string =>
    `Scope: full evidence from read_text_file (${text.length}/${text.length}), sha256=${sha256Of(text)}`;

  async function summarize(text: string) {
    const world = worldOf({ files: { "a.md": text }, models: [], settings });
    const job = { jobId: "j", input: { kind: "summarize", path: "a.md" } } as const;
    return summarizeFile(job, world, startTrace(), new AbortController().signal);
  }

  test.each([
    ["in lines", "\n"],
    ["on one line", " "],
  ])(
    "%s is summarised in time in proportion to it without a language model",
    async (_, end) => {
      const text = textOf(LINES, end);
      expect(await summarize(text)).toMatchObject({ kind: "succeeded", scope: footerOf(text) });
      await expectLinear(LINES / 4, (lines) => {
        const shorter = textOf(lines, end);
        return () => summarize(shorter);
      });
    },
    120_000,
  );
});
