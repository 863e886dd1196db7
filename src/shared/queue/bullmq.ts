import { createRequire } from "node:module";
import type * as BullMq from "bullmq";

/** BullMQ, required: an import of it looks through its 200 files for names that they export, which takes as long as loading them. */
export const bullmq = createRequire(import.meta.url)("bullmq") as typeof BullMq;
