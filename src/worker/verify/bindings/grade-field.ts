import type { FieldBinding } from "../../../shared/job/run-result.ts";
import type { JudgeVerdict } from "../../evidence/types.ts";
import { GRADES } from "../claims/grade.ts";
import { isChosen } from "./quoted-fields.ts";
import type { FieldValue } from "./quoted-fields.ts";

type Bound = Omit<FieldBinding, "grade" | "judged">;

/**
 * Grades a value by the words that it is bound to and by a judge's verdict. A line that holds it under a fitting label supports
 * it, unless the judge says no; a line with another label never does. A value that the model chooses or words need not be in
 * the text.
 */
export function gradeField(
  field: FieldValue,
  binding: Bound,
  judged: JudgeVerdict | null,
): FieldBinding {
  const { state, reason } = binding;
  if (state === "null") return { ...binding, judged, grade: null };
  if (state === "unbound") {
    return { ...binding, judged, grade: isChosen(field) ? "unconfirmed" : "unsupported" };
  }
  const says = judged?.says ?? "unclear";
  // Even a "yes" of the judge can't confirm a figure that text recognition marked as doubtful.
  if (reason === "reading" && says !== "no") return { ...binding, judged, grade: "unconfirmed" };
  if (reason !== null && reason !== "reading") {
    const veto = reason === "other_label" ? "frame" : "none";
    return { ...binding, judged, grade: GRADES[says][veto] };
  }
  return says === "no"
    ? { ...binding, judged, grade: GRADES.no.none, reason: "judge" }
    : { ...binding, judged, grade: "supported" };
}

/** Whether words of the document support a value, even if in doubt. */
export const isCarried = ({ state, grade }: Pick<FieldBinding, "state" | "grade">): boolean =>
  state === "bound" && grade !== "unsupported";
