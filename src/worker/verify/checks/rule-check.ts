import type { ClaimRecord, EvidenceSpan } from "../../../shared/job/run-result.ts";
import type { CitableBlock } from "../../evidence/number.ts";

/** A statement of an answer as checks see it: numbers count from 1 over the claims that stand. */
export type CheckedClaim = {
  readonly number: number;
  readonly text: string;
  readonly claim: ClaimRecord;
};

export type RuleSettings = {
  /** Which claims are negative: those that the detector finds, all of them, or none. */
  readonly negative: "auto" | "on" | "off";
  /** Of two dated documents that disagree the newer is right. */
  readonly newestWins: boolean;
  /** Files that are read for one negative claim. */
  readonly mostMembers: number;
};

/** An answer with what was asked and what it rests on. */
export type AnswerToCheck = {
  /** The question, or the task of another kind. */
  readonly task: string;
  readonly claims: readonly CheckedClaim[];
  readonly evidence: readonly CitableBlock[];
};

type CheckRuleName = "sum" | "date" | "uniqueness" | "newest" | "agreement" | "coverage";

/** A yes-or-no question about a claim, and what a rule says to it. */
export type RuleCheck = {
  readonly claim: number;
  readonly rule: CheckRuleName;
  readonly question: string;
  /** What speaks for the claim. */
  readonly expects: "yes" | "no";
  /**
   * open: somebody has to look, for no rule can tell. unknown: a rule would tell, and what it needs could not be read.
   * A check is in favour of its claim when its state is what it expects.
   */
  readonly state: "yes" | "no" | "unknown" | "open";
  /** What was found and where, in words. */
  readonly detail: string;
  /** Where it stands; both places of a disagreement. A document that is no evidence has the number 0. */
  readonly places: readonly EvidenceSpan[];
};

/** What a negative claim rests on: the set that it speaks of, how large it is, and how much of it was read. */
export type Coverage = {
  readonly claim: number;
  /** In words: "files below contracts/". */
  readonly setQuery: string;
  readonly members: number;
  readonly read: number;
  /** Members that hold what the claim denies, which somebody has to look at. */
  readonly candidates: readonly string[];
};

/** A sentence of a document beside the date of that document (`2025-03` or `2025-03-14`), null where it has none. */
export type DatedSentence = {
  readonly path: string;
  readonly text: string;
  readonly date: string | null;
  readonly span: EvidenceSpan;
};

/** Two sentences that say different figures or dates of the same thing. */
export type Disagreement = {
  readonly claim: number;
  /** "1,250 EUR against 1,310 EUR" */
  readonly what: string;
  readonly cited: DatedSentence;
  readonly other: DatedSentence;
  /** Which one is newer, where both are dated; it wins only under `newestWins`. */
  readonly newer: "cited" | "other" | null;
};

export type RuleFindings = {
  readonly checks: readonly RuleCheck[];
  readonly coverage: readonly Coverage[];
  readonly disagreements: readonly Disagreement[];
};
