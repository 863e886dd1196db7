import { createHash, hash } from "node:crypto";
import { refuse } from "../../../shared/failure.ts";
import type { Refusal } from "../../../shared/failure.ts";
import type { Outcome } from "../../../shared/job/run-result.ts";
import type { Pending, RunEnd } from "../../../shared/job/settlement.ts";
import type {
  ConstraintRecord,
  CoverageRecord,
  AuditRecord,
  VerificationRecord,
} from "../../../shared/job/verification.ts";
import type { CallParts } from "../../answer/call-model.ts";
import type { Reading, Verification } from "../../evidence/types.ts";
import { coverageNote } from "../../verify/checks/rule-checks.ts";
import { openRound, toQueuedCheck } from "./ask-checks.ts";
import type { Round, CheckRun } from "./ask-checks.ts";
import { scoreAnswer } from "./auditor.ts";
import {
  constraintsOf,
  faultsOf,
  foundFiles,
  scoreOf,
  isPassing,
  settleChecks,
} from "./settle-checks.ts";
import { statementsOf } from "./draft.ts";
import type { Draft, Statement } from "./draft.ts";

/**
 * The result of the verification of a draft: an answer that stands, a refusal, or a pending state. `unresolved` means that
 * checks could not settle something; `failed` and `unverified` answers stand unless verify.mode is strict or a person has
 * rejected them.
 */
export type VerifyEnd<T> =
  | { readonly kind: "off" | "passed" | "revised" | "failed" | "unverified"; readonly value: T }
  | { readonly kind: "failed" | "unverified" | "unresolved"; readonly refusal: Refusal }
  | Pending;

/** Turns the result of the verification into the end of the run. */
export const endOf = <T>(verified: VerifyEnd<T>, succeed: (value: T) => Outcome): RunEnd => {
  if ("value" in verified) return succeed(verified.value);
  return "refusal" in verified ? verified.refusal : verified;
};

/**
 * Repeats rules, questions, checks, score and revision until the answer passes or is given up. When its checks are jobs of
 * their own, the answer is `drafted`: the next run of the job reaches the same answer by the stored replies, finds the
 * results of the checks in their rows, and continues.
 *
 * Refusals: UNRESOLVED if something stays open, ANSWER_UNSUPPORTED in mode strict, REVIEW_REJECTED.
 */
export async function verify<T>(first: Draft<T>, parts: CallParts): Promise<VerifyEnd<T>> {
  const { verification } = parts;
  if (verification === undefined || !isChosen(first, verification)) {
    return { kind: "off", value: first.value };
  }
  const run = await openVerifying(first, verification, parts);
  let draft = first;
  for (let revisions = 0; ; revisions += 1) {
    const statements = statementsOf(draft);
    const round = await checkDraft(draft, statements, run);
    if (round === null) return keepOrRefuse(draft, "unverified", run);
    if ("kind" in round) return round;
    const audit = await auditRound(round, statements, run);
    if (isPassing(audit)) {
      recordState(run, { state: "passed", constraints: [] });
      const kind = revisions === 0 ? "passed" : "revised";
      return { kind, value: withCoverage(draft, round.coverage) };
    }
    if (audit.score === null) return keepOrRefuse(draft, "unverified", run);
    const revised =
      revisions < verification.settings.rounds
        ? await reviseDraft(draft, { round, audit, statements }, run)
        : null;
    if (revised === null) return endFailed(draft, round, audit, run);
    draft = revised;
  }
}

/** Records the state of the verification so far. */
function recordState({ parts: { trace } }: CheckRun, change: Partial<VerificationRecord>): void {
  trace.verification({ ...trace.record().verification, ...change });
}

/** Whether the answer is verified: mode sampled takes those with unconfirmed statements, and a percentage of others by job id. */
function isChosen({ claims }: Draft<unknown>, { settings, jobId }: Verification): boolean {
  const { mode, sample_percent: percent } = settings;
  if (mode === "off") return false;
  if (mode !== "sampled") return true;
  if (claims.some(({ stands, grade }) => stands && grade !== "supported")) return true;
  return isSampled(jobId, percent);
}

/** Whether a job belongs to a sample of `percent` in a hundred; always the same for the same job. */
export const isSampled = (jobId: string, percent: number): boolean =>
  (createHash("sha256").update(jobId).digest().readUInt32BE(0) / 2 ** 32) * 100 < percent;

