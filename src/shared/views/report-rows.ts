import { z } from "zod";
import { FINAL_STATES, JOB_STATES, KINDS } from "../job/job.ts";
import type { Database, Queryable } from "../store/connection/database.ts";
import { oneRowOf, rowsOf } from "../store/connection/rows.ts";
import { selectHolds } from "../store/jobs/holds.ts";
import type { PastHold } from "../store/jobs/holds.ts";
import { selectBatchWaiting } from "./inbox.ts";
import type { BatchWaiting } from "./inbox.ts";
import { selectGrades } from "./claims.ts";
import type { GradeCounts } from "./claims.ts";
import { selectVerificationReport } from "./report-verification.ts";
import type { VerificationReport } from "./report-verification.ts";
import { selectNight } from "./night.ts";
import type { Night } from "./night.ts";
import { compareBatches } from "./compare-batches.ts";
import type { ChangeRow, EarlierBatch } from "./compare-batches.ts";
import type { BatchProgress } from "./batches.ts";
import { selectReportAnswers } from "./results.ts";
import type { JobResult } from "./results.ts";

const count = z.coerce.number();

const timesSchema = z.object({
  windows: z.array(z.string()).nullable(),
  deadline_at: z.date().nullable(),
  started_at: z.date().nullable(),
  ended_at: z.date().nullable(),
  reused: count,
  repeats: count,
});
type BatchTimes = z.infer<typeof timesSchema>;

/** When jobs of a batch ran, how many results were reused from earlier runs, and how many runs were repeats. */
const selectBatchTimes = (db: Queryable, batchId: string): Promise<BatchTimes> =>
  oneRowOf(db, timesSchema, [batchId])`
     select b.windows, b.deadline_at, w.started_at, w.ended_at, w.reused, w.repeats
       from nightdesk_data.batches b
      cross join lateral (
        select min(j.started_at) as started_at, max(j.finished_at) as ended_at,
               count(r.cached_from) as reused, coalesce(sum(j.attempt - 1) filter (where j.attempt > 1), 0) as repeats
          from nightdesk_data.jobs j left join nightdesk_data.runs r on r.run_id = j.run_id
         where j.batch_id = b.batch_id) w
      where b.batch_id = $1`;

const costSchema = z.object({
  kind: z.enum(KINDS),
  model: z.string().nullable(),
  runs: count,
  prompt_tokens: count,
  completion_tokens: count,
  model_ms: count,
  run_ms: count,
});
export type CostRow = z.infer<typeof costSchema>;

/** Runs by kind and model, with their tokens and milliseconds. Every attempt counts, also one without a result. */
const selectCosts = (db: Queryable, batchId: string): Promise<readonly CostRow[]> =>
  rowsOf(db, costSchema, [batchId])`
     select j.kind, coalesce(r.model_second, r.model_first) as model, count(*) as runs,
            sum(r.prompt_tokens) as prompt_tokens, sum(r.completion_tokens) as completion_tokens,
            sum(r.model_ms) as model_ms, coalesce(sum(r.run_ms), 0) as run_ms
       from nightdesk_data.jobs j join nightdesk_data.runs r on r.job_id = j.job_id
      where j.batch_id = $1
      group by 1, 2 order by sum(r.prompt_tokens + r.completion_tokens) desc, 1, 2`;

const kindSchema = z.object({ kind: z.enum(KINDS), state: z.enum(JOB_STATES), jobs: count });
export type KindRow = z.infer<typeof kindSchema>;

const selectKinds = (db: Queryable, batchId: string): Promise<readonly KindRow[]> =>
  rowsOf(db, kindSchema, [batchId])`
     select kind, state, count(*) as jobs from nightdesk_data.jobs
      where batch_id = $1 group by kind, state order by kind, state`;

const failureSchema = z.object({
  state: z.enum(JOB_STATES),
  error_code: z.string(),
  jobs: count,
  told: count,
  /** The model that one of them called; null if none did. */
  model: z.string().nullable(),
  messages: z.array(
    z.object({
      error_message: z.string(),
      jobs: count,
      examples: z.array(
        z.object({
          custom_id: z.string(),
          kind: z.enum(KINDS),
          input: z.record(z.string(), z.unknown()),
        }),
      ),
    }),
  ),
});
/** Jobs with one state and code, by message. `told` counts the jobs of the listed `messages`, each with its first jobs. */
export type FailureGroupRow = z.infer<typeof failureSchema>;

/** Jobs that did not succeed, or wait for another try, by state and code, most first. */
const selectFailureGroups = (
  db: Queryable,
  batchId: string,
  { messages, examples }: { readonly messages: number; readonly examples: number },
): Promise<readonly FailureGroupRow[]> =>
  rowsOf(db, failureSchema, [batchId, messages, examples])`
     with placed as materialized (
       select job_id, seq, state, error_code, error_message, run_id,
              row_number() over (partition by state, error_code, error_message order by seq) as place
         from nightdesk_data.jobs where batch_id = $1 and error_code is not null and state <> 'running'),
     counted as materialized (
       select state, error_code, error_message, count(*) as jobs, max(run_id::text)::uuid as run_id,
              row_number() over (partition by state, error_code order by count(*) desc, min(seq)) as rank
         from placed group by 1, 2, 3),
     shown as (
       select c.state, c.error_code, c.rank, c.error_message, c.jobs,
              jsonb_agg(jsonb_build_object('custom_id', j.custom_id, 'kind', j.kind, 'input', j.input)
                        order by j.seq) as examples
         from counted c
         join placed p using (state, error_code, error_message)
         join nightdesk_data.jobs j on j.job_id = p.job_id
        where c.rank <= $2 and p.place <= $3
        group by 1, 2, 3, 4, 5)
     select g.state, g.error_code, g.jobs, sum(s.jobs) as told,
            (select coalesce(r.model_second, r.model_first) from nightdesk_data.runs r where r.run_id = g.run_id) as model,
            jsonb_agg(jsonb_build_object('error_message', s.error_message, 'jobs', s.jobs, 'examples', s.examples) order by s.rank)
              as messages
       from (select state, error_code, sum(jobs) as jobs, max(run_id::text)::uuid as run_id from counted group by 1, 2) g
       join shown s using (state, error_code)
      group by 1, 2, 3, g.run_id
      order by g.jobs desc, g.state, g.error_code`;

