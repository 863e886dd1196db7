import { contradictsAnswer } from "../../../shared/job/claims.ts";
import type {
  CheckRecord,
  ConstraintRecord,
  Objection,
  AuditRecord,
  StoredCheck,
  UnresolvedReason,
  Verdict,
} from "../../../shared/job/verification.ts";
import { escapePattern } from "../../../shared/text/normalise-text.ts";
import type { VerifySettings } from "../../evidence/types.ts";
import type { Fault } from "../../evidence/validated.ts";
import type { Round } from "./ask-checks.ts";
import type { AuditReply } from "./auditor.ts";
import { isDoubted } from "./draft.ts";
import type { Statement } from "./draft.ts";

/** The lowest score of an answer that passes. */
const PASSES = 3;
/** The highest score of an answer that has an open or contradicted check. */
const CAPPED = 2;

const ENDED = new Set(["succeeded", "refused", "failed", "cancelled", "expired"]);

/**
 * The checks of a round with the results of their jobs. A verdict whose quote does not support a doubted statement does not
 * count, unless another verdict supports the same statement: the first question may have been about a detail.
 */
export function settleChecks(
  known: readonly StoredCheck[],
  statements: readonly Statement[],
): readonly CheckRecord[] {
  const against = known.map((one) => objectionsIn(one, known));
  const carried = new Set([
    ...statements.filter((one) => !isDoubted(one)).map(({ number }) => number),
    ...known.flatMap(({ record, verdict }, at) =>
      verdict?.answer === record.expects && against[at]?.length === 0 ? [record.claimNumber] : [],
    ),
  ]);
  return known.map((one, at) => {
    const isCarried = carried.has(one.record.claimNumber);
    return settleCheck(one, isCarried ? [] : (against[at] ?? []));
  });
}

/** Objections that do not count, by the rule that confirmed the statement: no single line shows denials, uniqueness or counts. */
const OF_NO_LINE: Readonly<Record<string, ReadonlySet<string> | "all">> = {
  coverage: "all",
  uniqueness: "all",
  sum: new Set(["figures", "place"]),
};

function objectionsIn(
  { record, verdict }: StoredCheck,
  round: readonly StoredCheck[],
): readonly Objection[] {
  const rules = round
    .filter((one) => one.record.claimNumber === record.claimNumber)
    .map((one) => OF_NO_LINE[one.record.rule ?? ""]);
  return (verdict?.against ?? []).filter(
    ({ rule }) => !rules.some((some) => some === "all" || some?.has(rule) === true),
  );
}

/**
 * A check with the result of its job; open while the job has not ended.
 * @param against the objections to the quote of its verdict
 */
export function settleCheck(
  { record, jobState, jobError, verdict }: StoredCheck,
  against: readonly Objection[],
): CheckRecord {
  if (record.how === "rule") return record;
  const [first] = against;
  if (verdict !== null && first !== undefined) {
    const { answer, evidence } = verdict;
    const detail = `It says ${answer}, with words that do not carry the statement: ${first.detail}.`;
    return { ...record, state: "unknown", detail, reason: "auditor_failed", evidence };
  }
  if (verdict !== null) return { ...record, ...limitByRule(record, verdict) };
  if (jobState !== null && !ENDED.has(jobState)) return { ...record, state: "open", reason: null };
  const code = jobError ?? (jobState === null ? "its job is gone" : jobState);
  return {
    ...record,
    state: "unknown",
    detail: `The check ended with ${code}.`,
    reason: jobState === null ? "auditor_failed" : reasonOf(jobError),
  };
}

type CheckResult = Pick<CheckRecord, "state" | "detail" | "reason" | "evidence">;

/**
 * Limits the verdict of an auditor by the rule that asked. Documents that disagree settle nothing, because nobody has decided
 * which one is valid. A denial is confirmed only by words of a file that may contain the opposite.
 */
