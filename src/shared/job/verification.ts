/** States of the verification of an answer. */
export const VERIFICATION_STATES = ["off", "pending", "passed", "failed", "unverified"] as const;
export type VerificationState = (typeof VERIFICATION_STATES)[number];

/** Why a question about an answer can't be settled. */
export const UNRESOLVED_REASONS = [
  "source_missing",
  "sources_disagree",
  "out_of_budget",
  "stagnated",
  "blocked_by_approval",
  "auditor_failed",
] as const;
export type UnresolvedReason = (typeof UNRESOLVED_REASONS)[number];

/** A place that a check relies on; `quote` is the text there, if any. */
export type CheckPlace = {
  readonly path: string;
  readonly line_start: number;
  readonly line_end: number;
  readonly quote: string | null;
};

/** A yes-or-no question about a statement of an answer. */
export type CheckRecord = {
  /** 0 for the first checked draft. */
  readonly round: number;
  /** Position in its round, 0 to 2. */
  readonly ordinal: number;
  /** SHA-256 of the checked answer, 64 hex. */
  readonly draftSha256: string;
  /** Number among the statements that the answer keeps, from 1. */
  readonly claimNumber: number;
  readonly claim: string;
  readonly question: string;
  readonly expects: "yes" | "no";
  readonly how: "rule" | "model";
  /** The rule that settled the check or requested it. */
  readonly rule: string | null;
  readonly state: "open" | "yes" | "no" | "unknown";
  readonly detail: string;
  /** Set when the state is unknown. */
  readonly reason: UnresolvedReason | null;
  readonly checkJobId: string | null;
  readonly evidence: readonly CheckPlace[];
};

/** What to change in a statement, and where to look: a file and line, or words to search for. */
type AuditCorrection = {
  readonly claim: number;
  readonly where: string;
  readonly change: string;
};

/** The auditor's score for the checks of a round. */
export type AuditRecord = {
  readonly round: number;
  /** 1 to 4, after caps; 3 or more passes. Null when no reply could be parsed. */
  readonly score: number | null;
  /** The score before caps. */
  readonly given: number | null;
  readonly caps: readonly string[];
  readonly corrections: readonly AuditCorrection[];
};

/** Something that is missing to settle an answer. */
export type ConstraintRecord = {
  readonly what: string;
  readonly needed: string;
  readonly reason: UnresolvedReason;
};

/** For a statement that no member of a set is so: how many members of the set were read. */
export type CoverageRecord = {
  readonly round: number;
  readonly claimNumber: number;
  readonly claim: string;
  readonly setQuery: string;
  readonly members: number;
  readonly read: number;
};

/** The result of the verification of an answer. */
export type VerificationRecord = {
  readonly state: VerificationState;
  readonly checks: readonly CheckRecord[];
  readonly audits: readonly AuditRecord[];
  readonly constraints: readonly ConstraintRecord[];
  readonly coverage: readonly CoverageRecord[];
};

export const NOT_VERIFIED: VerificationRecord = {
  state: "off",
  checks: [],
  audits: [],
  constraints: [],
  coverage: [],
};

/** The result of a job of kind `check`, stored as `runs.summary`. */
export type Verdict = {
  readonly answer: "yes" | "no" | "unknown";
  readonly detail: string;
  /** Set when the answer is unknown. */
  readonly reason: UnresolvedReason | null;
  readonly evidence: readonly CheckPlace[];
  /** Why its quotes do not support the statement that it confirms. */
  readonly against: readonly Objection[];
};

/** An objection of a claim rule, or of the judge, to a statement. */
export type Objection = { readonly rule: string; readonly detail: string };

/** A check as the database stores it, with the state of its job. */
export type StoredCheck = {
  readonly record: CheckRecord;
  /** Null when the job is deleted, and for a check by rule. */
  readonly jobState: string | null;
  readonly jobError: string | null;
  /** The result of its job; null when there is none. */
  readonly verdict: Verdict | null;
};

/** The caps that lowered the score of a round. */
type StoredAudit = { readonly round: number; readonly caps: readonly string[] };

/** A draft for a person to review, and why the run could not settle it. */
export type WantedReview = {
  readonly draftSha256: string;
  readonly draft: string;
  readonly why: string;
};

/** The review of a draft by a person. */
export type DraftReview = {
  readonly draftSha256: string;
  readonly state: "waiting" | "accepted" | "corrected" | "rejected";
  /** The answer in the person's own words. */
  readonly correction: string | null;
  readonly reason: string | null;
  readonly decidedBy: string | null;
};

/** The verification that earlier runs of a job stored, round by round. */
export type StoredVerification = {
  readonly checks: readonly StoredCheck[];
  readonly coverage: readonly CoverageRecord[];
  readonly audits: readonly StoredAudit[];
  /** The review of its draft; null when no person was asked. */
  readonly review: DraftReview | null;
};
