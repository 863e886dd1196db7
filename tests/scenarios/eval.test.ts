import { cp, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { eventually } from "../conformance/signal.ts";
import { jsonLine, runBin, startBin } from "../support/run-bin.ts";
import type { Ended } from "../support/run-bin.ts";
import { removeDesk } from "../support/workers-ended.ts";

const examples = resolve(import.meta.dirname, "..", "..", "examples");

const QUESTIONS = [
  {
    ...{ id: "thirst", language: "en", kind: "number", expected: ["2.4 litres"] },
    question: "How much diesel does the Bear burn under kitchen load?",
  },
  {
    ...{ id: "bearing", language: "en", kind: "number", expected: [["75 °C", "75 degrees"]] },
    question: "At which bearing temperature does the governor close the nozzle?",
  },
  {
    ...{ id: "misjudged", language: "en", kind: "number", expected: ["what no file says"] },
    question: "How much water must the stream give before the turbine is started?",
  },
  {
    ...{ id: "schach", language: "de", kind: "what", unanswerable: "never mentioned" },
    question: "Welche Eröffnung spielte Kasparow im Schachturnier?",
  },
];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nightdesk-eval-"));
  for (const name of ["corpus", "nightdesk.yaml"])
    await cp(join(examples, name), join(folder, name), { recursive: true });
  await writeQuestions(QUESTIONS);
  await writeFile(join(folder, "other.yaml"), "extends: ./nightdesk.yaml\nask: { top_n: 2 }\n");
});
afterAll(() => removeDesk(folder));

const writeQuestions = (questions: readonly object[]): Promise<void> =>
  writeFile(
    join(folder, "q.jsonl"),
    questions.map((question) => `${JSON.stringify(question)}\n`).join(""),
  );
const nightdesk = (...words: readonly string[]): Promise<Ended> => runBin(words, { cwd: folder });
const evalJson = async (...words: readonly string[]) => {
  const ended = await nightdesk("eval", "q.jsonl", "--json", ...words);
  return { code: ended.code, stderr: ended.stderr, told: jsonLine(ended) };
};

test("an empty index is said, and nothing is asked", async () => {
  const { code, stderr } = await nightdesk("eval", "q.jsonl");
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/NOT_FOUND: .*no document.*nightdesk index/),
  });
  await nightdesk("index");
});

test("goes on where it was killed, and counts answers and refusals by language and kind", async () => {
  const killed = startBin(["eval", "q.jsonl", "--log-level", "info"], { cwd: folder });
  await eventually("its batch is there", async () => {
    const { stdout } = await nightdesk("batch", "list");
    return stdout.includes("eval q.jsonl");
  });
  killed.kill("SIGKILL");
  await killed.ended;
  const { code, stdout } = await nightdesk("eval", "q.jsonl");
  expect(code).toBe(0);
  expect(stdout.split("\n").map((line) => line.trimEnd().split(/ {2,}/))).toEqual([
    [
      ...["questions", "asked", "right", "wrong", "refused rightly", "refused wrongly"],
      ...["% right", "% abstained"],
    ],
    expect.anything(),
    ["all", "4", "2", "1", "1", "0", "66.7 % (21-94)", "100.0 % (21-100)"],
    ["language de", "1", "0", "0", "1", "0", "-", "100.0 % (21-100)"],
    ["language en", "3", "2", "1", "0", "0", "66.7 % (21-94)", "-"],
    ["kind number", "3", "2", "1", "0", "0", "66.7 % (21-94)", "-"],
    ["kind what", "1", "0", "0", "1", "0", "-", "100.0 % (21-100)"],
    [""],
  ]);
  const { stdout: batches } = await nightdesk("batch", "list");
  expect(batches.match(/eval q\.jsonl/g)).toHaveLength(1);
});

test("tells what it answered before, counts it anew as expected now, and ends with 3 below --min-right", async () => {
  const first = await evalJson("--min-right", "67");
  expect(first.code).toBe(3);
  expect(first.stderr).toContain("q.jsonl was answered");
  expect(first.told).toMatchObject({
    evaluated: [
      {
        label: "nightdesk.yaml",
        groups: { all: { right: 2, right_share: { count: 2, of: 3 } } },
        questions: [
          { id: "thirst", verdict: "right", answer: expect.stringContaining("2.4 litres") },
          { id: "bearing", verdict: "right" },
          { id: "misjudged", verdict: "wrong", state: "succeeded" },
          { id: "schach", verdict: "refused_rightly", error_code: "EVIDENCE_NOT_ACQUIRED" },
        ],
      },
    ],
  });
  await writeQuestions(
    QUESTIONS.map((question) =>
      question.id === "misjudged" ? { ...question, expected: ["6 litres a second"] } : question,
    ),
  );
  const corrected = await evalJson("--min-right", "67");
  expect(corrected).toMatchObject({
    code: 0,
    told: { evaluated: [{ groups: { all: { right: 3 } } }] },
  });
  expect(corrected.stderr).toContain("q.jsonl was answered");
});

test("asks anew when it is told to, or documents have changed", async () => {
  const again = await evalJson("--again");
  expect(again.stderr).not.toContain("was answered");
  expect(again.told).toMatchObject({ evaluated: [{ batch: expect.stringMatching(/ \(2\)$/) }] });
  await writeFile(join(folder, "corpus", "new.md"), "The kettle is blue.\n");
  await nightdesk("index");
  const later = await evalJson();
  expect(later.told).toMatchObject({ evaluated: [{ batch: expect.stringMatching(/ \(3\)$/) }] });
});

test("shows two configurations side by side, each asked by its own worker", async () => {
  const { code, stdout, stderr } = await nightdesk("eval", "q.jsonl", "--against", "other.yaml");
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.not.stringContaining("another configuration"),
  });
  expect(stdout).toMatch(/% right: nightdesk\.yaml +% right: other\.yaml/);
  expect(stderr).toMatch(/\d were right only with nightdesk\.yaml, \d only with other\.yaml/);
  const sql = "select distinct config_sha256 from runs where config_sha256 is not null";
  const { stdout: made } = await nightdesk("sql", sql, "--json");
  expect(made.match(/[0-9a-f]{64}/g)?.length).toBeGreaterThanOrEqual(2);
});

test("says what failed with every model, which is right for none", async () => {
  const { code, stdout, stderr } = await nightdesk("eval", "q.jsonl", "--models", "a, b");
  expect(code).toBe(0);
  expect(stdout).toMatch(/% right: a +% right: b/);
  expect(stderr).toMatch(/questions? to a had no result \(MODEL_NOT_FOUND\)/);
});

test.each([
  [["--models", "a", "--against", "other.yaml"], "exclude each other"],
  [["--models", " , "], "names no model"],
  [["--min-right", "101"], "from 0 to 100"],
])("refuses %j", async (options, reason) => {
  const { code, stderr } = await nightdesk("eval", "q.jsonl", ...options);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(reason) });
});