function limitByRule(
  { rule, expects, evidence: asked }: CheckRecord,
  { answer, detail, reason, evidence }: Verdict,
): CheckResult {
  if (answer === "unknown") {
    return { state: answer, detail, reason: reason ?? "source_missing", evidence };
  }
  if (rule === "agreement" && answer !== expects) {
    const places = [...asked, ...evidence];
    return { state: "unknown", detail, reason: "sources_disagree", evidence: places };
  }
  const paths = new Set(asked.map(({ path }) => path));
  const isElsewhere = paths.size > 0 && !evidence.some(({ path }) => paths.has(path));
  if (rule === "coverage" && answer === expects && isElsewhere) {
    const told = "The words that it rests on are of none of the files that were asked about.";
    return { state: "unknown", detail: told, reason: "auditor_failed", evidence: asked };
  }
  return { state: answer, detail, reason: null, evidence };
}

/** The reason why a check that was refused or failed settles nothing. */
function reasonOf(code: string | null): UnresolvedReason {
  switch (code) {
    case "STAGNATED":
      return "stagnated";
    case "TOOL_DENIED":
    case "APPROVAL_DENIED":
    case "APPROVAL_EXPIRED":
      return "blocked_by_approval";
    case "EVIDENCE_NOT_ACQUIRED":
    case "FILE_NOT_FOUND":
    case "FILE_EMPTY":
    case "PATH_DENIED":
      return "source_missing";
    case null:
    case "BUDGET_EXCEEDED":
    case "CANCELLED":
    case "CONTEXT_OVERFLOW":
    case "DEADLINE_EXCEEDED":
      return "out_of_budget";
    default:
      return "auditor_failed";
  }
}

/** The score of a round: the auditor's score, limited by the open points of the round. */
export function scoreOf(
  { round, checks, coverage }: Round,
  reply: AuditReply | null,
  statements: readonly Statement[],
  { min_sources: fewest }: Pick<VerifySettings, "min_sources">,
): AuditRecord {
  const caps = [
    ...(checks.some(({ state }) => state === "unknown") ? ["unknown_check"] : []),
    ...(checks.some(contradictsAnswer) ? ["contradicted_check"] : []),
    ...(coverage.some(({ members, read }) => members === 0 || read < members)
      ? ["no_coverage"]
      : []),
    ...(statements.some((one) => isDoubted(one) && !checks.some(isOf(one)))
      ? ["unchecked_doubt"]
      : []),
    ...(sourcesOf(checks, statements) < fewest ? ["one_source"] : []),
  ];
  const given = reply?.score ?? null;
  const score = given === null || caps.length === 0 ? given : Math.min(given, CAPPED);
  return { round, score, given, caps, corrections: reply?.corrections ?? [] };
}

/** Rules that decide whether a statement is true; the other rules look for contradictions. */
const SETTLING: ReadonlySet<string> = new Set(["coverage", "sum"]);

const isOf =
  ({ number }: Statement) =>
  ({ claimNumber, how, rule }: CheckRecord): boolean =>
    claimNumber === number && (how === "model" || SETTLING.has(rule ?? ""));

export const isPassing = ({ score }: Pick<AuditRecord, "score">): boolean =>
  score !== null && score >= PASSES;

/** Counts the files that the statements and their checks rest on. */
const sourcesOf = (checks: readonly CheckRecord[], statements: readonly Statement[]): number =>
  new Set([
    ...statements.flatMap(({ claim }) => claim.span?.path ?? []),
    ...checks.flatMap(({ evidence }) => evidence.map(({ path }) => path)),
  ]).size;

/** The faults for a revision: findings of checks against the answer, then corrections of the auditor. */
export function faultsOf(
  checks: readonly CheckRecord[],
  { corrections }: Pick<AuditRecord, "corrections">,
  statements: readonly Statement[],
): readonly Fault[] {
  const found = checks.filter((check) => contradictsAnswer(check) || check.state === "unknown");
  const textOf = (number: number): string =>
    statements.find((statement) => statement.number === number)?.claim.text ?? "";
  return [
    ...found.map((check) => ({
      code: contradictsAnswer(check) ? "CHECK_CONTRADICTS" : "CHECK_UNKNOWN",
      message: `About ${JSON.stringify(check.claim)} it was asked: ${check.question} ${describeFinding(check)}`,
    })),
    ...corrections.map(({ claim, where, change }) => ({
      code: "AUDITOR_CORRECTS",
      message: `${change} (${JSON.stringify(textOf(claim))}; look at ${where})`,
    })),
  ];
}

