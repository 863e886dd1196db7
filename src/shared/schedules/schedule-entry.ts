/** A schedule as the configuration or `schedule set` writes it. */
export type ScheduleEntry = {
  readonly name: string;
  /** Five fields, or `@daily` and the like. */
  readonly cron: string;
  /** IANA name. */
  readonly timezone: string;
  /** Words after `nightdesk`, with placeholders. */
  readonly command: readonly string[];
  /** How old a missed time may be to be run all the same, like `12h`; `0`: never. */
  readonly catchUp: string;
  readonly enabled: boolean;
};

export const DEFAULT_CATCH_UP = "12h";
