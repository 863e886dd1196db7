import { contradicts } from "../../../shared/claims.ts";
import type { QueuedCheck } from "../../../shared/settlement.ts";
import type { CheckPlace, CheckRecord, CoverageRecord } from "../../../shared/verification.ts";
import type { CallParts } from "../../answer/call-model.ts";
import type { CitableBlock } from "../../evidence/number.ts";
import type { Auditor, Verification } from "../../evidence/types.ts";
import type { RuleCheck, RuleFindings } from "../../verify/checks/rule-check.ts";
import { byUrgency, checkByRules, MOST_CHECKS } from "../../verify/checks/rule-checks.ts";
import { decompose } from "./auditor.ts";
import type { AskedCheck } from "./auditor.ts";
import type { Statement } from "./draft.ts";

/** What a job was asked for, in a line, and what its answer rests on. */
type CheckedAnswer = { readonly task: string; readonly evidence: readonly CitableBlock[] };

export type Run = {
  readonly plan: CheckedAnswer;
  readonly verification: Verification;
  readonly auditor: Auditor;
  readonly audit: Auditor & { readonly task: string; readonly fenceKey: Buffer };
  readonly parts: CallParts;
};

/** The checks of one draft. */
export type Round = {
  readonly round: number;
  readonly checks: readonly CheckRecord[];
  readonly coverage: readonly CoverageRecord[];
};

export async function checkAnew(about: NewRound, run: Run): Promise<Omit<Round, "round">> {
  const { round, statements } = about;
  const found = await run.parts.trace.step("rules", () => findByRules(statements, run));
  return {
    checks: await newChecks(about, found, run),
    coverage: found.coverage.map((row) => coverageRecord(row, round, statements)),
  };
}

/** Files of a set that are looked through for a denial. */
const MOST_MEMBERS = 200;

async function findByRules(statements: readonly Statement[], run: Run): Promise<RuleFindings> {
  const { plan, verification, parts } = run;
  const { negative, newestWins } = verification.settings;
  const claims = statements.map(({ number, claim }) => ({ number, text: claim.text, claim }));
  const settings = { negative, newestWins, mostMembers: MOST_MEMBERS };
  const answer = { task: plan.task, claims, evidence: plan.evidence };
  const found = await checkByRules(answer, verification.sources, settings, parts.signal);
  parts.trace.detail("rules", {
    checks: found.checks.length,
    said: found.checks.map(({ rule, state }) => `${rule} ${state}`),
  });
  return found;
}

/** A draft that is not checked yet. */
type NewRound = {
  readonly sha256: string;
  readonly round: number;
  readonly statements: readonly Statement[];
};

/**
 * Three questions at most: first what rules found wrong, open or unknown, then what the auditor asks, then what rules
 * found right. Where a rule says no, nobody else needs to look. Where nobody asks anything each statement is a question
 * itself: that rules find its words in the file says nothing of whether they answer the task.
 */
async function newChecks(
  { sha256, round, statements }: NewRound,
  found: RuleFindings,
  run: Run,
): Promise<readonly CheckRecord[]> {
  const { newestWins } = run.verification.settings;
  const candidates = (claim: number): readonly string[] =>
    candidatesFor(claim, found.coverage, citedBy(claim, statements, run.plan.evidence));
  const byRule = byUrgency(found.checks).map((check) =>
    ofRule(check, { ...found, newestWins, candidates }),
  );
  const urgent = byRule.filter((check) => contradicts(check) || check.state !== check.expects);
  const isLost = byRule.some(contradicts);
  const isFull = isLost || urgent.length >= MOST_CHECKS || !run.auditor.model.facts.readsPrompts;
  const asked = isFull ? [] : await decompose({ ...run.audit, statements }, run.parts);
  const byModel =
    isFull || asked.length > 0 || urgent.length > 0
      ? asked.map(ofModel)
      : statements.map(ofStatement);
  const chosen = [
    ...urgent.filter((check) => !isLost || check.state !== "open"),
    ...byModel,
    ...byRule.filter((check) => !urgent.includes(check)),
  ];
  return chosen.slice(0, MOST_CHECKS).map((check, ordinal) => {
    const claim = statements.find(({ number }) => number === check.claimNumber)?.claim.text ?? "";
    return { ...check, round, ordinal, draftSha256: sha256, claim, checkJobId: null };
  });
}

type NewCheck = Omit<CheckRecord, "round" | "ordinal" | "draftSha256" | "claim" | "checkJobId">;

