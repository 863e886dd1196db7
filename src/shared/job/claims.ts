import { CLAIM_GRADES } from "./run-result.ts";
import type { ClaimGrade, ClaimReason, ClaimRecord, FieldBinding } from "./run-result.ts";
import type { CheckRecord } from "./verification.ts";

/** The grade of an answer is the grade of its worst claim; null when it has no claim. */
export const gradeOf = (
  claims: readonly Pick<ClaimRecord, "grade" | "stands">[],
): ClaimGrade | null => gradeOfFields(claims.filter(({ stands }) => stands));

/** The grade of an extraction is the grade of its worst value; null when it has no value. */
export const gradeOfFields = (
  bindings: readonly Pick<FieldBinding, "grade">[],
): ClaimGrade | null =>
  CLAIM_GRADES.findLast((grade) => bindings.some((binding) => binding.grade === grade)) ?? null;

/** Whether the result of a check contradicts the answer. */
export const contradictsAnswer = ({
  state,
  expects,
}: Pick<CheckRecord, "state" | "expects">): boolean =>
  (state === "yes" || state === "no") && state !== expects;

/** The number of claims that the final answer leaves out. */
export function countDropped(claims: readonly ClaimRecord[]): number {
  const draft = claims.find(({ stands }) => stands)?.draft;
  return claims.filter((claim) => claim.draft === draft && claim.fate === "dropped").length;
}

/** A reason in words: how the evidence relates to the claim, or who did not confirm it. */
export const REASON_WORDS: Readonly<Record<ClaimReason, string>> = {
  verbatim: "it stands there word for word",
  computed: "it comes out again from the table",
  confirmed: "an examined model confirms it",
  uncited: "it cites nothing",
  not_admitted: "it cites a piece that is not there",
  quote: "its quotation does not stand there",
  figure: "a figure, date or unit of it is not there",
  name: "a name, code or address of it is not there",
  polarity: "one says that it is so, the other that it is not",
  opposite: "the one says the opposite of the other",
  anchor: "its names stand there in another order",
  subject: "another is named there as who does it",
  frame:
    "what stands there is no statement: denied above, asked, open, struck, an option, an example, or hearsay",
  label: "its figure stands there in a heading or title alone",
  reading: "a figure of it was not read for sure from the picture of its page",
  judge: "an examined model does not find it there",
  unclear: "an examined model can't tell whether it stands there",
  not_asked: "it stands there in other words, if at all, and no examined model was asked",
};
