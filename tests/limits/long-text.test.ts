import { expect, test } from "@jest/globals";
import { extractiveModel } from "../../src/worker/models/extractive/extractive.ts";
import { findPeople } from "../../src/worker/models/extractive/people.ts";
import { textFor } from "../../src/worker/models/extractive/text-for.ts";
import type { QuotingTask } from "../../src/worker/models/extractive/text-for.ts";
import { testAside, turnsUntil } from "../worker/offload/test-aside.ts";

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
  ["fields", { purpose: "extract", preset: "people", labels: [], evidence: EVIDENCE }],
  ["a digest", { purpose: "digest", evidence: EVIDENCE, lines: 3 }],
];

const aside = testAside();

const ask = (task: QuotingTask, signal: AbortSignal) =>
  extractiveModel(aside).complete({ messages: [], task, maxTokens: 100, timeoutMs: 1_000 }, signal);

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

test("thousands of members in front of a text do not make each other slow", () => {
  const members = Array.from({ length: 8_000 }, (_, n) => `member_${n}: Value of it ${n}`);
  const text = `---\n${members.join("\n")}\nauthor: Marta Lind\n---\n\nThe bell rings.\n`;
  const startedAt = performance.now();
  const people = findPeople([{ number: 1, path: "a.md", title: null, headingPath: null, text }]);
  expect(people).toMatchObject([{ name: "Marta Lind", role: "author" }]);
  expect(performance.now() - startedAt).toBeLessThan(4_000);
});
