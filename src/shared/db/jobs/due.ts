import { LONGEST_DELAY_MS } from "../../settlement.ts";

/** Beyond the longest delay of a rule, and some time for the statement that wrote it. */
const UNEXPLAINED_SECONDS = LONGEST_DELAY_MS / 1000 + 60;

/**
 * A condition: whether the time of a job has come. A time that lies further ahead than any rule puts it was written
 * before the clock of the database was set back: such a job is due now, and not when the clock is there again. One that
 * is held back while its batch loads has the time infinity.
 * @param dueAt the column
 */
export const isDue = (dueAt: string): string =>
  `(${dueAt} <= now() or ${dueAt} > now() + interval '${UNEXPLAINED_SECONDS} s' and ${dueAt} < 'infinity')`;