const MOST_FOUND = 3;

/**
 * Files in which checks found something decisive: contradictions, and places that the auditor names. An unsettled check has
 * found nothing.
 */
export function foundFiles(
  checks: readonly CheckRecord[],
  { corrections }: Pick<AuditRecord, "corrections">,
): readonly string[] {
  const told = corrections.map(({ where, change }) => `${where} ${change}`).join("\n");
  const isNamed = (path: string): boolean => {
    const name = escapePattern(path.slice(path.lastIndexOf("/") + 1));
    // No space parts a name from the letters of a language without spaces.
    return new RegExp(
      `(?<![\\p{Script=Latin}\\p{N}._-])${name}(?![\\p{Script=Latin}\\p{N}])`,
      "u",
    ).test(told);
  };
  const paths = checks
    .filter(({ state }) => state === "yes" || state === "no")
    .flatMap((check) => {
      const own = check.evidence.map(({ path }) => path);
      return contradictsAnswer(check) ? own : own.filter(isNamed);
    });
  return [...new Set(paths)].slice(0, MOST_FOUND);
}

function describeFinding({ state, detail, evidence }: CheckRecord): string {
  if (state === "unknown") return "Nothing was found that says so: leave it out, or say less.";
  const places = evidence.map(
    ({ path, line_start: at, quote }) =>
      `${path}:${String(at)}${quote === null ? "" : ` ${JSON.stringify(quote)}`}`,
  );
  return `The answer is ${state}. ${[detail, ...places].filter((text) => text !== "").join("; ")}`;
}

const MOST_SOURCES = 3;

/** What is needed to settle the points that stay open. */
export function constraintsOf(
  { checks, coverage }: Pick<Round, "checks" | "coverage">,
  { caps }: Pick<AuditRecord, "caps">,
): readonly ConstraintRecord[] {
  const unknown = checks.filter(({ state }) => state === "unknown");
  const uncovered = coverage.filter(({ members, read }) => read < members);
  return [
    ...unknown.map(({ question, reason, evidence, detail }) => ({
      what: question,
      needed: remedyFor(
        reason ?? "source_missing",
        [...new Set(evidence.map(({ path }) => path))],
        detail,
      ),
      reason: reason ?? "source_missing",
    })),
    ...uncovered.map(({ claim, members, read, setQuery }) => ({
      what: claim,
      needed: `All of the ${String(members)} ${setQuery} have to be read, of which ${String(read)} were.`,
      reason: "source_missing" as const,
    })),
    ...(caps.includes("one_source")
      ? [
          {
            what: "The answer rests on one file.",
            needed: "A second file that says the same (verify.min_sources).",
            reason: "source_missing" as const,
          },
        ]
      : []),
  ];
}

function remedyFor(reason: UnresolvedReason, paths: readonly string[], detail: string): string {
  switch (reason) {
    case "source_missing":
      return "A document that answers it: index it, then run the job again with `nightdesk batch rerun --unresolved`.";
    case "sources_disagree":
      return `Somebody who says which one holds: ${paths.slice(0, MOST_SOURCES).join(", ")}. ${detail}`.trim();
    case "out_of_budget":
      return `More steps, tokens or time for the check (verify.steps, budgets). ${detail}`.trim();
    case "stagnated":
      return "A narrower question, or documents that can be found by its words.";
    case "auditor_failed":
      return `Another auditor (verify.model), or somebody who looks: nothing says that a document is missing. ${detail}`.trim();
    case "blocked_by_approval":
      return "A decision that lets the check look: nightdesk approvals list.";
  }
}
