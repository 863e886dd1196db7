import type { FieldBinding } from "../../../shared/job/run-result.ts";
import type { CallParts } from "../../answer/call-model.ts";
import type { CitableBlock } from "../../evidence/number.ts";
import type { Auditor, JudgeVerdict } from "../../evidence/types.ts";
import { charsIn } from "../../models/model.ts";
import type { FieldValue } from "../../verify/bindings/quoted-fields.ts";
import { BESIDE_FIELDS, fieldsToJudge } from "../../verify/judge/judged-fields.ts";
import { verdictsBy } from "../../verify/judge/verdicts.ts";

type BoundValues = {
  readonly values: readonly FieldValue[];
  /** In the order of the values. */
  readonly bindings: readonly FieldBinding[];
  readonly evidence: readonly CitableBlock[];
};

/** The verdicts of a judge on the values of an extraction, by pointer; empty if no judge may be asked. */
export async function judgeFields(
  { values, bindings, evidence }: BoundValues,
  answerer: Auditor,
  parts: CallParts,
): Promise<ReadonlyMap<string, JudgeVerdict>> {
  const fields = fieldsToJudge(values, bindings);
  if (parts.judge === undefined || fields.length === 0) return new Map();
  const limits = { chars: charsIn(evidence), signal: parts.signal };
  const statements = await parts.offload(BESIDE_FIELDS, { fields, evidence }, limits);
  const given = await parts.judge(statements, answerer, parts);
  return verdictsBy(
    fields.map(({ field }) => field.pointer),
    given,
  );
}