type RuleFound = Pick<RuleFindings, "disagreements"> & {
  readonly newestWins: boolean;
  /** Files that may hold what a statement denies. */
  readonly candidates: (claim: number) => readonly string[];
};

const isDated = ({ claim }: RuleCheck, disagreements: RuleFindings["disagreements"]): boolean =>
  disagreements.some((found) => found.claim === claim && found.newer !== null);

function ofRule(check: RuleCheck, { disagreements, candidates, newestWins }: RuleFound): NewCheck {
  const { claim, rule, question, expects, detail, places } = check;
  // Which of two documents is right no rule can say, unless the operator has.
  const isDisagreement =
    rule === "agreement" && contradicts(check) && !(newestWins && isDated(check, disagreements));
  const state = isDisagreement ? "unknown" : check.state;
  const why = isDisagreement ? "sources_disagree" : "source_missing";
  return {
    claimNumber: claim,
    question,
    expects,
    how: state === "open" ? "model" : "rule",
    rule,
    state,
    detail,
    reason: state === "unknown" ? why : null,
    evidence: [
      ...(rule === "coverage" && state === "open" ? candidates(claim) : []).map(firstLineOf),
      ...places.map(({ path, lineStart, lineEnd }) => {
        return { path, line_start: lineStart, line_end: lineEnd, quote: null };
      }),
    ],
  };
}

const firstLineOf = (path: string): CheckPlace => ({
  path,
  line_start: 1,
  line_end: 1,
  quote: null,
});

/** Files that may hold what a statement denies: those that it does not cite, where there are any: nobody may have looked at them. */
function candidatesFor(
  claim: number,
  coverage: RuleFindings["coverage"],
  cited: readonly string[],
): readonly string[] {
  const all = coverage
    .filter((found) => found.claim === claim)
    .flatMap(({ candidates }) => candidates);
  const uncited = all.filter((path) => !cited.includes(path));
  return uncited.length > 0 ? uncited : all;
}

function citedBy(
  claim: number,
  statements: readonly Statement[],
  evidence: readonly CitableBlock[],
): readonly string[] {
  const cites = statements.find(({ number }) => number === claim)?.claim.cites ?? [];
  return evidence.filter(({ number }) => cites.includes(number)).map(({ path }) => path);
}

const ofModel = (asked: AskedCheck): NewCheck => ({
  ...asked,
  how: "model",
  rule: null,
  state: "open",
  detail: "",
  reason: null,
  evidence: [],
});

/** Where the auditor asks nothing that can be read. */
const ofStatement = ({ number, claim }: Statement): NewCheck =>
  ofModel({
    claimNumber: number,
    question: `Do the files say this: ${JSON.stringify(claim.text)}?`,
    expects: "yes",
  });

/** What a rule could not clear somebody has to look at: files beyond those that a check is given were not read for it. */
const coverageRecord = (
  { claim, setQuery, members, read, candidates }: RuleFindings["coverage"][number],
  round: number,
  statements: readonly Statement[],
): CoverageRecord => ({
  round,
  claimNumber: claim,
  claim: statements.find(({ number }) => number === claim)?.claim.text ?? "",
  setQuery,
  members,
  read: Math.max(0, read - Math.max(0, candidates.length - MOST_CANDIDATES)),
});

const MOST_PATHS = 3;
/** Files that a check of a denial is given, each of which it reads first. */
const MOST_CANDIDATES = 8;

/** A check as a job: it is told the task, the statement, the question, and the files that they rest on. */
export function queuedCheck(
  { round, ordinal, claimNumber, claim, question, evidence, rule }: CheckRecord,
  statements: readonly Statement[],
  { plan, verification }: Run,
): QueuedCheck {
  const { auditorName: model, pathPrefix } = verification;
  const statement = statements.find(({ number }) => number === claimNumber);
  const cited = plan.evidence.filter(({ number }) => statement?.claim.cites.includes(number));
  const own = [evidence.map(({ path }) => path), statement?.claim.span?.path ?? []].flat();
  const paths = [
    ...own,
    ...cited.filter(({ isOutput }) => isOutput !== true).map(({ path }) => path),
  ];
  return {
    round,
    ordinal,
    input: {
      kind: "check",
      task: plan.task,
      claim,
      question,
      paths: [...new Set(paths)].slice(0, rule === "coverage" ? MOST_CANDIDATES : MOST_PATHS),
      ...(model === undefined && pathPrefix === undefined
        ? {}
        : {
            options: {
              ...(model === undefined ? {} : { model }),
              ...(pathPrefix === undefined ? {} : { path_prefix: pathPrefix }),
            },
          }),
    },
  };
}
