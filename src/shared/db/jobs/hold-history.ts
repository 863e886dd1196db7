import { z } from "zod";
import type { Queryable } from "../database.ts";
import { HOLD_REASONS } from "./holds.ts";

const holdSchema = z.array(
  z.object({
    reason: z.enum(HOLD_REASONS),
    /** The host, the windows, or what was used up, like `calls of the batch`. */
    detail: z.string().nullable(),
    began_at: z.date(),
    /** Null while it lasts. */
    ended_at: z.date().nullable(),
    /** How often, where it came again within a minute. */
    times: z.int(),
    /** Without what lay between the times. */
    held_ms: z.coerce.number(),
  }),
);
/** A span in which a batch was held for one reason. */
export type PastHold = z.infer<typeof holdSchema>[number];

/** All spans in which a batch was held, oldest first; a database trigger keeps them, some 500 of a batch at most. */
export async function selectHolds(db: Queryable, batchId: string): Promise<readonly PastHold[]> {
  const { rows } = await db.query(
    `select reason, detail, began_at, ended_at, times, held_ms from nightdesk.batch_holds
      where batch_id = $1 order by began_at, ended_at nulls last, reason, detail`,
    [batchId],
  );
  return holdSchema.parse(rows);
}
