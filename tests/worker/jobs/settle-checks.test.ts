import { expect, test } from "@jest/globals";
import type { CheckRecord, CoverageRecord } from "../../../src/shared/verification.ts";
import {
  constraintsOf,
  judgementOf,
  settledCheck,
} from "../../../src/worker/jobs/verification/settle-checks.ts";

const UNKNOWN: CheckRecord = {
  ...{ round: 0, ordinal: 0, draftSha256: "0".repeat(64), claimNumber: 1, claim: "None does." },
  ...{ question: "Is it true of all?", expects: "yes", how: "rule", rule: "coverage" },
  ...{ state: "unknown", detail: "", reason: "source_missing", evidence: [], checkJobId: null },
};

const coverageOf = (members: number, read: number): CoverageRecord => ({
  ...{ round: 0, claimNumber: 1, claim: "None does.", setQuery: "files", members, read },
});

const capsOf = (checks: readonly CheckRecord[], coverage: readonly CoverageRecord[]) =>
  judgementOf({ round: 0, checks, coverage }, { score: 4, corrections: [] }, [], { minSources: 0 });

test("each cap that holds is told, beside others that do", () => {
  expect(capsOf([UNKNOWN], [coverageOf(12, 8)])).toMatchObject({
    score: 2,
    given: 4,
    caps: ["unknown_check", "no_coverage"],
  });
});

test("a denial of a set in which no file was found is not covered", () => {
  expect(capsOf([], [coverageOf(0, 0)])).toMatchObject({ score: 2, caps: ["no_coverage"] });
  expect(capsOf([], [coverageOf(3, 3)])).toMatchObject({ score: 4, caps: [] });
});

test("documents that disagree settle nothing, and those that agree do", () => {
  const record = { ...UNKNOWN, how: "model", rule: "agreement" } as const;
  const settledAs = (answer: "yes" | "no") => {
    const verdict = { answer, detail: "", reason: null, evidence: [] };
    return settledCheck({ record, jobState: "succeeded", jobError: null, verdict });
  };
  expect(settledAs("no")).toMatchObject({ state: "unknown", reason: "sources_disagree" });
  expect(settledAs("yes")).toMatchObject({ state: "yes", reason: null });
});

test.each([
  ["a check that was cancelled", null, "out_of_budget"],
  ["a prompt beyond the window", "CONTEXT_OVERFLOW", "out_of_budget"],
  ["a reply that can't be read", "MODEL_OUTPUT_INVALID", "auditor_failed"],
  ["a model that is gone", "MODEL_NOT_FOUND", "auditor_failed"],
  ["a file that is gone", "FILE_NOT_FOUND", "source_missing"],
])("what is open after %s is told rightly", (_, jobError, reason) => {
  const record = { ...UNKNOWN, how: "model" } as const;
  const open = settledCheck({ record, jobState: "cancelled", jobError, verdict: null });
  expect(open).toMatchObject({ state: "unknown", reason });
});

test("an auditor that misquotes is no missing source: no document is asked for", () => {
  const record = { ...UNKNOWN, how: "model", rule: null } as const;
  const detail = "It says yes, with words that do not stand in what it cites.";
  const verdict = { answer: "unknown", detail, reason: "auditor_failed", evidence: [] } as const;
  const check = settledCheck({ record, jobState: "succeeded", jobError: null, verdict });
  expect(constraintsOf({ checks: [check], coverage: [] }, { caps: [] })).toEqual([
    {
      what: "Is it true of all?",
      reason: "auditor_failed",
      needed: `Another auditor (verify.model), or somebody who looks: nothing says that a document is missing. ${detail}`,
    },
  ]);
});
