import type { ClaimReason, ClaimRecord } from "../../../shared/job/run-result.ts";
import type { CallParts } from "../../answer/call-model.ts";
import type { Auditor, JudgeVerdict } from "../../evidence/types.ts";
import type { Validated } from "../../evidence/validated.ts";
import type { AnswerRules } from "../../verify/check-answer.ts";
import { charsIn } from "../../models/model.ts";
import { verdictKey } from "../../verify/claims/answer-claims.ts";
import { BESIDE_LINES } from "../../verify/judge/judged-lines.ts";
import { verdictsBy } from "../../verify/judge/verdicts.ts";

type JudgeContext = { readonly rules: AnswerRules; readonly answerer: Auditor };

/**
 * Asks the judge about the open statements of a validated reply and grades them again by its verdicts. Returns the reply
 * unchanged if no judge is configured or may be asked.
 * @param again validates the same reply with the verdicts
 */
export async function judgeReply<T>(
  validated: Validated<T>,
  { rules, answerer }: JudgeContext,
  parts: CallParts,
  again: (verdicts: ReadonlyMap<string, JudgeVerdict>) => Promise<Validated<T>>,
): Promise<Validated<T>> {
  if (parts.judge === undefined || validated.kind === "refused") return validated;
  const open = openClaims(validated.claims ?? []);
  if (open.length === 0) return validated;
  const { evidence } = rules;
  const statements = await parts.offload(
    BESIDE_LINES,
    { claims: open, evidence },
    { chars: charsIn(evidence), signal: parts.signal },
  );
  const given = await parts.judge(statements, answerer, parts);
  const verdicts = verdictsBy(open.map(verdictKey), given);
  return verdicts.size === 0 ? validated : again(verdicts);
}

/** A verdict of a judge changes the grade of claims with these reasons. */
const OPEN: ReadonlySet<ClaimReason> = new Set([
  ...(["not_asked", "figure", "name", "polarity", "opposite"] as const),
  ...(["anchor", "subject", "frame", "label"] as const),
]);
const MOST_CHARS = 2_000;

/** The open claims, each once. A claim that stands in the evidence word for word, or cites nothing that was read, is settled. */
function openClaims(claims: readonly ClaimRecord[]): readonly ClaimRecord[] {
  const open = claims.filter(
    ({ reason, text, span, checks }) =>
      OPEN.has(reason) &&
      span !== null &&
      text.length <= MOST_CHARS &&
      !checks.some(({ rule }) => rule === "verbatim"),
  );
  return [...new Map(open.map((claim) => [verdictKey(claim), claim])).values()];
}
