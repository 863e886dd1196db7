import type { ClaimGrade } from "../../../../src/shared/job/run-result.ts";
import type { CitableBlock } from "../../../../src/worker/evidence/number.ts";
import { gradeClaims } from "../../../../src/worker/verify/claims/grade.ts";
import type { GradedClaim } from "../../../../src/worker/verify/claims/grade.ts";
import { pieceOf } from "./pieces-of.ts";

/** The grades of a claim where no judge is asked, where one says yes, and where it says no. */
type Grades = readonly [alone: ClaimGrade, yes: ClaimGrade, no: ClaimGrade];

/** What the rules let a judge decide of a claim. */
const STANDINGS: Readonly<Record<string, string>> = {
  "supported supported supported": "verbatim",
  "unconfirmed supported unconfirmed": "open",
  "unconfirmed unconfirmed unsupported": "framed",
  "unsupported unconfirmed unsupported": "held back",
  "unsupported unsupported unsupported": "refused",
};

export type Reading = Pick<GradedClaim, "reason" | "arithmetic"> & {
  readonly standing: string;
  /** The rules that speak against it. */
  readonly rules: readonly string[];
};

/** Grades a claim that cites all of the pieces under each verdict. @param evidence the text of a piece, or pieces */
export function readingOf(
  text: string,
  evidence: string | readonly CitableBlock[],
  question = "",
): Reading {
  const pieces = typeof evidence === "string" ? [pieceOf("notes/a.md", evidence)] : evidence;
  const claim = { text, cites: pieces.map(({ number }) => number) };
  const verdicts = [undefined, "yes", "no"] as const;
  const [alone, yes, no] = gradeClaims(
    verdicts.map((says) =>
      says === undefined ? claim : { ...claim, verdict: { says, detail: "" } },
    ),
    pieces,
    { question },
  );
  if (alone === undefined || yes === undefined || no === undefined) throw new Error("no grade");
  const grades: Grades = [alone.grade, yes.grade, no.grade];
  return {
    standing: STANDINGS[grades.join(" ")] ?? grades.join(" "),
    reason: alone.reason,
    arithmetic: alone.arithmetic,
    rules: alone.checks.filter(({ verdict }) => verdict === "fail").map(({ rule }) => rule),
  };
}

/** "held back figure", "open not_asked". */
export function standingOf(
  text: string,
  evidence: string | readonly CitableBlock[],
  question = "",
): string {
  const { standing, reason } = readingOf(text, evidence, question);
  return `${standing} ${reason}`;
}
