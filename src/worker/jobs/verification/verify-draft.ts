import { createHash } from "node:crypto";
import { refuse } from "../../../shared/failure.ts";
import type { Refusal } from "../../../shared/failure.ts";
import type {
  ConstraintRecord,
  CoverageRecord,
  JudgementRecord,
  StoredVerification,
} from "../../../shared/verification.ts";
import { Drafted, Escalated, ReviewWanted } from "../../../shared/settlement.ts";
import type { CallParts } from "../../answer/call-model.ts";
import type { CitableBlock } from "../../evidence/number.ts";
import type { Auditor, Reading, Verification } from "../../evidence/types.ts";
import type { Fault } from "../../evidence/validated.ts";
import { coverageNote } from "../../verify/checks/rule-checks.ts";
import { checkAnew, queuedCheck } from "./ask-checks.ts";
import type { Round, Run } from "./ask-checks.ts";
import { judge } from "./auditor.ts";
import { openRecord } from "./record.ts";
import type { RecordOfAll } from "./record.ts";
import {
  constraintsOf,
  faultsOf,
  foundFiles,
  judgementOf,
  passes,
  settledCheck,
} from "./settle-checks.ts";
import { statementsOf } from "./draft.ts";
import type { Draft, Statement } from "./draft.ts";

export type DraftPlan<T> = Auditor & {
  /** What the job was asked for, in a line. */
  readonly task: string;
  readonly evidence: readonly CitableBlock[];
  /**
   * The answer put right by whoever wrote it; null where that gave nothing that may stand, or the same.
   * @param found files that the checks rest on and the answer does not, read when they are asked for
   */
  readonly revise: (
    draft: Draft<T>,
    faults: readonly Fault[],
    found: () => Promise<readonly Reading[]>,
  ) => Promise<Revised<T> | null>;
  /** The answer with a sentence of ours about what was read. */
  readonly withNote: (value: T, note: string) => T;
  /** What a person says instead of the answer; null where that is not of the form that it has to have. */
  readonly withCorrection: (value: T, correction: string, by: string) => T | null;
};

/** Another draft, and the plan for whatever becomes of it. */
export type Revised<T> = { readonly draft: Draft<T>; readonly plan: DraftPlan<T> };

type Kept<T> = { readonly kind: "kept"; readonly value: T };

/**
 * Rules, questions, checks, judge, revision, and again: what an answer has to go through before it counts. A run whose
 * checks are jobs of their own ends here as drafted, and the next run of the job comes to the same answer by the replies
 * on record, finds its checks settled in their rows, and goes on.
 *
 * @returns the answer, or a refusal: UNRESOLVED where something is open in the end, ANSWER_UNSUPPORTED in mode strict
 * @throws Drafted where the answer waits for checks
 */
export async function verifyDraft<T>(
  first: Draft<T>,
  firstPlan: DraftPlan<T>,
  parts: CallParts,
): Promise<Kept<T> | Refusal> {
  const { verification, trace } = parts;
  if (verification === undefined || !isChosen(first, verification)) return kept(first);
  let plan = firstPlan;
  let run = await openRun<T>(plan, verification, parts);
  const stored = await verification.stored();
  const record = openRecord(trace);
  let draft = first;
  for (let revisions = 0; ; revisions += 1) {
    const statements = statementsOf(draft);
    const round = await checkDraft(draft, statements, { run, stored, record });
    const ending = { run, record, stored, plan };
    if (round === null) return ended(draft, "unverified", ending);
    const judged = run.auditor.model.facts.readsPrompts
      ? await judge({ ...run.audit, statements }, round.checks, parts)
      : null;
    const judgement = judgementOf(round, judged, statements, verification.settings);
    record.judged(judgement);
    if (passes(judgement)) {
      record.end("passed");
      return kept(withCoverage(draft, round.coverage, plan));
    }
    if (judgement.score === null) return ended(draft, "unverified", ending);
    const revised =
      revisions < verification.settings.rounds
        ? await revise(draft, { round, judgement, statements }, { plan, run })
        : null;
    if (revised === null) return settle(draft, round, judgement, ending);
    ({ draft, plan } = revised);
    run = { ...run, plan };
  }
}

