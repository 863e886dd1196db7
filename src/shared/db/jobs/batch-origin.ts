/** file: loaded from a file or by a glob. ad_hoc: one job that somebody may be waiting for. schedule: one command. */
export const BATCH_ORIGINS = ["file", "ad_hoc", "schedule"] as const;
export type BatchOrigin = (typeof BATCH_ORIGINS)[number];