const folderSchema = z.object({
  folder: z.string(),
  jobs: count,
  succeeded: count,
  refused: count,
  failed: count,
  folders: count,
});
/** Jobs on files of one folder; `folders` counts all folders. */
type FolderRow = z.infer<typeof folderSchema>;

const selectFolders = (
  db: Queryable,
  batchId: string,
  limit: number,
): Promise<readonly FolderRow[]> =>
  rowsOf(db, folderSchema, [batchId, limit])`
     select coalesce(substring(input->>'path' from '^(.*)/[^/]*$'), '.') as folder, count(*) as jobs,
            count(*) filter (where state = 'succeeded') as succeeded, count(*) filter (where state = 'refused') as refused,
            count(*) filter (where state in ('failed', 'cancelled', 'expired') and duplicate_of is null) as failed, count(*) over () as folders
       from nightdesk_data.jobs where batch_id = $1 and kind in ('summarize', 'extract')
      group by 1 order by 1 limit $2`;

const slowSchema = z.object({
  custom_id: z.string(),
  kind: z.enum(KINDS),
  state: z.enum(FINAL_STATES),
  model: z.string().nullable(),
  run_ms: count,
  model_ms: count,
  tokens: count,
});
type SlowRow = z.infer<typeof slowSchema>;

/** The jobs whose last run took longest. */
const selectSlowest = (
  db: Queryable,
  batchId: string,
  limit: number,
): Promise<readonly SlowRow[]> =>
  rowsOf(db, slowSchema, [batchId, limit])`
     select j.custom_id, j.kind, j.state, coalesce(r.model_second, r.model_first) as model,
            r.run_ms, r.model_ms, r.prompt_tokens + r.completion_tokens as tokens
       from nightdesk_data.jobs j join nightdesk_data.runs r on r.run_id = j.run_id
      where j.batch_id = $1 and j.finished_at is not null and r.run_ms is not null
      order by r.run_ms desc, j.seq limit $2`;

/** How many rows a report shows of each list. It tells how many more there are, and how to see them. */
export const SHOWN = {
  answers: 200,
  /** Messages of each code, and jobs of each message. */
  failureGroups: { messages: 10, examples: 5 },
  folders: 40,
  slowest: 10,
  /** The longest spans in which the batch was held. */
  holds: 20,
  /** Calls that wait for approval. */
  waiting: 20,
  changes: 25,
  open: 25,
} as const;

/** The results of a batch; its size in memory does not depend on the number of jobs. */
export type Report = {
  readonly batch: BatchProgress;
  readonly times: BatchTimes;
  readonly holds: readonly PastHold[];
  readonly waiting: BatchWaiting;
  readonly kinds: readonly KindRow[];
  readonly costs: readonly CostRow[];
  readonly failureGroups: readonly FailureGroupRow[];
  readonly folders: readonly FolderRow[];
  readonly night: Night;
  readonly answers: readonly JobResult[];
  readonly grades: GradeCounts;
  readonly verification: VerificationReport;
  readonly slowest: readonly SlowRow[];
  /** Compared with the earlier batch; undefined if there is none. */
  readonly changes:
    { readonly since: EarlierBatch; readonly rows: readonly ChangeRow[] } | undefined;
  readonly madeAt: Date;
  /** Timezone of its times. */
  readonly zone: string;
  readonly version: string;
};

export async function gatherReport(
  database: Database,
  batch: BatchProgress,
  {
    earlier,
    madeAt,
    zone,
    version,
  }: {
    readonly earlier: EarlierBatch | undefined;
    readonly madeAt: Date;
    readonly zone: string;
    readonly version: string;
  },
): Promise<Report> {
  const { batchId } = batch;
  return {
    batch,
    times: await selectBatchTimes(database, batchId),
    holds: await selectHolds(database, batchId),
    waiting: await selectBatchWaiting(database, batchId, SHOWN.waiting),
    kinds: await selectKinds(database, batchId),
    costs: await selectCosts(database, batchId),
    failureGroups: await selectFailureGroups(database, batchId, SHOWN.failureGroups),
    folders: await selectFolders(database, batchId, SHOWN.folders),
    night: await selectNight(database, { batchId }),
    answers: await selectReportAnswers(database, batchId, SHOWN.answers),
    grades: await selectGrades(database, batchId),
    verification: await selectVerificationReport(database, batchId, SHOWN.open),
    slowest: await selectSlowest(database, batchId, SHOWN.slowest),
    changes: earlier && {
      since: earlier,
      rows: await compareBatches(
        database,
        { now: batchId, before: earlier.batch_id },
        SHOWN.changes,
      ),
    },
    madeAt,
    zone,
    version,
  };
}
