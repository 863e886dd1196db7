/** What a call of a tool may change or reach beside what it reads. */
export const EFFECTS = ["none", "local-write", "exec", "network"] as const;
export type ToolEffect = (typeof EFFECTS)[number];
