import { parseCron } from "./cron-times.ts";
import type { ScheduleEntry } from "./schedule.ts";

const SHOWN_TIMES = 3;

/** The next three times after now; none when the schedule is off. */
export function nextTimes(
  { enabled, cron, timezone }: Pick<ScheduleEntry, "enabled" | "cron" | "timezone">,
  now: Date,
): readonly Date[] {
  const read = parseCron(cron, timezone);
  if (!enabled || !read.ok) return [];
  const times: Date[] = [];
  for (let at = now; times.length < SHOWN_TIMES;) {
    at = read.times.next(at);
    times.push(at);
  }
  return times;
}
