import { expect, test } from "@jest/globals";
import type { StoredCall } from "../../../src/shared/store/jobs/model-calls.ts";
import type { PromptEvidence, PromptRecord } from "../../../src/shared/job/run-result.ts";
import { explainStop, formatReplay } from "../../../src/worker/replay/replay-report.ts";
import { sliceCodePoints } from "../../../src/worker/text/clean-text.ts";

const PIECE: PromptEvidence = {
  number: 1,
  path: "a.md",
  sha256: "a".repeat(64),
  startChar: 0,
  endChar: 9,
  chunkKey: null,
  summaryLevel: null,
};
const PROMPT: PromptRecord = {
  template: "answer/2",
  sha256: "b".repeat(64),
  values: { question: "Why?", footer: "Scope: x", notes: "" },
  evidence: [PIECE],
  violations: [],
};
const MADE: StoredCall = {
  pass: "second",
  model: "small",
  requestSha256: "c".repeat(64),
  prompt: PROMPT,
  reply: null,
  refusal: null,
  cachedFrom: null,
  durationMs: 1,
};

test.each<[string, Partial<PromptRecord>, string]>([
  ["template", { template: "answer/3" }, "template answer/2 then, answer/3 now"],
  ["footer", { values: { ...PROMPT.values, footer: "Scope: y" } }, "it says other footer"],
  ["notes", { values: { ...PROMPT.values, notes: "Be brief." } }, "it says other notes"],
  ["spans", { evidence: [{ ...PIECE, endChar: 8 }] }, "it shows other spans of the evidence"],
  ["pieces", { evidence: [] }, "it shows 0 pieces of evidence, then 1"],
  ["correction", { violations: ["TOOL_CALL"] }, "it corrects TOOL_CALL, then nothing"],
  [
    "words",
    {},
    "the same parts give other words: the template was changed, or the evidence is shown in another way",
  ],
])("a prompt with another %s is told apart", (_, changed, words) => {
  const at = { kind: "call", pass: "second", prompt: { ...PROMPT, ...changed } } as const;
  expect(explainStop(at, [MADE], [])).toBe(
    `the prompt of call 1, pass second, is another now: ${words}`,
  );
});

test("a call or a read too many is told as such", () => {
  const repeated = [
    {
      pass: "second",
      prompt_template: "answer/2",
      prompt_sha256: PROMPT.sha256,
      request: "same",
    },
  ] as const;
  expect(explainStop({ kind: "call", pass: "retry", prompt: PROMPT }, [MADE], repeated)).toBe(
    "it would make one call more now, number 2, pass retry by answer/2",
  );
  expect(explainStop({ kind: "read", path: "b.md" }, [MADE], [])).toBe(
    "it would read b.md now, which the run did not read",
  );
});

test("people are told what was repeated, and what came of it", () => {
  const call = {
    pass: "second",
    prompt_template: "answer/2",
    prompt_sha256: PROMPT.sha256,
    request: "same",
  } as const;
  const repeated = {
    ...{ same: true, files: 0, jobs: 3, calls_then: 2, calls: [call, call] },
    ...{ stopped: null, broke: null, differences: [] },
  };
  const report = {
    run_id: "r",
    job_id: "j",
    kind: "digest",
    state: "succeeded",
    ok: true,
    repeated,
  };
  expect(formatReplay(report)).toEqual([
    "run       r  digest, succeeded",
    "job       j",
    "files     none",
    "jobs      3 told of, unchanged",
    "calls     2 of 2 repeated: the same prompts to the letter, answered from the record",
    "result    the same: state, answer, scope, citations, evidence, checks",
  ]);
  const other = {
    ...{ ...repeated, same: false, files: 1, jobs: 0 },
    calls: [{ ...call, request: "differs" as const }],
    differences: [{ what: "answer", then: "Yes.", now: "No." }],
  };
  const changed = { ...report, ok: false, kind: "ask", repeated: other };
  expect(formatReplay(changed).slice(2)).toEqual([
    "files     1 read again, unchanged",
    "calls     1 of 2 repeated: the same prompts, 1 of them with other options or another budget",
    "result    differs in answer",
    "  answer",
    "    then  Yes.",
    "    now   No.",
  ]);
  const stopped = { ...other, stopped: "it would read b.md now" };
  expect(formatReplay({ ...changed, repeated: stopped }).at(4)).toBe(
    "result    not reached: it would read b.md now",
  );
});

test.each([
  ["abcdef", 1, 3, "bc"],
  ["a🚋b🌙c", 1, 4, "🚋b🌙"],
  ["a🚋b🌙c", 4, 5, "c"],
  ["abc", 2, 9, "c"],
  ["", 0, 0, ""],
])("of %j the code points %i to %i are %j", (text, start, end, slice) => {
  expect(sliceCodePoints(text, start, end)).toBe(slice);
});
