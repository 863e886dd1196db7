import type { ConfigValues } from "../config/schema.ts";
import { DEFAULT_CATCH_UP } from "./schedule-entry.ts";
import type { ScheduleEntry } from "./schedule-entry.ts";

/** The schedules that a configuration writes, in its order. */
export const configuredSchedules = ({
  schedules,
}: Pick<ConfigValues, "schedules">): readonly ScheduleEntry[] =>
  schedules.map(({ catch_up, enabled, ...entry }) => ({
    ...entry,
    catchUp: catch_up ?? DEFAULT_CATCH_UP,
    enabled: enabled ?? true,
  }));
