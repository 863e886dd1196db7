/**
 * Which answers are checked before they count: none; those with an unconfirmed statement and a share of the others; all; or all,
 * and an answer that does not pass is refused. This file is separate from the jobs because every command loads it at its start.
 */
export const VERIFY_MODES = ["off", "sampled", "standard", "strict"] as const;

/** Which statements are checked against all members of a set: those found to deny something of it, all that deny, or none. */
export const NEGATIVE_MODES = ["auto", "on", "off"] as const;

/** How a judge gets statements: ten at once, one by one for a yes or a no, or by a cross-encoder in this process. */
export const JUDGE_FORMS = ["list", "yes_no", "nli"] as const;
export type JudgeForm = (typeof JUDGE_FORMS)[number];
