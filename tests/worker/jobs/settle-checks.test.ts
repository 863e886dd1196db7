import { expect, test } from "@jest/globals";
import type { CheckRecord, CoverageRecord } from "../../../src/shared/verification.ts";
import { judgementOf, settledCheck } from "../../../src/worker/jobs/verification/settle-checks.ts";

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
