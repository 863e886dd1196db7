import { contradictsAnswer } from "../../../shared/job/claims.ts";
import type { QueuedCheck } from "../../../shared/job/settlement.ts";
import type {
  CheckPlace,
  CheckRecord,
  CoverageRecord,
  StoredVerification,
} from "../../../shared/job/verification.ts";
import type { CallParts } from "../../answer/call-model.ts";
import type { CitableBlock } from "../../evidence/number.ts";
import type { Auditor, Verification } from "../../evidence/types.ts";
import type { RuleCheck, RuleFindings } from "../../verify/checks/rule-check.ts";
import { checkByRules, MOST_CHECKS } from "../../verify/checks/rule-checks.ts";
import { decompose } from "./auditor.ts";
import type { AskedCheck } from "./auditor.ts";
import { isDoubted } from "./draft.ts";
import type { Draft, Statement } from "./draft.ts";

/** The inputs of the verification of one answer. */
export type CheckRun = {
  readonly verification: Verification;
  /** The checks that earlier runs of the job have made. */
  readonly stored: StoredVerification;
  readonly audit: Auditor & { readonly task: string; readonly fenceKey: Buffer };
  readonly parts: CallParts;
};

/** The checks of one draft. */
export type Round = {
  readonly round: number;
  readonly checks: readonly CheckRecord[];
  readonly coverage: readonly CoverageRecord[];
};

export async function openRound(about: NewRound, run: CheckRun): Promise<Omit<Round, "round">> {
  const { round, statements } = about;
  const found = await run.parts.trace.step("rules", () => findByRules(about, run));
  return {
    checks: await newChecks(about, found, run),
    coverage: found.coverage.map((row) => coverageRecord(row, round, statements)),
  };
}

/** The most files of a set that are searched for a contradiction of a denial. */
const MOST_MEMBERS = 200;

async function findByRules(
  { draft: { task, evidence }, statements }: NewRound,
  { verification, parts }: CheckRun,
): Promise<RuleFindings> {
  const { negative, newest_wins: newestWins } = verification.settings;
  const claims = statements.map(({ number, claim }) => ({ number, text: claim.text, claim }));
  const settings = { negative, newestWins, mostMembers: MOST_MEMBERS };
  const answer = { task, claims, evidence };
  const found = await checkByRules(answer, verification.sources, settings, parts.signal);
  parts.trace.detail("rules", {
    checks: found.checks.length,
    said: found.checks.map(({ rule, state }) => `${rule} ${state}`),
  });
  return found;
}

/** A draft before its checks. */
type NewRound = {
  readonly draft: Draft<unknown>;
  readonly sha256: string;
  readonly round: number;
  readonly statements: readonly Statement[];
};

/**
 * Chooses at most three questions: first the findings of rules that are wrong, open or unknown, then questions of the auditor,
 * then findings of rules that are right. If a rule says no, nothing else is asked. A doubted statement without a question
 * becomes a question itself; if there is no question at all, every statement does.
 */
async function newChecks(
  { draft, sha256, round, statements }: NewRound,
  found: RuleFindings,
  { verification, audit, parts }: CheckRun,
): Promise<readonly CheckRecord[]> {
  const { newest_wins: newestWins } = verification.settings;
  const candidates = (claim: number): readonly string[] =>
    candidatesFor(claim, found.coverage, citedPaths(claim, statements, draft.evidence));
  const byRule = found.checks
    .toSorted((one, other) => BY_STATE.indexOf(one.state) - BY_STATE.indexOf(other.state))
    .map((check) => toRuleCheck(check, { ...found, newestWins, candidates }));
  const urgent = byRule.filter(
    (check) => contradictsAnswer(check) || check.state !== check.expects,
  );
  const isLost = byRule.some(contradictsAnswer);
  const isFull = isLost || urgent.length >= MOST_CHECKS || !audit.model.facts.readsPrompts;
  const asked = isFull ? [] : (await decompose({ ...audit, statements }, parts)).map(toModelCheck);
  const chosen = [
    ...urgent.filter((check) => !isLost || check.state !== "open"),
    ...(isFull
      ? []
      : sortByDoubt([...urgent, ...asked], statements).filter((check) => !urgent.includes(check))),
    ...byRule.filter((check) => !urgent.includes(check)),
  ];
  return chosen.slice(0, MOST_CHECKS).map((check, ordinal) => {
    const claim = statements.find(({ number }) => number === check.claimNumber)?.claim.text ?? "";
    return { ...check, round, ordinal, draftSha256: sha256, claim, checkJobId: null };
  });
}

