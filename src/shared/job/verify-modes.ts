/**
 * Whether answers are checked before they count: none, those with an unconfirmed statement and a share of the others, all,
 * or all with a refusal of what does not pass. Apart from the jobs, because every command reads it as it starts.
 */
export const VERIFY_MODES = ["off", "sampled", "standard", "strict"] as const;

/** Which statements are held to all of a set: those that are found to deny something of it, all that deny, or none. */
export const NEGATIVE_MODES = ["auto", "on", "off"] as const;

/** How a judge of statements is asked: ten at once, one by one for a yes or a no, or by a cross-encoder here. */
export const JUDGE_FORMS = ["list", "yes_no", "nli"] as const;
export type JudgeForm = (typeof JUDGE_FORMS)[number];
