import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import type { BatchOrigin } from "../jobs/batches.ts";

/** Payload-free: a batch has ended, and somebody wants to be told. */
export const HOOKS_CHANNEL = "nightdesk_hooks";

export type HookTarget = "command" | "webhook";

/** Says what is to be called when a batch ends from now on, and for which batches. */
export async function registerHook(
  db: Queryable,
  targets: readonly HookTarget[],
  origins: readonly BatchOrigin[],
): Promise<void> {
  await db.query(
    `update nightdesk_data.batch_end_hook set targets = $1, origins = $2
      where (targets, origins) is distinct from ($1::text[], $2::text[])`,
    [targets, origins],
  );
}

const claimedSchema = z.array(
  z
    .object({
      call_id: z.string(),
      claim_id: z.string(),
      batch_id: z.string(),
      finished_at: z.date(),
      target: z.enum(["command", "webhook"]),
      tries: z.int(),
      is_current: z.boolean(),
    })
    .transform((row) => ({
      callId: row.call_id,
      claimId: row.claim_id,
      batchId: row.batch_id,
      finishedAt: row.finished_at,
      target: row.target,
      tries: row.tries,
      isCurrent: row.is_current,
    })),
);

/** A call in hand: `tries` counts this one, `isCurrent` says that the batch was not opened again since it ended. */
export type HookCall = z.infer<typeof claimedSchema>[number];

/**
 * Takes one call that is due, for `seconds`: of any number of workers one gets it. A batch that was cancelled is told of
 * when the last of its jobs has stopped.
 */
export async function claimHookCall(
  db: Queryable,
  targets: readonly HookTarget[],
  seconds: number,
): Promise<HookCall | undefined> {
  const { rows } = await db.query(
    `with due as materialized (
       select h.call_id from nightdesk_data.hook_calls h join nightdesk_data.batches b using (batch_id)
        where h.state = 'pending' and h.due_at <= clock_timestamp() and h.target = any($1::text[])
          and (h.claimed_until is null or h.claimed_until < clock_timestamp())
          and not b.closing
          and not exists (select from nightdesk_data.jobs j where j.batch_id = b.batch_id and j.state = 'running')
        order by h.due_at, h.call_id limit 1 for update of h skip locked)
     update nightdesk_data.hook_calls h
        set tries = tries + 1, claim_id = gen_random_uuid(),
            claimed_until = clock_timestamp() + make_interval(secs => $2::double precision)
       from due, nightdesk_data.batches b
      where h.call_id = due.call_id and b.batch_id = h.batch_id
     returning h.call_id, h.claim_id, h.batch_id, h.finished_at, h.target, h.tries,
               b.finished_at is not distinct from h.finished_at as is_current`,
    [targets, seconds],
  );
  return claimedSchema.parse(rows)[0];
}

export type CallResult = {
  /** again: it is due once more after `delaySeconds`. */
  readonly state: "done" | "failed" | "superseded" | "again";
  /** HTTP status or exit code; null when there was none. */
  readonly status: number | null;
  readonly error: string | null;
  readonly delaySeconds: number;
};

/** Writes how a call went, unless somebody else has taken it since. */
export async function settleHookCall(
  db: Queryable,
  { callId, claimId }: Pick<HookCall, "callId" | "claimId">,
  { state, status, error, delaySeconds }: CallResult,
): Promise<void> {
  await db.query(
    `update nightdesk_data.hook_calls
        set state = case $3::text when 'again' then 'pending' else $3 end, claim_id = null, claimed_until = null,
            due_at = clock_timestamp() + make_interval(secs => $6::double precision), status = $4, error = $5,
            ended_at = case $3::text when 'again' then null else clock_timestamp() end
      where call_id = $1 and claim_id = $2`,
    [callId, claimId, state, status, error, delaySeconds],
  );
}

const shownSchema = z.array(
  z.object({
    target: z.enum(["command", "webhook"]),
    state: z.enum(["pending", "done", "failed", "superseded"]),
    tries: z.int(),
    status: z.int().nullable(),
    error: z.string().nullable(),
    finished_at: z.date(),
    ended_at: z.date().nullable(),
  }),
);

export type ShownCall = z.infer<typeof shownSchema>[number];

/** How the ends of a batch were told, newest end first. */
export async function selectHookCalls(
  db: Queryable,
  batchId: string,
): Promise<readonly ShownCall[]> {
  const { rows } = await db.query(
    `select target, state, tries, status, error, finished_at, ended_at from nightdesk_data.hook_calls
      where batch_id = $1 order by finished_at desc, target`,
    [batchId],
  );
  return shownSchema.parse(rows);
}
