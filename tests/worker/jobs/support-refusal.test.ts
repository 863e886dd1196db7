import { describe, expect, test } from "@jest/globals";
import type { Outcome, RunResult } from "../../../src/shared/run-result.ts";
import { startTrace } from "../../../src/shared/run-trace.ts";
import type { PipelineSettings } from "../../../src/worker/evidence/types.ts";
import { answerQuestion } from "../../../src/worker/jobs/ask.ts";
import { callFor, scripted, SETTINGS, userText, worldOf } from "../../support/pipeline-world.ts";

const text =
  "# Rail\n\nTrains run every 20 minutes. See https://desk.example/x.\n\n## Bus\n\nHourly.\n";
const question = "What does corpus/rail.md say of trains?";
const SNAPSHOT_OPEN = { ...SETTINGS.ask.citations, require_in_snapshot: false };

async function ask(
  drafts: readonly string[],
  settings: Partial<PipelineSettings["ask"]> = {},
): Promise<{ outcome: Outcome; record: Omit<RunResult, "outcome">; retry: string }> {
  const trace = startTrace();
  const model = scripted([callFor("corpus/rail.md"), ...drafts]);
  const deps = worldOf({
    files: { "corpus/rail.md": text },
    models: [model],
    settings: { ...SETTINGS, ask: { ...SETTINGS.ask, ...settings } },
  });
  const input = { kind: "ask", question } as const;
  const { signal } = new AbortController();
  const outcome = await answerQuestion({ jobId: "j", input }, deps, trace, signal);
  return { outcome, record: trace.record(), retry: userText(model.requests[2]) };
}

describe("an answer that breaks the rules twice is refused", () => {
  test.each<[string, Partial<PipelineSettings["ask"]>, string, string]>([
    [
      "a figure that stands nowhere",
      { figures: "require" },
      "Every 25 minutes [1].",
      "ANSWER_UNSUPPORTED",
    ],
    [
      "a sentence that nothing carries",
      { min_support: 0.6 },
      "Penguins swim fast [1].",
      "ANSWER_UNSUPPORTED",
    ],
    ["an invented quote", {}, '"Trains run every hour" [1].', "CITATION_INVALID"],
    ["a stitched quote", {}, '"Trains run every … minutes" [1].', "CITATION_INVALID"],
    ["an unread file", {}, "Every 20 minutes [other.md].", "CITATION_INVALID"],
    [
      "a figure and an invented quote",
      { figures: "require" },
      '"Trains run every 25 days" [1].',
      "CITATION_INVALID",
    ],
    [
      "a figure and a table",
      { figures: "require" },
      "a|b\n-|-\n25 [1]|",
      "SECOND_PASS_FORMAT_VIOLATION",
    ],
  ])("%s", async (_, settings, draft, code) => {
    const { outcome, record } = await ask([draft, draft], settings);
    expect(outcome).toMatchObject({ kind: "refused", code });
    expect(record.checks.sentences).toHaveLength(1);
  });
});

test("a second try is shown what was wrong, and the record holds what was found of it", async () => {
  const { outcome, record, retry } = await ask(
    ["It runs every 25 minutes [1].", "Every 20 minutes [1]."],
    {
      figures: "require",
    },
  );
  expect(retry).toContain("neither in the evidence nor in the question: 25");
  expect(outcome).toMatchObject({ kind: "succeeded" });
  expect(record.checks.figures).toMatchObject([{ text: "20", flagged: false }]);
});

test("a citation by heading is stored with its lines and its quote", async () => {
  const { outcome } = await ask(['"Trains run every 20 minutes" [corpus/rail.md#Rail].']);
  expect(outcome).toMatchObject({
    citations: [
      {
        path: "corpus/rail.md",
        heading: "Rail",
        lineStart: 1,
        lineEnd: 3,
        quote: "Trains run every 20 minutes",
      },
    ],
  });
});

test("a name outside the snapshot is stored with a mark where that is let pass", async () => {
  const { outcome } = await ask(["Every 20 minutes [1] [other.md#A]."], {
    citations: SNAPSHOT_OPEN,
  });
  expect(outcome).toMatchObject({
    citations: [
      { number: 1 },
      { path: "other.md#A", heading: null, chunkKey: null, resolved: false },
    ],
  });
});

test("a link of the document is flagged and stays as it is written", async () => {
  const { outcome, record } = await ask(["See [the desk](https://desk.example/x) [1]."]);
  expect(outcome).toMatchObject({
    answer: expect.stringContaining("See [the desk](https://desk.example/x) [1]."),
  });
  expect(record.checks.figures).toMatchObject([
    { kind: "link", standsIn: "evidence", flagged: true },
  ]);
});
