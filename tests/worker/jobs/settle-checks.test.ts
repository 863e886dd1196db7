import { expect, test } from "@jest/globals";
import type {
  CheckRecord,
  CoverageRecord,
  StoredCheck,
} from "../../../src/shared/job/verification.ts";
import type { ClaimRecord } from "../../../src/shared/job/run-result.ts";
import type { Statement } from "../../../src/worker/jobs/verification/draft.ts";
import {
  constraintsOf,
  foundFiles,
  scoreOf,
  settleCheck,
  settleChecks,
} from "../../../src/worker/jobs/verification/settle-checks.ts";

const UNKNOWN: CheckRecord = {
  ...{ round: 0, ordinal: 0, draftSha256: "0".repeat(64), claimNumber: 1, claim: "None does." },
  ...{ question: "Is it true of all?", expects: "yes", how: "rule", rule: "coverage" },
  ...{ state: "unknown", detail: "", reason: "source_missing", evidence: [], checkJobId: null },
};

const coverageOf = (members: number, read: number): CoverageRecord => ({
  ...{ round: 0, claimNumber: 1, claim: "None does.", setQuery: "files", members, read },
});

const capsOf = (
  checks: readonly CheckRecord[],
  coverage: readonly CoverageRecord[],
  statements: readonly Statement[] = [],
) =>
  scoreOf({ round: 0, checks, coverage }, { score: 4, corrections: [] }, statements, {
    min_sources: 0,
  });

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

test("a file that settled a check is read for the revision where the auditor names it", () => {
  const at = (path: string) => ({ path, line_start: 1, line_end: 1, quote: null });
  const evidence = [at("notes/5.md"), at("notes/15.md")];
  const found = { ...UNKNOWN, state: "yes", reason: null, evidence } as const;
  for (const where of ["15.md:4", "資料15.mdの四行"]) {
    const corrections = [{ claim: 1, where, change: "Say so." }];
    expect(foundFiles([found], { corrections })).toEqual(["notes/15.md"]);
  }
});

test("documents that disagree settle nothing, and those that agree do", () => {
  const record = { ...UNKNOWN, how: "model", rule: "agreement" } as const;
  const settledAs = (answer: "yes" | "no") => {
    const verdict = { answer, detail: "", reason: null, evidence: [], against: [] };
    return settleCheck({ record, jobState: "succeeded", jobError: null, verdict }, []);
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
  const open = settleCheck({ record, jobState: "cancelled", jobError, verdict: null }, []);
  expect(open).toMatchObject({ state: "unknown", reason });
});

test("an auditor that misquotes is no missing source: no document is asked for", () => {
  const record = { ...UNKNOWN, how: "model", rule: null } as const;
  const detail = "It says yes, with words that do not stand in what it cites.";
  const verdict = {
    answer: "unknown",
    detail,
    reason: "auditor_failed",
    evidence: [],
    against: [],
  } as const;
  const check = settleCheck({ record, jobState: "succeeded", jobError: null, verdict }, []);
  expect(constraintsOf({ checks: [check], coverage: [] }, { caps: [] })).toEqual([
    {
      what: "Is it true of all?",
      reason: "auditor_failed",
      needed: `Another auditor (verify.model), or somebody who looks: nothing says that a document is missing. ${detail}`,
    },
  ]);
});

const statementOf = (number: number, grade: ClaimRecord["grade"]): Statement => ({
  number,
  claim: { text: `Statement ${number}.`, grade, span: null } as ClaimRecord,
});

const OF_MODEL: CheckRecord = { ...UNKNOWN, how: "model", rule: null, state: "yes", reason: null };

test("a doubted statement without a check of its own keeps the score at 2", () => {
  const doubted = [statementOf(1, "unconfirmed"), statementOf(2, "unconfirmed")];
  const unchecked = { score: 2, caps: ["unchecked_doubt"] };
  expect(capsOf([OF_MODEL], [], doubted)).toMatchObject(unchecked);
  const second = { ...OF_MODEL, claimNumber: 2 };
  expect(capsOf([OF_MODEL, second], [], doubted)).toMatchObject({ score: 4, caps: [] });
  // That no other document disagrees says nothing of whether it is so.
  const agreeing: CheckRecord = { ...second, how: "rule", rule: "agreement" };
  expect(capsOf([OF_MODEL, agreeing], [], doubted)).toMatchObject(unchecked);
  const supported = [statementOf(1, "unconfirmed"), statementOf(2, "supported")];
  expect(capsOf([OF_MODEL], [], supported)).toMatchObject({ score: 4, caps: [] });
});

const answered = (
  answer: "yes" | "no",
  rules: readonly string[],
  record: CheckRecord = OF_MODEL,
): StoredCheck => ({
  ...{ record: { ...record, state: "open" }, jobState: "succeeded", jobError: null },
  verdict: {
    ...{ answer, detail: "", reason: null, evidence: [] },
    against: rules.map((rule) => ({ rule, detail: `${rule} differ` })),
  },
});
const stateOf = (checks: readonly StoredCheck[], grade: ClaimRecord["grade"] = "unconfirmed") =>
  settleChecks(checks, [statementOf(1, grade)]).map(({ state, reason }) => reason ?? state);

test("words that do not carry a doubted statement are none", () => {
  expect(stateOf([answered("yes", ["names"])])).toEqual(["auditor_failed"]);
  expect(stateOf([answered("yes", [])])).toEqual(["yes"]);
  const [check] = settleChecks([answered("yes", ["names"])], [statementOf(1, "unconfirmed")]);
  expect(check?.detail).toBe(
    "It says yes, with words that do not carry the statement: names differ.",
  );
});

test("what is asked beside a statement that is carried need not be carried itself", () => {
  expect(stateOf([answered("yes", ["place"])], "supported")).toEqual(["yes"]);
  expect(stateOf([answered("yes", []), answered("yes", ["figures"])])).toEqual(["yes", "yes"]);
  expect(stateOf([answered("no", []), answered("yes", ["figures"])])).toEqual([
    ...["no", "auditor_failed"],
  ]);
});

test("a count and a denial are carried by no single line", () => {
  const counted: CheckRecord = { ...OF_MODEL, rule: "sum" };
  expect(stateOf([answered("yes", ["figures"], counted)])).toEqual(["yes"]);
  expect(stateOf([answered("yes", ["judge"], counted)])).toEqual(["auditor_failed"]);
  const denied: CheckRecord = { ...OF_MODEL, rule: "coverage" };
  expect(stateOf([answered("yes", ["polarity"], denied)])).toEqual(["yes"]);
});
