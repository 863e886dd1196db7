import { z } from "zod";
import { HOOK_EVENTS, HOOK_TARGETS } from "../../job/job.ts";
import type { HookTarget } from "../../job/job.ts";
import type { Queryable } from "../connection/database.ts";
import { execute, rowsOf } from "../connection/rows.ts";
import type { BatchOrigin } from "../jobs/batches.ts";

/** Sets the targets to notify when a batch ends or waits for a person, and for which origins of batches. */
export const registerHook = (
  db: Queryable,
  targets: readonly HookTarget[],
  origins: readonly BatchOrigin[],
): Promise<void> =>
  execute(db, [targets, origins])`
     update nightdesk_data.batch_end_hook set targets = $1, origins = $2
      where (targets, origins) is distinct from ($1::text[], $2::text[])`;

const shownSchema = z.object({
  event: z.enum(HOOK_EVENTS),
  target: z.enum(HOOK_TARGETS),
  state: z.enum(["pending", "done", "failed", "superseded"]),
  tries: z.int(),
  status: z.int().nullable(),
  error: z.string().nullable(),
  happened_at: z.date(),
  ended_at: z.date().nullable(),
});

export type ShownCall = z.infer<typeof shownSchema>;

/** The notifications about a batch, newest first. */
export const selectHookCalls = (db: Queryable, batchId: string): Promise<readonly ShownCall[]> =>
  rowsOf(db, shownSchema, [batchId])`
     select event, target, state, tries, status, error, happened_at, ended_at from nightdesk.hooks
      where batch_id = $1 order by happened_at desc, target`;