const kept = <T>({ value }: Draft<T>): Kept<T> => ({ kind: "kept", value });

/** Whether an answer is verified at all: sampled takes what is carried in part, and so many of the others by their job. */
function isChosen({ claims }: Draft<unknown>, { settings, jobId }: Verification): boolean {
  const { mode, samplePercent } = settings;
  if (mode === "off") return false;
  if (mode !== "sampled") return true;
  if (claims.some(({ stands, grade }) => stands && grade !== "supported")) return true;
  return isSampled(jobId, samplePercent);
}

/** Whether a job is one of `percent` in a hundred; the same whenever it is asked. */
export const isSampled = (jobId: string, percent: number): boolean =>
  (createHash("sha256").update(jobId).digest().readUInt32BE(0) / 2 ** 32) * 100 < percent;

async function openRun<T>(
  plan: DraftPlan<T>,
  verification: Verification,
  parts: CallParts,
): Promise<Run> {
  const { model, choice } = plan;
  const auditor = (await verification.auditor(parts.signal)) ?? { model, choice };
  const audit = { ...auditor, task: plan.task, fenceKey: verification.fenceKey };
  return { plan, verification, auditor, audit, parts };
}

type Checking = {
  readonly run: Run;
  readonly stored: StoredVerification;
  readonly record: RecordOfAll;
};

/** Drafts beyond those that revisions and other models make: evidence that changes between two runs makes another answer of it. */
const MOST_NEW_DRAFTS = 1;

/** The checks of a draft, settled; null where there is nothing to check, or drafts never stop changing. */
async function checkDraft(
  draft: Draft<unknown>,
  statements: readonly Statement[],
  { run, stored, record }: Checking,
): Promise<Round | null> {
  const { settings, tier } = run.verification;
  const mostRounds = (settings.rounds + 1) * (tier + 1) + MOST_NEW_DRAFTS;
  const sha256 = hashOf(draft);
  const known = stored.checks.filter((check) => check.record.draftSha256 === sha256);
  const round = known[0]?.record.round ?? record.nextRound(stored);
  if (statements.length === 0 || round > mostRounds) return null;
  const { checks, coverage } =
    known.length > 0
      ? {
          checks: known.map(settledCheck),
          coverage: stored.coverage.filter((row) => row.round === round),
        }
      : await checkAnew({ sha256, round, statements }, run);
  record.checked(checks, coverage);
  const open = checks.filter(({ state }) => state === "open");
  if (open.length === 0) return { round, checks, coverage };
  record.pending();
  throw new Drafted(
    open.map((check) => queuedCheck(check, statements, run)),
    settings.budget,
    settings.priority,
  );
}

type Judged = {
  readonly round: Round;
  readonly judgement: JudgementRecord;
  readonly statements: readonly Statement[];
};

async function revise<T>(
  draft: Draft<T>,
  { round, judgement, statements }: Judged,
  { plan, run }: { readonly plan: DraftPlan<T>; readonly run: Run },
): Promise<Revised<T> | null> {
  const { trace } = run.parts;
  const faults = faultsOf(round.checks, judgement, statements);
  const own = new Set(plan.evidence.map(({ path }) => path));
  const paths = foundFiles(round.checks, judgement).filter((path) => !own.has(path));
  const revised = await trace.step("revise", () =>
    plan.revise(draft, faults, () => readFound(paths, run)),
  );
  const isNew = revised !== null && revised.draft.text !== draft.text;
  trace.detail("revise", { faults: faults.map(({ code }) => code), found: paths, is_new: isNew });
  return isNew ? revised : null;
}

/** Those that can be read whole: a footer says so of several. */
async function readFound(
  paths: readonly string[],
  { verification: { sources } }: Run,
): Promise<readonly Reading[]> {
  const found: Reading[] = [];
  for (const path of paths) {
    const reading = await sources.read(path);
    if (reading.kind === "read" && !reading.truncated) found.push(reading);
  }
  return found;
}

