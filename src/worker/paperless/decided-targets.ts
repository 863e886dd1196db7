import { canonicalJson } from "../../shared/schema/json-value.ts";
import type { WriteBack } from "../../shared/store/index/write-backs.ts";
import { tagName } from "./plan-writes.ts";
import type { Target } from "./plan-writes.ts";
import { keyOf } from "./settle-writes.ts";

/** Values with what people said of them. Of two that are one tag, or become one, the one counts that somebody decided on. */
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

/** A tag that was corrected is another one, about which somebody may have been asked as well. */
function withDecision(target: Target, rows: ReadonlyMap<string, WriteBack>): Target {
  const row = rows.get(keyOf(target));
  if (row === undefined || !isAbout(target, row)) return target;
  const { decision, decidedBy: by, decidedAt: at, decisionReason: words } = row;
  if (decision === null || decision === "rejected" || by === null || at === null) return target;
  // Asked anew, the person has not seen for which reason the value waits now.
  const about = row.isWaiting ? null : row.reason;
  const decided = { decision, by, at, words, about };
  if (row.correction === null) return { ...target, decided };
  const name = target.kind === "tag" ? tagName(row.correction, target.name) : target.name;
  const others = new Map([...rows].filter(([, other]) => other !== row));
  return withDecision({ ...target, name, value: row.correction, decided }, others);
}

/** A decision is of the value that was looked at: another extraction of the batch may give another one. */
const isAbout = ({ binding }: Target, { value }: WriteBack): boolean =>
  canonicalJson(value) === canonicalJson(binding.value);

/** As a value that was withheld, or before that as a field of its extraction. */
export const isRejected = (target: Target, row: WriteBack | undefined): boolean =>
  row?.decision != null && isAbout(target, row)
    ? row.decision === "rejected"
    : target.binding.decision === "rejected";
