import type { Queryable } from "../../src/shared/store/connection/database.ts";

const TERMINAL = "('succeeded', 'refused', 'failed', 'cancelled', 'expired')";

/** What must be true of the rows of a batch that has ended, whatever happened on the way: each query finds what is not. */
const CONTRADICTIONS: Readonly<Record<string, string>> = {
  "a job that has not ended": `
    select custom_id || ' is ' || state from nightdesk_data.jobs
     where batch_id = $1 and (state not in ${TERMINAL} or finished_at is null)`,
  "a job that has ended and still holds a lease or a place in the queue": `
    select custom_id from nightdesk_data.jobs
     where batch_id = $1 and state in ${TERMINAL} and (lease_until is not null or worker_id is not null)`,
  "a job with a result, but not of exactly one run": `
    select j.custom_id || ' has ' || count(r.run_id) from nightdesk_data.jobs j
      left join nightdesk_data.runs r on r.job_id = j.job_id and r.state in ('succeeded', 'refused')
     where j.batch_id = $1 and j.state in ('succeeded', 'refused')
     group by j.custom_id having count(r.run_id) <> 1`,
  "a result of another run than the row names": `
    select j.custom_id from nightdesk_data.jobs j join nightdesk_data.runs r using (run_id)
     where j.batch_id = $1 and j.state in ('succeeded', 'refused') and r.state <> j.state`,
  "a run that still runs": `
    select j.custom_id || ' ' || r.run_id from nightdesk_data.jobs j join nightdesk_data.runs r on r.job_id = j.job_id
     where j.batch_id = $1 and r.state = 'running'`,
  "what a run left behind that lost its job": `
    select j.custom_id from nightdesk_data.jobs j join nightdesk_data.runs r on r.job_id = j.job_id
     where j.batch_id = $1 and r.state = 'lost' and r.answer is not null
     union all
    select 'evidence ' || e.evidence_id from nightdesk_data.evidence e
      join nightdesk_data.runs r using (run_id) join nightdesk_data.jobs j on j.job_id = r.job_id
     where j.batch_id = $1 and r.state = 'lost'`,
  "evidence twice in a run": `
    select r.run_id || ' ' || e.ordinal from nightdesk_data.evidence e
      join nightdesk_data.runs r using (run_id) join nightdesk_data.jobs j on j.job_id = r.job_id
     where j.batch_id = $1 group by r.run_id, e.ordinal having count(*) > 1`,
  "a request that was stored twice for a job": `
    select m.job_id || ' ' || m.request_sha256 from nightdesk_data.model_calls m join nightdesk_data.jobs j using (job_id)
     where j.batch_id = $1 group by m.job_id, m.request_sha256 having count(*) > 1`,
  "a call of another job": `
    select r.run_id::text from nightdesk_data.run_calls u join nightdesk_data.runs r using (run_id)
      join nightdesk_data.model_calls m using (call_id) join nightdesk_data.jobs j on j.job_id = r.job_id
     where j.batch_id = $1 and m.job_id <> r.job_id`,
  "more attempts or runs than there were": `
    select j.custom_id from nightdesk_data.jobs j join nightdesk_data.runs r on r.job_id = j.job_id
     where j.batch_id = $1 and j.state in ('succeeded', 'refused')
     group by j.custom_id, j.attempt having j.attempt > count(*)`,
  "counts that are not those of the rows": `
    select p.state || ' ' || to_jsonb(p) from nightdesk.batch_progress p, (
      select count(*) as total, count(*) filter (where state = 'succeeded') as succeeded,
             count(*) filter (where state = 'refused') as refused, count(*) filter (where state = 'failed') as failed,
             count(*) filter (where state = 'cancelled') as cancelled, count(*) filter (where state = 'expired') as expired
        from nightdesk_data.jobs where batch_id = $1) j
     where p.batch_id = $1
       and (p.total, p.succeeded, p.refused, p.failed, p.cancelled, p.expired, p.queued + p.running + p.parked)
           is distinct from (j.total, j.succeeded, j.refused, j.failed, j.cancelled, j.expired, 0::bigint)`,
  "a slot, a place in a line or a reservation that nobody gave back": `
    select 'slot ' || s.ticket from nightdesk_data.host_slots s
      join nightdesk_data.runs r using (run_id) join nightdesk_data.jobs j using (job_id) where j.batch_id = $1
     union all
    select 'place ' || w.ticket from nightdesk_data.host_waiters w
      join nightdesk_data.runs r using (run_id) join nightdesk_data.jobs j using (job_id) where j.batch_id = $1
     union all
    select 'reservation ' || ticket from nightdesk_data.reservations where batch_id = $1`,
  "a budget with reservations, or that was charged for fewer calls than are stored": `
    select to_jsonb(b)::text from nightdesk_data.batch_budgets b
     where b.batch_id = $1
       and (tokens_reserved <> 0 or calls_reserved <> 0 or calls_used < (
             select count(*) from nightdesk_data.model_calls m join nightdesk_data.jobs j using (job_id)
              where j.batch_id = $1 and m.cached_from is null and m.pass <> 'embed'))`,
};

/** What the rows of a batch say that can't be: one line each. An empty list for a batch that went well. */
export async function findContradictions(
  db: Queryable,
  batchId: string,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [what, query] of Object.entries(CONTRADICTIONS)) {
    const { rows } = await db.query(`select * from (${query}) as found (what) limit 5`, [batchId]);
    for (const row of rows) found.push(`${what}: ${(row as { what: string }).what}`);
  }
  return found;
}

/** A lease that was given another end, not before a look of somebody from outside who saw the former one. */
export type Renewal = { readonly runId: string; readonly notBefore: number };

export type LeaseWatch = {
  /** All changes of leases so far, in the order in which they were seen. */
  readonly renewals: readonly Renewal[];
  stop(): Promise<void>;
};

/** Watches the leases of all runs. @param db a connection that no fault reaches */
export function watchLeases(db: Queryable, everyMs = 100): LeaseWatch {
  const ends = new Map<string, string>();
  const renewals: Renewal[] = [];
  const stopping = new AbortController();
  let lookedAt = performance.now();
  const look = async () => {
    const notBefore = lookedAt;
    lookedAt = performance.now();
    const { rows } = await db.query(
      "select run_id, lease_until::text as until from nightdesk_data.jobs where state = 'running'",
    );
    for (const { run_id: runId, until } of rows as { run_id: string; until: string }[]) {
      if (ends.has(runId) && ends.get(runId) !== until) {
        renewals.push({ runId, notBefore });
      }
      ends.set(runId, until);
    }
  };
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      await look();
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  })();
  return {
    renewals,
    async stop() {
      stopping.abort();
      await watching;
    },
  };
}

/**
 * Leases that were renewed for runs that did not move.
 * @param movedAt when each run last did something, by `performance.now()`
 * @param allowedMs how long a run may rest before it has to be given up
 */
export const findIdleRenewals = (
  renewals: readonly Renewal[],
  movedAt: ReadonlyMap<string, number>,
  allowedMs: number,
): readonly string[] =>
  renewals.flatMap(({ runId, notBefore }) => {
    const restedMs = notBefore - (movedAt.get(runId) ?? notBefore);
    return restedMs > allowedMs
      ? [`the lease of ${runId} was renewed after it had rested for ${Math.round(restedMs)} ms`]
      : [];
  });
