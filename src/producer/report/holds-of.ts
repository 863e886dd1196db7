import type { PastHold } from "../../shared/db/jobs/hold-history.ts";
import { CAUSES, describeCause, heldMs } from "../print/describe-past-holds.ts";
import { formatDuration, formatTime } from "../print/quantity.ts";
import { SHOWN } from "./gather-report.ts";
import type { Report } from "./gather-report.ts";

export const HOLD_TITLES = ["From", "To", "Held", "Why"] as const;
export type HoldRow = readonly [from: string, to: string, held: string, why: string];

/** When and why the batch stood still, in texts that both forms of a report show. */
export type ShownHolds = {
  /** `Held for 2 h 15 min in all: host down 1 h 30 min, no room in the budget 45 min 0 s.` */
  readonly sentence: string;
  /** The longest spans in order of time. */
  readonly rows: readonly HoldRow[];
  readonly leftOut: number;
};

export function holdsOf({ holds, times }: Report): ShownHolds {
  const longest = new Set(holds.toSorted((a, b) => b.held_ms - a.held_ms).slice(0, SHOWN.holds));
  const { started_at: began } = times;
  const before = began === null ? 0 : heldMsBetween(holds, new Date(0), began);
  const wait =
    before === 0 ? "" : ` Of that, ${formatDuration(before)} passed before its first job began.`;
  return {
    sentence: `It was held for ${formatDuration(heldMs(holds))} in all: ${describeReasons(holds)}. No job of it began in that time; what ran went on.${wait}`,
    rows: holds.filter((hold) => longest.has(hold)).map(cellsOf),
    leftOut: holds.length - longest.size,
  };
}

const cellsOf = (hold: PastHold): HoldRow => [
  formatTime(hold.began_at),
  hold.ended_at === null ? "still held" : formatTime(hold.ended_at),
  formatDuration(hold.held_ms),
  describeCause(hold),
];

/** Time by reason, most first. */
function describeReasons(holds: readonly PastHold[]): string {
  const reasons = [...new Set(holds.map(({ reason }) => reason))].map((reason) => ({
    reason,
    ms: heldMs(holds.filter((hold) => hold.reason === reason)),
  }));
  return reasons
    .sort((a, b) => b.ms - a.ms)
    .map(({ reason, ms }) => `${CAUSES[reason]} ${formatDuration(ms)}`)
    .join(", ");
}

/**
 * Milliseconds for which a batch was held between two times. Of a span that came again and reaches over one of them, no
 * more is counted than lies between them.
 */
export const heldMsBetween = (holds: readonly PastHold[], from: Date, to: Date): number =>
  holds.reduce((total, { began_at: began, ended_at: ended, held_ms: held }) => {
    const start = Math.max(began.getTime(), from.getTime());
    const end = Math.min(ended?.getTime() ?? Infinity, to.getTime());
    return total + Math.min(held, Math.max(0, end - start));
  }, 0);