async function openVerifying(
  { model, choice, task }: Draft<unknown>,
  verification: Verification,
  parts: CallParts,
): Promise<CheckRun> {
  const auditor = (await verification.auditor(parts.signal)) ?? { model, choice };
  const audit = { ...auditor, task, fenceKey: verification.fenceKey };
  return { verification, stored: await verification.stored(), audit, parts };
}

/** Drafts beyond those of revisions and other models: evidence that changes between two runs changes the answer. */
const MOST_NEW_DRAFTS = 1;

/** The settled checks of a draft; null if there is nothing to check, or the drafts keep changing. */
async function checkDraft(
  draft: Draft<unknown>,
  statements: readonly Statement[],
  run: CheckRun,
): Promise<Round | Extract<Pending, { kind: "drafted" }> | null> {
  const { stored, verification, parts } = run;
  const { settings, tier } = verification;
  const mostRounds = (settings.rounds + 1) * (tier + 1) + MOST_NEW_DRAFTS;
  const sha256 = hashOf(draft);
  const known = stored.checks.filter((check) => check.record.draftSha256 === sha256);
  const before = parts.trace.record().verification;
  const rounds = [...stored.checks.map((check) => check.record), ...before.checks];
  const round = known[0]?.record.round ?? 1 + Math.max(-1, ...rounds.map((one) => one.round));
  if (statements.length === 0 || round > mostRounds) return null;
  const { checks, coverage } =
    known.length > 0
      ? {
          checks: settleChecks(known, statements),
          coverage: stored.coverage.filter((row) => row.round === round),
        }
      : await openRound({ draft, sha256, round, statements }, run);
  recordState(run, {
    checks: [...before.checks, ...checks],
    coverage: [...before.coverage, ...coverage],
  });
  const open = checks.filter(({ state }) => state === "open");
  if (open.length === 0) return { round, checks, coverage };
  recordState(run, { state: "pending" });
  const { budget, priority } = settings;
  const queued = open.map((check) => toQueuedCheck(check, { draft, statements }, run));
  return { kind: "drafted", checks: queued, budget, priority };
}

async function auditRound(
  round: Round,
  statements: readonly Statement[],
  run: CheckRun,
): Promise<AuditRecord> {
  const { audit, parts, verification } = run;
  const reply = audit.model.facts.readsPrompts
    ? await scoreAnswer({ ...audit, statements }, round.checks, parts)
    : null;
  const scored = scoreOf(round, reply, statements, verification.settings);
  const { audits } = parts.trace.record().verification;
  recordState(run, { audits: [...audits, scored] });
  return scored;
}

type AuditedRound = {
  readonly round: Round;
  readonly audit: AuditRecord;
  readonly statements: readonly Statement[];
};

async function reviseDraft<T>(
  draft: Draft<T>,
  { round, audit, statements }: AuditedRound,
  run: CheckRun,
): Promise<Draft<T> | null> {
  const { trace } = run.parts;
  const { claims, bindings, checks, verification } = trace.record();
  const faults = faultsOf(round.checks, audit, statements);
  const own = new Set(draft.evidence.map(({ path }) => path));
  const paths = foundFiles(round.checks, audit).filter((path) => !own.has(path));
  const revised = await trace.step("revise", () =>
    draft.revise(faults, () => readFound(paths, run)),
  );
  // An earlier draft is not checked again: the models would go round in circles, and its checks are recorded already.
  const known = new Set([hashOf(draft), ...verification.checks.map((check) => check.draftSha256)]);
  const isNew = revised !== null && !known.has(hashOf(revised));
  trace.detail("revise", { faults: faults.map(({ code }) => code), found: paths, is_new: isNew });
  if (isNew) return revised;
  if (revised !== null) {
    trace.claims(claims);
    trace.bindings(bindings);
    trace.checks(checks);
  }
  return null;
}

/** Reads the files; skips those that can't be read whole, because a footer that names several files claims that. */
async function readFound(
  paths: readonly string[],
  { verification: { sources } }: CheckRun,
): Promise<readonly Reading[]> {
  const found: Reading[] = [];
  for (const path of paths) {
    const reading = await sources.read(path);
    if (reading.kind === "read" && !reading.truncated) found.push(reading);
  }
  return found;
}

