/**
 * Whether answers are checked before they count: none, those that are carried in part and a share of the others, all, or
 * all with a refusal of what does not pass. Apart from the jobs, because every command reads it as it starts.
 */
export const VERIFY_MODES = ["off", "sampled", "standard", "strict"] as const;
