import { canonicalJson } from "../../shared/schema/json-value.ts";
import type { WriteBack } from "../../shared/store/index/write-backs.ts";
import { tagName } from "./plan-writes.ts";
import type { Target } from "./plan-writes.ts";
import { keyOf } from "./settle-writes.ts";

/** Adds people's decisions to the values. If two values are (or become) the same tag, the one with a decision counts. */
export function decidedTargets(
  targets: readonly Target[],
  known: readonly WriteBack[],
): readonly Target[] {
  const rows = new Map(known.map((row) => [keyOf(row), row]));
  const byKey = new Map<string, Target>();
  for (const one of targets) {
    const target = withDecision(one, rows);
    if (!byKey.has(keyOf(target)) || target.decided !== null) byKey.set(keyOf(target), target);
  }
  return [...byKey.values()];
}

/** A corrected tag is another tag, which may have a row and a decision of its own; hence the recursion. */
function withDecision(target: Target, rows: ReadonlyMap<string, WriteBack>): Target {
  const row = rows.get(keyOf(target));
  if (row === undefined || !isDecisionOn(target, row)) return target;
  const { decision, decidedBy: by, decidedAt: at, decisionReason: words } = row;
  if (decision === null || decision === "rejected" || by === null || at === null) return target;
  // If the value waits again, the person has not seen the new reason.
  const about = row.isWaiting ? null : row.reason;
  const decided = { decision, by, at, words, about };
  if (row.correction === null) return { ...target, decided };
  const name = target.kind === "tag" ? tagName(row.correction, target.name) : target.name;
  const others = new Map([...rows].filter(([, other]) => other !== row));
  return withDecision({ ...target, name, value: row.correction, decided }, others);
}

/** Whether the row's decision is on this value: another extraction of the batch may give another value. */
const isDecisionOn = ({ binding }: Target, { value }: WriteBack): boolean =>
  canonicalJson(value) === canonicalJson(binding.value);

/** Whether a person rejected the value: as withheld by a write-back, or before that as a field of its extraction. */
export const isRejected = (target: Target, row: WriteBack | undefined): boolean =>
  row?.decision != null && isDecisionOn(target, row)
    ? row.decision === "rejected"
    : target.binding.decision === "rejected";