/** Ends an answer that did not pass its last round: refused if something is open, else it stands with the grade of its rules. */
function endFailed<T>(
  draft: Draft<T>,
  round: Round,
  audit: AuditRecord,
  run: CheckRun,
): VerifyEnd<T> {
  const constraints = constraintsOf(round, audit);
  if (constraints.length === 0) return keepOrRefuse(draft, "failed", run);
  recordState(run, { state: "failed", constraints });
  const why = unresolvedMessage(constraints);
  const passedOn = passOn(draft, { state: "failed", why }, run);
  return passedOn ?? { kind: "unresolved", refusal: refuse("UNRESOLVED", why) };
}

const MOST_NAMED = 2;

function unresolvedMessage(open: readonly ConstraintRecord[]): string {
  const told = open
    .slice(0, MOST_NAMED)
    .map(({ what, reason }) => `${what} (${reason.replaceAll("_", " ")})`);
  const more = open.length > MOST_NAMED ? `; and ${String(open.length - MOST_NAMED)} more` : "";
  return `The checks of the answer leave open: ${told.join("; ")}${more}. View constraints says what is needed.`;
}

/** Ends an answer without a verification; mode strict refuses it. */
function keepOrRefuse<T>(
  draft: Draft<T>,
  state: "failed" | "unverified",
  run: CheckRun,
): VerifyEnd<T> {
  recordState(run, { state, constraints: [] });
  const passedOn = passOn(draft, { state, why: WHY_NOT[state] }, run);
  if (passedOn !== null) return passedOn;
  if (run.verification.settings.mode !== "strict") return { kind: state, value: draft.value };
  const message = `${WHY_NOT[state]} verify.mode strict lets nothing stand that was not verified. \`nightdesk runs show\` has the checks.`;
  return { kind: state, refusal: refuse("ANSWER_UNSUPPORTED", message) };
}

const WHY_NOT = {
  failed: "The answer did not pass its checks.",
  unverified:
    "No auditor was available, its reply could not be read, or the answer states nothing to check.",
} as const;

const hashOf = ({ text }: Draft<unknown>): string => hash("sha256", text);

/**
 * Passes an answer that was not verified to the next instance: another model answers anew, or a person reviews the draft.
 * A review of this draft is final. Null if there is no next instance.
 */
function passOn<T>(
  draft: Draft<T>,
  { state, why }: { readonly state: "failed" | "unverified"; readonly why: string },
  run: CheckRun,
): VerifyEnd<T> | null {
  const { next } = run.verification;
  if (next === null) return null;
  // Without a readable auditor, another answer would not be verified either.
  if (next === "model") return state === "unverified" ? null : { kind: "escalated" };
  const { review } = run.stored;
  const wanted = { draftSha256: hashOf(draft), draft: draft.text, why };
  if (review === null || review.draftSha256 !== wanted.draftSha256) {
    return { kind: "review", review: wanted };
  }
  const by = review.decidedBy ?? "somebody";
  switch (review.state) {
    case "waiting":
      return { kind: "review", review: wanted };
    case "accepted":
      return acceptAnswer(draft.value, run);
    case "rejected":
      return rejectAnswer(`${by} rejected the answer: ${review.reason ?? ""}`);
    case "corrected": {
      const value = draft.withCorrection(review.correction ?? "", by);
      return value === null
        ? rejectAnswer(`${by} put in its place what has not the form asked for.`)
        : acceptAnswer(value, run);
    }
  }
}

function acceptAnswer<T>(value: T, run: CheckRun): VerifyEnd<T> {
  recordState(run, { state: "passed", constraints: [] });
  return { kind: "passed", value };
}

const rejectAnswer = (why: string): VerifyEnd<never> => ({
  kind: "failed",
  refusal: refuse("REVIEW_REJECTED", why),
});

/** Adds a note to an answer that denies something: how much was read for it. */
function withCoverage<T>(draft: Draft<T>, coverage: readonly CoverageRecord[]): T {
  const notes = [...new Set(coverage.map((row) => `(${coverageNote(row)})`))];
  return notes.length === 0 ? draft.value : draft.withNote(notes.join("\n"));
}