/** Contradictions first, then what is still undecided. */
const BY_STATE: readonly RuleCheck["state"][] = ["no", "open", "unknown", "yes"];

/** Puts one check of each doubted statement first; a doubted statement without a check becomes the question whether it is so. */
function sortByDoubt(
  asked: readonly NewCheck[],
  statements: readonly Statement[],
): readonly NewCheck[] {
  const doubted = statements.filter(isDoubted);
  const first = doubted.map(
    (statement) =>
      asked.find(({ claimNumber }) => claimNumber === statement.number) ??
      toStatementCheck(statement),
  );
  const others = asked.filter((check) => !first.includes(check));
  const all = [...first, ...others];
  return all.length > 0 ? all : statements.map(toStatementCheck);
}

type NewCheck = Omit<CheckRecord, "round" | "ordinal" | "draftSha256" | "claim" | "checkJobId">;

type RuleContext = Pick<RuleFindings, "disagreements"> & {
  readonly newestWins: boolean;
  /** Files that may contain what a statement denies. */
  readonly candidates: (claim: number) => readonly string[];
};

const isDated = ({ claim }: RuleCheck, disagreements: RuleFindings["disagreements"]): boolean =>
  disagreements.some((found) => found.claim === claim && found.newer !== null);

function toRuleCheck(
  check: RuleCheck,
  { disagreements, candidates, newestWins }: RuleContext,
): NewCheck {
  const { claim, rule, question, expects, detail, places } = check;
  // Rules can't say which of two documents is right, unless the operator chose that the newest wins.
  const isDisagreement =
    rule === "agreement" &&
    contradictsAnswer(check) &&
    !(newestWins && isDated(check, disagreements));
  const state = isDisagreement ? "unknown" : check.state;
  // A sum that can't be recomputed does not lack a document.
  const open = rule === "sum" ? "auditor_failed" : "source_missing";
  const why = isDisagreement ? "sources_disagree" : open;
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

/** Files that may contain what a statement denies: first those that it does not cite, because nobody may have looked at them. */
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

function citedPaths(
  claim: number,
  statements: readonly Statement[],
  evidence: readonly CitableBlock[],
): readonly string[] {
  const cites = statements.find(({ number }) => number === claim)?.claim.cites ?? [];
  return evidence.filter(({ number }) => cites.includes(number)).map(({ path }) => path);
}

const toModelCheck = (asked: AskedCheck): NewCheck => ({
  ...asked,
  how: "model",
  rule: null,
  state: "open",
  detail: "",
  reason: null,
  evidence: [],
});

/** A check of a statement about which the auditor asks nothing. */
const toStatementCheck = ({ number, claim }: Statement): NewCheck =>
  toModelCheck({
    claimNumber: number,
    question: `Do the files say this: ${JSON.stringify(claim.text)}?`,
    expects: "yes",
  });

/** Files beyond those that a check receives count as unread, if a rule could not exclude them. */
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
/** The most files that a check of a denial receives; it reads all of them first. */
const MOST_CANDIDATES = 8;

/** A check as a job. Its input is the task, the statement, the question, and the files that they rest on. */
export function toQueuedCheck(
  { round, ordinal, claimNumber, claim, question, expects, evidence, rule }: CheckRecord,
  { draft, statements }: Pick<NewRound, "draft" | "statements">,
  { verification }: CheckRun,
): QueuedCheck {
  const { auditorName: model, pathPrefix } = verification;
  const statement = statements.find(({ number }) => number === claimNumber);
  const cited = draft.evidence.filter(({ number }) => statement?.claim.cites.includes(number));
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
      task: draft.task,
      claim,
      question,
      ...(draft.states === "values" ? {} : { carries: expects }),
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
