import { z } from "zod";
import type { Database, Queryable } from "../store/connection/database.ts";
import { camelRow, execute, rowOf, rowsOf } from "../store/connection/rows.ts";
import { selectOutput } from "../store/investigations/steps.ts";
import { NOTES_JSON, RUN_ROWS } from "./runs.ts";
import type { RunRows } from "./runs.ts";
import { TRACE_VERSION, traceLineSchema } from "./trace-lines.ts";
import type { TraceLine } from "./trace-lines.ts";

const jobSchema = camelRow({ job_id: z.string(), ended: z.boolean() });

/** The job with this id, or of the run with this id; undefined if there is none. @param id a UUID */
export const selectTracedJob = (
  db: Queryable,
  id: string,
): Promise<z.infer<typeof jobSchema> | undefined> =>
  rowOf(db, jobSchema, [id])`
     select job_id, finished_at is not null as ended from nightdesk_data.jobs
      where job_id = $1 or job_id = (select job_id from nightdesk_data.runs where run_id = $1)`;

// The job and its check jobs, each with the scope of its lines.
const SCOPES = `
scopes as materialized (
  select $1::uuid as job_id, 'job' as scope
   union all
  select check_job_id, 'check ' || round || '.' || ordinal from nightdesk_data.checks where job_id = $1 and check_job_id is not null),
traced as materialized (
  select r.*, s.scope as traced_as, coalesce(r.finished_at, r.started_at) as settled_at
    from scopes s join nightdesk_data.runs r using (job_id))`;

// Rows of checks and audits have no time of their own. A round was asked when its jobs were queued or, if rules settled it, just
// before its auditor call. It was scored with the auditor's reply: the first audit belongs to the first auditor call. Without an
// auditor both times are the end of the run.
const ROUNDS = `
ended as materialized (select max(settled_at) as at from traced where traced_as = 'job'),
scored as materialized (
  select g.*, row_number() over (order by g.round) as nth from nightdesk_data.audits g where g.job_id = $1),
auditors as materialized (
  select created_at, row_number() over (order by call_id) as nth from nightdesk_data.model_calls where job_id = $1 and pass = 'audit'),
rounds as materialized (
  select r.round, min(e.at) as ended_at, coalesce(min(q.created_at), min(k.created_at), min(e.at)) as asked_at,
         coalesce(greatest(max(q.finished_at), min(k.created_at)), min(e.at)) as scored_at
    from (select round from nightdesk_data.checks where job_id = $1
           union select round from nightdesk_data.audits where job_id = $1
           union select round from nightdesk_data.coverage where job_id = $1) r
   cross join ended e
    left join nightdesk_data.checks c on c.job_id = $1 and c.round = r.round
    left join nightdesk_data.jobs q on q.job_id = c.check_job_id
    left join scored g on g.round = r.round
    left join auditors k on k.nth = g.nth
   group by r.round)`;

type Source = {
  readonly type: TraceLine["type"];
  readonly at: string;
  /** Orders lines of the same time. */
  readonly rank: number | string;
  readonly ordinal?: string;
  readonly run?: string;
  readonly scope?: string;
  readonly body: string;
  readonly from: string;
};

/** The rows of a run as lines. */
const ofRun = (
  type: TraceLine["type"],
  { table, ordinal, body }: RunRows,
  rank: number,
): Source => ({
  ...{ type, rank, ordinal, body },
  at: "r.settled_at",
  run: "r.run_id",
  scope: "r.traced_as",
  from: `traced r join nightdesk_data.${table} c using (run_id)`,
});

