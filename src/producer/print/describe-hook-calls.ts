import type { ShownCall } from "../../shared/db/schedules/hook-calls.ts";
import { formatTime } from "./quantity.ts";

/** How the ends of a batch were told, one a line, newest end first: `webhook: told at 2026-11-22 05:12:09Z (200)`. */
export const describeHookCalls = (
  calls: readonly ShownCall[],
  zone: string | null,
): readonly string[] => calls.map((call) => `${call.target}: ${describeCall(call, zone)}`);

function describeCall(
  { state, status, error, tries, ended_at: endedAt }: ShownCall,
  zone: string | null,
): string {
  const why = error === null ? "" : `: ${error}`;
  switch (state) {
    case "done":
      return `told${endedAt === null ? "" : ` at ${formatTime(endedAt, zone)}`} (${status ?? "no status"})`;
    case "failed":
      return `not told${why}`;
    case "superseded":
      return "not told: the batch was opened again first";
    case "pending":
      return tries === 0 ? "not told yet" : `not told after ${tries} of 3 tries${why}; tried again`;
  }
}
