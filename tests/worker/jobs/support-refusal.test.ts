import { describe, expect, test } from "@jest/globals";
import type { RunResult } from "../../../src/shared/job/run-result.ts";
import type { RunEnd } from "../../../src/shared/job/settlement.ts";
import { startTrace } from "../../../src/worker/run-trace.ts";
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
): Promise<{ outcome: RunEnd; record: Omit<RunResult, "outcome">; retry: string }> {
  const trace = startTrace();
  const model = scripted([callFor("corpus/rail.md"), ...drafts]);
  const deps = worldOf({
    files: { "corpus/rail.md": text },
    models: [model],
    settings: { ...SETTINGS, ask: { ...SETTINGS.ask, unsupported: "repair", ...settings } },
  });
  const input = { kind: "ask", question } as const;
  const { signal } = new AbortController();
  const outcome = await answerQuestion({ jobId: "j", input }, deps, trace, signal);
  return { outcome, record: trace.record(), retry: userText(model.requests[2]) };
}

describe("an answer that breaks the rules twice is refused", () => {
  test.each<[string, string, string]>([
    ["a statement that nothing carries", "Penguins swim at 40 km/h [1].", "ANSWER_UNSUPPORTED"],
    ["an invented quote", '"Trains run every hour" [1].', "ANSWER_UNSUPPORTED"],
    ["an unread file", "Every 20 minutes [other.md].", "CITATION_INVALID"],
    ["no citation", "Every 20 minutes.", "CITATION_INVALID"],
    ["a figure and a table", "a|b\n-|-\n25 [1]|", "SECOND_PASS_FORMAT_VIOLATION"],
  ])("%s", async (_, draft, code) => {
    const { outcome, record } = await ask([draft, draft]);
    expect(outcome).toMatchObject({ kind: "refused", code });
    expect(record.claims.map(({ draft: at, stands }) => [at, stands])).toContainEqual([1, false]);
  });
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
