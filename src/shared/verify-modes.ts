/**
 * Whether answers are checked before they count: none, those that are carried in part and a share of the others, all, or
 * all with a refusal of what does not pass. Apart from the jobs, because every command reads it as it starts.
 */
export const VERIFY_MODES = ["off", "sampled", "standard", "strict"] as const;

/** Which statements are held to all of a set: those that are found to deny something of it, all that deny, or none. */
export const NEGATIVE_MODES = ["auto", "on", "off"] as const;