/** An answer that did not pass and is not revised again: refused where something is open, else it stands with its rules' grade. */
function settle<T>(
  draft: Draft<T>,
  round: Round,
  judgement: JudgementRecord,
  ending: Ending<T>,
): Kept<T> | Refusal {
  const open = constraintsOf(round, judgement);
  if (open.length === 0) return ended(draft, "failed", ending);
  ending.record.end("failed", open);
  const why = unresolvedBecause(open);
  return passOn(draft, { state: "failed", why }, ending) ?? refuse("UNRESOLVED", why);
}

const MOST_TOLD = 2;

function unresolvedBecause(open: readonly ConstraintRecord[]): string {
  const told = open
    .slice(0, MOST_TOLD)
    .map(({ what, reason }) => `${what} (${reason.replaceAll("_", " ")})`);
  const more = open.length > MOST_TOLD ? `; and ${String(open.length - MOST_TOLD)} more` : "";
  return `The checks of the answer leave open: ${told.join("; ")}${more}. View constraints says what is needed.`;
}

/** In mode strict nothing stands that was not verified. */
function ended<T>(
  draft: Draft<T>,
  state: "failed" | "unverified",
  ending: Ending<T>,
): Kept<T> | Refusal {
  const { run, record } = ending;
  record.end(state);
  const passedOn = passOn(draft, { state, why: WHY_NOT[state] }, ending);
  if (passedOn !== null) return passedOn;
  if (run.verification.settings.mode !== "strict") return kept(draft);
  return refuse(
    "ANSWER_UNSUPPORTED",
    `${WHY_NOT[state]} verify.mode strict lets nothing stand that was not verified. \`nightdesk runs show\` has the checks.`,
  );
}

const WHY_NOT = {
  failed: "The answer did not pass its checks.",
  unverified: "No judge could be had for the answer, or read.",
} as const;

type Ending<T> = {
  readonly run: Run;
  readonly record: RecordOfAll;
  readonly stored: StoredVerification;
  readonly plan: DraftPlan<T>;
};

const hashOf = ({ text }: Draft<unknown>): string =>
  createHash("sha256").update(text).digest("hex");

/**
 * An answer that was not verified goes to whoever is next: another model answers anew, a person looks at it. What a person
 * has said of this draft holds; null where nobody is next.
 * @throws Escalated, ReviewWanted
 */
function passOn<T>(
  draft: Draft<T>,
  { state, why }: { readonly state: "failed" | "unverified"; readonly why: string },
  { run, record, stored, plan }: Ending<T>,
): Kept<T> | Refusal | null {
  const { next } = run.verification;
  if (next === null) return null;
  if (next === "model") {
    // Where no judge can be read, another answer has none either.
    if (state === "unverified") return null;
    throw new Escalated();
  }
  const { review } = stored;
  const wanted = { draftSha256: hashOf(draft), draft: draft.text, why };
  if (review === null || review.draftSha256 !== wanted.draftSha256) throw new ReviewWanted(wanted);
  const by = review.decidedBy ?? "somebody";
  switch (review.state) {
    case "waiting":
      throw new ReviewWanted(wanted);
    case "accepted":
      record.end("passed");
      return kept(draft);
    case "rejected":
      return refuse("REVIEW_REJECTED", `${by} rejected the answer: ${review.reason ?? ""}`);
    case "corrected": {
      const value = plan.withCorrection(draft.value, review.correction ?? "", by);
      if (value === null)
        return refuse("REVIEW_REJECTED", `${by} put in its place what has not the form asked for.`);
      record.end("passed");
      return { kind: "kept", value };
    }
  }
}

/** An answer that denies something says how much was read for it. */
function withCoverage<T>(
  draft: Draft<T>,
  coverage: readonly CoverageRecord[],
  { withNote }: Pick<DraftPlan<T>, "withNote">,
): Draft<T> {
  const notes = [...new Set(coverage.map((row) => `(${coverageNote(row)})`))];
  return notes.length === 0 ? draft : { ...draft, value: withNote(draft.value, notes.join("\n")) };
}
