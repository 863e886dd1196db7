import type { StoredCall } from "../../shared/store/jobs/model-calls.ts";
import type { Unrecorded } from "./not-on-record.ts";
import type { RepeatedCall } from "./recorded-calls.ts";
import { sameJson } from "./same-json.ts";

/**
 * Says why a repetition could not go on: how the prompt that it came to differs from the run's own.
 * @param calls those of the run, in order
 * @param repeated those that were repeated before
 */
export function explainStop(
  at: Unrecorded,
  calls: readonly StoredCall[],
  repeated: readonly RepeatedCall[],
): string {
  if (at.kind === "read") return `it would read ${at.path} now, which the run did not read`;
  const template = at.prompt.template;
  const then = calls[repeated.length];
  if (then === undefined) {
    return `it would make one call more now, number ${repeated.length + 1}, pass ${at.pass} by ${template}`;
  }
  const differs = [
    ...changedTemplate(then.prompt.template, template),
    ...changedValues(then.prompt.values, at.prompt.values),
    ...changedEvidence(then.prompt.evidence, at.prompt.evidence),
    ...(sameJson(then.prompt.violations, at.prompt.violations)
      ? []
      : [`it corrects ${listed(at.prompt.violations)}, then ${listed(then.prompt.violations)}`]),
  ];
  const what =
    differs.length === 0
      ? "the same parts give other words: the template was changed, or the evidence is shown in another way"
      : differs.join("; ");
  return `the prompt of call ${repeated.length + 1}, pass ${at.pass}, is another now: ${what}`;
}

const changedTemplate = (then: string, now: string): readonly string[] =>
  then === now ? [] : [`template ${then} then, ${now} now`];

function changedValues(
  then: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
): readonly string[] {
  const keys = [...new Set([...Object.keys(then), ...Object.keys(now)])];
  const changed = keys.filter((key) => then[key] !== now[key]);
  return changed.length === 0 ? [] : [`it says other ${listed(changed)}`];
}

function changedEvidence(then: readonly unknown[], now: readonly unknown[]): readonly string[] {
  if (sameJson(then, now)) return [];
  return then.length === now.length
    ? ["it shows other spans of the evidence"]
    : [`it shows ${now.length} pieces of evidence, then ${then.length}`];
}

const listed = (names: readonly string[]): string =>
  names.length === 0 ? "nothing" : names.join(", ");
