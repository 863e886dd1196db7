import type { ClaimRecord, EvidenceSpan } from "../../../shared/job/run-result.ts";
import type { CitableBlock } from "../../evidence/number.ts";

/** A statement of an answer for checks: `number` counts from 1 over the claims that stand. */
export type CheckedClaim = {
  readonly number: number;
  readonly text: string;
  readonly claim: ClaimRecord;
};

export type RuleSettings = {
  /** Which claims are checked as negative: those that the detector finds, all with a denial, or none. */
  readonly negative: "auto" | "on" | "off";
  /** Whether the newer of two dated documents that disagree is right. */
  readonly newestWins: boolean;
  /** Limit of files that are read for one negative claim. */
  readonly mostMembers: number;
};

/** An answer with its task and its evidence. */
export type AnswerToCheck = {
  /** The question, or the task of another kind. */
  readonly task: string;
  readonly claims: readonly CheckedClaim[];
  readonly evidence: readonly CitableBlock[];
};

type CheckRuleName = "sum" | "date" | "uniqueness" | "newest" | "agreement" | "coverage";

/** A yes-or-no question about a claim, and the answer of a rule. */
export type RuleCheck = {
  readonly claim: number;
  readonly rule: CheckRuleName;
  readonly question: string;
  /** The answer that supports the claim. */
  readonly expects: "yes" | "no";
  /**
   * open: no rule can decide, so a model or a person must look. unknown: a rule could decide, but its data could not be read. A
   * check supports its claim when `state` equals `expects`.
   */
  readonly state: "yes" | "no" | "unknown" | "open";
  /** The findings and their places, in words. */
  readonly detail: string;
  /** The places of the findings, both for a disagreement. A document that is not evidence has the number 0. */
  readonly places: readonly EvidenceSpan[];
};

/** The set that a negative claim is about, its size, and how much of it was read. */
export type Coverage = {
  readonly claim: number;
  /** The set in words: "files below contracts/". */
  readonly setQuery: string;
  readonly members: number;
  readonly read: number;
  /** Members that may hold what the claim denies, so that a model or a person must look at them. */
  readonly candidates: readonly string[];
};

/** A sentence of a document, with the date of that document (`2025-03` or `2025-03-14`), or null. */
export type DatedSentence = {
  readonly path: string;
  readonly text: string;
  readonly date: string | null;
  readonly span: EvidenceSpan;
};

/** Two sentences that state different figures or dates of the same thing. */
export type Disagreement = {
  readonly claim: number;
  /** "1,250 EUR against 1,310 EUR" */
  readonly what: string;
  readonly cited: DatedSentence;
  readonly other: DatedSentence;
  /** Which document is newer, if both are dated. It counts as right only under `newestWins`. */
  readonly newer: "cited" | "other" | null;
};

export type RuleFindings = {
  readonly checks: readonly RuleCheck[];
  readonly coverage: readonly Coverage[];
  readonly disagreements: readonly Disagreement[];
};