const SOURCES: readonly Source[] = [
  {
    type: "job",
    at: "j.created_at",
    rank: 0,
    body: `to_jsonb(j) || jsonb_build_object('schema_version', ${TRACE_VERSION}, 'batch', b.name, 'job_state', j.state)`,
    from: "nightdesk_data.jobs j join nightdesk_data.batches b using (batch_id) where j.job_id = $1",
  },
  {
    type: "grant",
    at: "g.created_at",
    rank: 1,
    scope: "s.scope",
    body: "to_jsonb(g)",
    from: "scopes s join nightdesk_data.grants g using (job_id)",
  },
  {
    type: "run",
    at: "r.started_at",
    rank: 2,
    run: "r.run_id",
    scope: "r.traced_as",
    body: `to_jsonb(r) - '{answer,citations,summary}'::text[] || jsonb_build_object('kind', j.kind, 'input', case when r.traced_as <> 'job' then j.input end,
      'notes', ${NOTES_JSON})`,
    from: "traced r join nightdesk_data.jobs j using (job_id)",
  },
  {
    // at_ms counts from when the worker got the job, a moment after started_at.
    ...ofRun("step", RUN_ROWS.events, 3),
    at: "r.started_at + make_interval(secs => c.at_ms / 1000)",
  },
  {
    // `output` is a hash here; withOutput replaces it by the content. A call outside of an investigation has no time: it was
    // made in the step of its name, after the model call that requested it.
    ...ofRun("tool", RUN_ROWS.tool_calls, 8),
    at: `coalesce(s.started_at, greatest(
      (select r.started_at + make_interval(secs => min(e.at_ms) / 1000) from nightdesk_data.run_events e
        where e.run_id = r.run_id and e.step = 'tool_call'),
      (select max(m.created_at) from nightdesk_data.model_calls m where m.run_id = r.run_id and m.pass = 'first')), r.settled_at)`,
    body: `to_jsonb(c) || jsonb_build_object('output', (select u.kept_sha256 from nightdesk_data.artifact_uses u
        where u.job_id = c.job_id and u.step = c.step and u.stream = 'result' and r.traced_as = 'job'), 'investigation', case when s.ordinal is not null then
      jsonb_build_object('ordinal', s.ordinal, 'state', s.state, 'detail', s.detail, 'effect', s.effect, 'args_sha256', c.args_sha256) end)`,
    from: `traced r join nightdesk_data.tool_calls c using (run_id)
      left join nightdesk_data.steps s on s.job_id = c.job_id and s.ordinal = c.step`,
  },
  {
    type: "policy",
    at: "s.started_at",
    rank: 4,
    ordinal: "s.ordinal",
    run: "r.run_id",
    scope: "r.traced_as",
    body: "jsonb_build_object('ordinal', s.ordinal, 'kind', s.kind, 'state', s.state, 'detail', s.detail)",
    from: `traced r join nightdesk_data.steps s using (run_id)
      where s.kind not in ('tool', 'model') or s.kind = 'model' and s.state <> 'done'`,
  },
  {
    // Cheap calls are written with the result, in a transaction that began when the run ended: hence `least`.
    type: "call",
    at: "least(c.created_at, r.settled_at)",
    rank: 7,
    ordinal: "c.call_id",
    run: "c.run_id",
    scope: "s.scope",
    body: "to_jsonb(c) - 'run_id' || jsonb_build_object('ordinal', o.ordinal)",
    from: `scopes s join nightdesk_data.model_calls c using (job_id) left join traced r on r.run_id = c.run_id
      left join (select job_id, request_sha256, min(ordinal) as ordinal from nightdesk_data.steps
                  where job_id in (select job_id from scopes) group by job_id, request_sha256) o
             on o.job_id = c.job_id and o.request_sha256 = c.request_sha256`,
  },
  {
    ...ofRun("evidence", RUN_ROWS.evidence, 10),
    body: "to_jsonb(c) - 'run_id' || jsonb_build_object('number', c.ordinal + 1)",
  },
  ofRun("quote", RUN_ROWS.quotes, 11),
  ofRun("figure", RUN_ROWS.figures, 12),
  ofRun("field", RUN_ROWS.field_bindings, 13),
  ofRun("part", RUN_ROWS.summary_parts, 14),
  ofRun("claim", RUN_ROWS.claims, 15),
  {
    type: "coverage",
    at: "o.asked_at",
    rank: "case when o.asked_at = o.ended_at then 16 else 5 end",
    ordinal: "c.claim_number",
    body: "to_jsonb(c)",
    from: "nightdesk_data.coverage c join rounds o using (round) where c.job_id = $1",
  },
  {
    // The finding of a job is known when the job ends, that of a rule when the round is asked.
    type: "check",
    at: "coalesce(greatest(q.finished_at, v.finished_at), o.asked_at)",
    rank: "case when q.finished_at is not null then 20 when o.asked_at = o.ended_at then 16 else 6 end",
    ordinal: "c.round * 10 + c.ordinal",
    body: "to_jsonb(c) || jsonb_build_object('job_state', q.state, 'job_error', q.error_code, 'verdict', case when v.state = 'succeeded' then v.summary end)",
    from: `nightdesk_data.checks c join rounds o using (round)
      left join nightdesk_data.jobs q on q.job_id = c.check_job_id
      left join nightdesk_data.runs v on v.run_id = q.run_id
      where c.job_id = $1`,
  },
  {
    type: "audit",
    at: "o.scored_at",
    rank: "case when o.scored_at = o.ended_at then 17 else 9 end",
    ordinal: "g.round",
    body: "to_jsonb(g)",
    from: "scored g join rounds o using (round)",
  },
  {
    type: "constraint",
    at: "e.at",
    rank: 18,
    ordinal: "c.ordinal",
    body: "to_jsonb(c)",
    from: "ended e cross join nightdesk_data.constraints c where c.job_id = $1",
  },
  {
    type: "review",
    at: "coalesce(v.decided_at, v.requested_at)",
    rank: 21,
    body: "to_jsonb(v) - 'job_id' - 'run_id'",
    from: "nightdesk_data.draft_reviews v where v.job_id = $1",
  },
  {
    type: "answer",
    at: "r.settled_at",
    rank: 19,
    run: "r.run_id",
    scope: "r.traced_as",
    body: `to_jsonb(r) || jsonb_build_object('answer_scope', r.scope, 'calls',
      (select coalesce(jsonb_agg(jsonb_build_object('call_id', u.call_id, 'pass', u.pass, 'origin', u.origin) order by u.ordinal), '[]')
         from nightdesk_data.run_calls u where u.run_id = r.run_id))`,
    from: "traced r where r.finished_at is not null",
  },
];

