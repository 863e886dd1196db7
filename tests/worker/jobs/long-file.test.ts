import { expect, test } from "@jest/globals";
import { schemaCompiler } from "../../../src/worker/json-schema.ts";
import type { StepName } from "../../../src/shared/job/run-result.ts";
import type { RunEnd } from "../../../src/shared/job/settlement.ts";
import { startTrace } from "../../../src/worker/run-trace.ts";
import type { RunTrace } from "../../../src/worker/run-trace.ts";
import type { PipelineDependencies } from "../../../src/worker/evidence/types.ts";
import { answerQuestion } from "../../../src/worker/jobs/ask.ts";
import { digestChildren } from "../../../src/worker/jobs/digest.ts";
import { extractFile } from "../../../src/worker/jobs/extract.ts";
import { summarizeFile } from "../../../src/worker/jobs/summarize.ts";
import type { Offload } from "../../../src/worker/offload/offload.ts";
import { SETTINGS, worldOf } from "../../support/pipeline-world.ts";
import { testSchemaThread, turnsUntil } from "../offload/test-offload.ts";

const DAYS = Array.from(
  { length: 1_600 },
  (_, day) =>
    `On day ${day} Marta Lind said that rope ${day % 70} had frayed at lift ${day % 90}, and nobody noticed.`,
);
const WORLD = {
  files: { "log.md": `# The log\n\n${DAYS.join("\n\n")}\n` },
  models: [],
  settings: { ...SETTINGS, model: { ...SETTINGS.model, name: "extractive" } },
};
const CHILDREN = DAYS.map((words, index) => ({
  jobId: `job-${index}`,
  kind: "summarize",
  state: "succeeded",
  errorCode: null,
  path: `logs/day-${index}.md`,
  words,
  leftOut: [],
})) satisfies Parameters<typeof digestChildren>[1];

type Run = (deps: PipelineDependencies, trace: RunTrace, signal: AbortSignal) => Promise<RunEnd>;

const RUNS: readonly (readonly [string, Run])[] = [
  [
    "an answer",
    (...world) =>
      answerQuestion(
        { jobId: "j", input: { kind: "ask", question: "When did rope 33 fray, by log.md?" } },
        ...world,
      ),
  ],
  [
    "a summary",
    (...world) =>
      summarizeFile({ jobId: "j", input: { kind: "summarize", path: "log.md" } }, ...world),
  ],
  [
    "fields",
    (deps, ...run) =>
      extractFile(
        { input: { kind: "extract", path: "log.md", preset: "people" } },
        { ...deps, compileSchema: schemaCompiler(), offloadSchema: testSchemaThread() },
        ...run,
      ),
  ],
  [
    "a digest",
    (deps, trace, signal) =>
      digestChildren(
        { input: { kind: "digest", title: "the logs", level: "batch" } },
        CHILDREN,
        deps,
        { trace, signal },
      ),
  ],
];

const AT_ONCE: Offload = async (work, input) => work.run(input);
const { signal: never } = new AbortController();

test.each(RUNS)(
  "%s of much text leaves turns to others, and is what it is at once",
  async (...test) => {
    const [, run] = test;
    const asked = run(worldOf(WORLD), startTrace(), never);
    expect(await turnsUntil(asked)).toBeGreaterThan(20);
    const atOnce = await run({ ...worldOf(WORLD), offload: AT_ONCE }, startTrace(), never);
    expect(atOnce).toMatchObject({ kind: "succeeded" });
    expect(await asked).toEqual(atOnce);
  },
);

test("a cancel while a long answer is checked takes effect", async () => {
  const cancel = new AbortController();
  const trace = startTrace();
  const isChecked = {
    ...trace,
    step<T>(name: StepName, body: () => T | Promise<T>): Promise<T> {
      if (name === "check") {
        setImmediate(() => {
          cancel.abort(new Error("cancelled"));
        });
      }
      return trace.step(name, body);
    },
  };
  const input = { kind: "summarize", path: "log.md" } as const;
  const run = summarizeFile({ jobId: "j", input }, worldOf(WORLD), isChecked, cancel.signal);
  await expect(run).rejects.toThrow("cancelled");
});
