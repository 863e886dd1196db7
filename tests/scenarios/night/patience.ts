import { eventually } from "../../conformance/signal.ts";

/** What a night waits for comes in seconds; on a machine that is busy with other things, in minutes. */
export const LONG_MS = 600_000;

/** Asks until the answer is yes, as long as a night on a busy machine needs. */
export const patiently = (what: string, isTrue: () => Promise<boolean>): Promise<void> =>
  eventually(what, isTrue, LONG_MS);