const select = ({
  type,
  at,
  rank,
  ordinal = "0",
  run = "null",
  scope = "'job'",
  body,
  from,
}: Source): string =>
  `select (${at})::timestamptz as at, (${rank})::integer as rank, (${ordinal})::bigint as ordinal, (${run})::uuid as run_id,
          ${scope} as scope, '${type}' as type, ${body} as body from ${from}`;

const TRACE = `
with ${SCOPES}, ${ROUNDS},
lines as (${SOURCES.map(select).join("\nunion all\n")})
select at, run_id, scope, type, body from lines order by at, rank, run_id, ordinal`;

const rowSchema = z.object({
  at: z.date(),
  run_id: z.string().nullable(),
  scope: z.string(),
  type: z.string(),
  body: z.record(z.string(), z.unknown()),
});

/** Lines in memory at once; the longest are prompts and replies. */
const PAGE_LINES = 100;

/**
 * Reads all records of an ended job, over all of its runs and those of its checks, in the order of time.
 * @param onLine receives each line; the next line is read when it resolves
 * @returns the number of lines
 */
export async function readTrace(
  database: Database,
  jobId: string,
  onLine: (line: TraceLine) => Promise<void>,
): Promise<number> {
  return database.transaction(async (db) => {
    await execute(db, [jobId])`declare trace no scroll cursor for ${TRACE}`;
    let seq = 0;
    for (let last = ""; ;) {
      const rows = await rowsOf(db, rowSchema)`fetch ${PAGE_LINES} from trace`;
      for (const { at, body, ...row } of rows) {
        seq += 1;
        last = at.toISOString();
        const line = traceLineSchema.parse({ ...body, ...row, seq, at: last });
        await onLine(await withOutput(db, jobId, line));
      }
      if (rows.length === PAGE_LINES) continue;
      seq += 1;
      await onLine({ seq, at: last, run_id: null, scope: "job", type: "end", lines: seq });
      return seq;
    }
  });
}

/** Outputs may be long, so each is read on its own. Outputs of checks are left out: the answer is not repeated from them. */
async function withOutput(db: Queryable, jobId: string, line: TraceLine): Promise<TraceLine> {
  if (line.type !== "tool" || line.investigation === null || line.output === null) return line;
  const output = await selectOutput(db, jobId, line.investigation.ordinal, "result");
  return { ...line, output: output?.toString("utf8") ?? null };
}
