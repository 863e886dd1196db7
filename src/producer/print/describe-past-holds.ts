import type { PastHold } from "../../shared/db/jobs/hold-history.ts";
import { countOf, formatDuration, formatTime } from "./quantity.ts";

/** Spans that are told one by one, the last ones. */
const SHOWN = 5;

/** When and why a batch was held, one span a line, then the total where there is more than one. */
export function describePastHolds(
  holds: readonly PastHold[],
  zone: string | null,
): readonly string[] {
  const lines = holds
    .slice(-SHOWN)
    .map(
      (hold) =>
        `${describeSpan(hold, zone)}, ${formatDuration(hold.held_ms)}: ${describeCause(hold)}`,
    );
  if (holds.length < 2) return lines;
  const before = holds.length - lines.length;
  const earlier = before === 0 ? "" : `, with ${countOf(before, "span")} before these`;
  return [...lines, `${formatDuration(heldMs(holds))} in all${earlier}`];
}

/** `2026-11-22 02:10:00Z to 03:40:00Z`, with the day again where it is another; `since …` while it lasts. */
function describeSpan({ began_at: began, ended_at: ended }: PastHold, zone: string | null): string {
  const from = formatTime(began, zone);
  if (ended === null) return `since ${from}`;
  const to = formatTime(ended, zone);
  const [day = ""] = from.split(" ");
  return `${from} to ${to.startsWith(day) ? to.slice(day.length + 1) : to}`;
}

/** Why a batch was held, and how often where it came again: `host down: http://models:11434, 3 times`. */
export function describeCause({ reason, detail, times }: PastHold): string {
  const what = detail === null ? "" : `: ${detail}`;
  return `${CAUSES[reason]}${what}${times === 1 ? "" : `, ${countOf(times, "time")}`}`;
}

export const CAUSES: Readonly<Record<PastHold["reason"], string>> = {
  paused: "paused",
  window: "window closed",
  budget: "no room in the budget",
  host: "host down",
};

/** Milliseconds for which a batch was held. */
export const heldMs = (holds: readonly PastHold[]): number =>
  holds.reduce((total, { held_ms }) => total + held_ms, 0);
