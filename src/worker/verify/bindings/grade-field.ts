import type { FieldBinding } from "../../../shared/job/run-result.ts";
import type { JudgeVerdict } from "../../evidence/types.ts";
import { GRADES } from "../claims/grade.ts";
import { isChosen } from "./quoted-fields.ts";
import type { FieldValue } from "./quoted-fields.ts";

type Bound = Omit<FieldBinding, "grade" | "judged">;

/**
 * Grades a value by the words that it is bound to, and by what a judge says of them. A line that holds it and whose label is no other's
 * carries it by itself, until a judge says no; a line of another label never does. What a model chooses or words need stand nowhere.
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
  // No yes makes sure what was not read for sure.
  if (reason === "reading" && says !== "no") return { ...binding, judged, grade: "unconfirmed" };
  if (reason !== null && reason !== "reading") {
    const veto = reason === "other_label" ? "frame" : "none";
    return { ...binding, judged, grade: GRADES[says][veto] };
  }
  return says === "no"
    ? { ...binding, judged, grade: GRADES.no.none, reason: "judge" }
    : { ...binding, judged, grade: "supported" };
}

/** Whether words of the document carry a value, be it in doubt. */
export const isCarried = ({ state, grade }: Pick<FieldBinding, "state" | "grade">): boolean =>
  state === "bound" && grade !== "unsupported";
