import { CLAIM_GRADES } from "./run-result.ts";
import type { ClaimGrade, ClaimReason, ClaimRecord, FieldBinding } from "./run-result.ts";
import type { CheckRecord } from "./verification.ts";

/** The grade of an answer is that of its worst claim; null where it states nothing. */
export function gradeOf(
  claims: readonly Pick<ClaimRecord, "grade" | "stands">[],
): ClaimGrade | null {
  const standing = claims.filter(({ stands }) => stands).map(({ grade }) => grade);
  return CLAIM_GRADES.findLast((grade) => standing.includes(grade)) ?? null;
}

/** Of an extraction: supported where each value is bound to words of the document beyond doubt; null where it has none. */
export function gradeOfFields(
  bindings: readonly Pick<FieldBinding, "state" | "reason">[],
): ClaimGrade | null {
  if (
    bindings.some(
      ({ state, reason }) => state === "unbound" || (state === "bound" && reason !== null),
    )
  )
    return "partly";
  return bindings.some(({ state }) => state === "bound") ? "supported" : null;
}

/** Whether a check says the contrary of what the answer says. */
export const contradicts = ({ state, expects }: Pick<CheckRecord, "state" | "expects">): boolean =>
  (state === "yes" || state === "no") && state !== expects;

/** How many claims were left out of the answer that was given. */
export function countDropped(claims: readonly ClaimRecord[]): number {
  const draft = claims.find(({ stands }) => stands)?.draft;
  return claims.filter((claim) => claim.draft === draft && claim.fate === "dropped").length;
}

const OTHER_WORDS: ReadonlySet<ClaimReason> = new Set(["words", "new_words", "language"]);

/** Of a claim that is partly carried: said in other words, or a doubt that somebody should look at. */
export const markOf = ({ grade, reason }: Pick<ClaimRecord, "grade" | "reason">): string | null =>
  grade === "partly" ? (OTHER_WORDS.has(reason) ? "other words" : "doubt") : null;

/** A reason in words: what the evidence does with the claim. */
export const REASON_WORDS: Readonly<Record<ClaimReason, string>> = {
  verbatim: "it stands there word for word",
  carried: "it stands there in other words",
  arithmetic: "its figure is reckoned from those of the evidence",
  uncited: "it cites nothing",
  not_admitted: "it cites a piece that is not there",
  figure: "a figure, date or unit of it is not there",
  name: "a name, code or address of it is not there",
  polarity: "one says that it is so, the other that it is not",
  place: "what it brings together stands apart there",
  rival: "its figure belongs to something else there",
  cue: "it is wider, surer or later than what stands there",
  order: "who does what to whom, or what comes first, is another there",
  words: "too few of its words stand there",
  new_words: "it brings words that are not there",
  language: "it is in another language",
  quote: "its quotation does not stand there",
  entailment: "a model that compares the two sees a contradiction",
};
