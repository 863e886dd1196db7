/** What the verification of an answer puts on record: checks, audits, what is open, what was covered. */
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

/** A place that a check goes by; `quote` are the words there, where there are any. */
export type CheckPlace = {
  readonly path: string;
  readonly line_start: number;
  readonly line_end: number;
  readonly quote: string | null;
};

/** A yes-or-no question about a statement of an answer. */
export type CheckRecord = {
  /** 0 for the first draft that was checked. */
  readonly round: number;
  /** 0 to 2. */
  readonly ordinal: number;
  /** SHA-256 of the answer that it is about, 64 hex. */
  readonly draftSha256: string;
  /** Of the statements that stand, from 1. */
  readonly claimNumber: number;
  readonly claim: string;
  readonly question: string;
  readonly expects: "yes" | "no";
  readonly how: "rule" | "model";
  /** The rule that settled it, or that asked for somebody to look. */
  readonly rule: string | null;
  readonly state: "open" | "yes" | "no" | "unknown";
  readonly detail: string;
  /** Of an unknown one. */
  readonly reason: UnresolvedReason | null;
  readonly checkJobId: string | null;
  readonly evidence: readonly CheckPlace[];
};

/** What is to be done about a statement, and where: a file and line, or words to search for. */
export type AuditCorrection = {
  readonly claim: number;
  readonly where: string;
  readonly change: string;
};

/** What the auditor made of the checks of a round. */
export type AuditRecord = {
  readonly round: number;
  /** 1 to 4 after caps, of which 3 passes; null where no reply could be read. */
  readonly score: number | null;
  /** The same before caps. */
  readonly given: number | null;
  readonly caps: readonly string[];
  readonly corrections: readonly AuditCorrection[];
};

/** What it takes to settle an answer. */
export type ConstraintRecord = {
  readonly what: string;
  readonly needed: string;
  readonly reason: UnresolvedReason;
};

/** Of a statement that nothing of a set is so. */
export type CoverageRecord = {
  readonly round: number;
  readonly claimNumber: number;
  readonly claim: string;
  readonly setQuery: string;
  readonly members: number;
  readonly read: number;
};

/** What became of the verification of an answer. */
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

/** What a job of kind `check` gives, as `runs.summary`. */
export type Verdict = {
  readonly answer: "yes" | "no" | "unknown";
  readonly detail: string;
  /** Of an unknown. */
  readonly reason: UnresolvedReason | null;
  readonly evidence: readonly CheckPlace[];
  /** Why the words that it rests on do not carry the statement that it speaks for. */
  readonly against: readonly Objection[];
};

/** A rule for claims, or the judge, and what it holds against a statement. */
export type Objection = { readonly rule: string; readonly detail: string };

/** A check as its rows have it: what was asked, and what became of its job. */
export type StoredCheck = {
  readonly record: CheckRecord;
  /** Null where its job is gone, and of a check by rule. */
  readonly jobState: string | null;
  readonly jobError: string | null;
  /** What its job gave; null where it gave nothing. */
  readonly verdict: Verdict | null;
};

/** What kept the score of a round low. */
type StoredAudit = { readonly round: number; readonly caps: readonly string[] };

/** A draft that a person is to look at, and why nobody else could settle it. */
export type WantedReview = {
  readonly draftSha256: string;
  readonly draft: string;
  readonly why: string;
};

/** What a person was asked about a draft, and has said. */
export type DraftReview = {
  readonly draftSha256: string;
  readonly state: "waiting" | "accepted" | "corrected" | "rejected";
  /** The answer in the person's own words. */
  readonly correction: string | null;
  readonly reason: string | null;
  readonly decidedBy: string | null;
};

/** What earlier runs of a job have come to, round by round. */
export type StoredVerification = {
  readonly checks: readonly StoredCheck[];
  readonly coverage: readonly CoverageRecord[];
  readonly audits: readonly StoredAudit[];
  /** What a person was asked about its draft; null where nobody was. */
  readonly review: DraftReview | null;
};
