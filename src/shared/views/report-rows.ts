import { z } from "zod";
import { FINAL_STATES, JOB_STATES, KINDS } from "../job.ts";
import { UNBOUND_REASONS } from "../run-result.ts";
import type { Database, Queryable } from "../store/connection/database.ts";
import { selectHolds } from "../store/jobs/holds.ts";
import type { PastHold } from "../store/jobs/holds.ts";
import { selectBatchWaiting } from "./approvals.ts";
import type { BatchWaiting } from "./approvals.ts";
import { claimsColumn, leftOutClaim, selectGrades, storedClaim } from "./claims.ts";
import type { GradeCounts } from "./claims.ts";
import { selectVerificationReport } from "./report-verification.ts";
import type { VerificationReport } from "./report-verification.ts";
import { selectNight } from "./night.ts";
import type { Night } from "./night.ts";
import { compareBatches } from "./compare-batches.ts";
import type { ChangeRow, EarlierBatch } from "./compare-batches.ts";
import type { BatchProgress } from "./batches.ts";
import { storedCitation, storedEvidence } from "./results.ts";

const count = z.coerce.number();

const timesSchema = z.tuple([
  z.object({
    format: z.enum(["native", "openai"]),
    windows: z.array(z.string()).nullable(),
    deadline_at: z.date().nullable(),
    started_at: z.date().nullable(),
    ended_at: z.date().nullable(),
    reused: count,
    repeats: count,
  }),
]);
type BatchTimes = z.infer<typeof timesSchema>[0];

/** When a batch was worked, how many results were taken over from earlier runs, and how many runs were repeats. */
async function selectBatchTimes(db: Queryable, batchId: string): Promise<BatchTimes> {
  const { rows } = await db.query(
    `select b.format, b.windows, b.deadline_at, w.started_at, w.ended_at, w.reused, w.repeats
       from nightdesk_data.batches b
      cross join lateral (
        select min(j.started_at) as started_at, max(j.finished_at) as ended_at,
               count(r.cached_from) as reused, coalesce(sum(j.attempt - 1) filter (where j.attempt > 1), 0) as repeats
          from nightdesk_data.jobs j left join nightdesk_data.runs r on r.run_id = j.run_id
         where j.batch_id = b.batch_id) w
      where b.batch_id = $1`,
    [batchId],
  );
  return timesSchema.parse(rows)[0];
}

const costSchema = z.array(
  z.object({
    kind: z.enum(KINDS),
    model: z.string().nullable(),
    runs: count,
    prompt_tokens: count,
    completion_tokens: count,
    model_ms: count,
    run_ms: count,
  }),
);
export type CostRow = z.infer<typeof costSchema>[number];

/** Runs by kind and model, with their tokens and milliseconds: every attempt counts, also one that came to nothing. */
async function selectCosts(db: Queryable, batchId: string): Promise<readonly CostRow[]> {
  const { rows } = await db.query(
    `select j.kind, coalesce(r.model_second, r.model_first) as model, count(*) as runs,
            sum(r.prompt_tokens) as prompt_tokens, sum(r.completion_tokens) as completion_tokens,
            sum(r.model_ms) as model_ms, coalesce(sum(r.run_ms), 0) as run_ms
       from nightdesk_data.jobs j join nightdesk_data.runs r on r.job_id = j.job_id
      where j.batch_id = $1
      group by 1, 2 order by sum(r.prompt_tokens + r.completion_tokens) desc, 1, 2`,
    [batchId],
  );
  return costSchema.parse(rows);
}

const kindSchema = z.array(
  z.object({ kind: z.enum(KINDS), state: z.enum(JOB_STATES), jobs: count }),
);
export type KindRow = z.infer<typeof kindSchema>[number];

async function selectKinds(db: Queryable, batchId: string): Promise<readonly KindRow[]> {
  const { rows } = await db.query(
    `select kind, state, count(*) as jobs from nightdesk_data.jobs
      where batch_id = $1 group by kind, state order by kind, state`,
    [batchId],
  );
  return kindSchema.parse(rows);
}

const failureSchema = z.array(
  z.object({
    state: z.enum(JOB_STATES),
    error_code: z.string(),
    jobs: count,
    told: count,
    messages: z.array(
      z.object({
        error_message: z.string(),
        jobs: count,
        examples: z.array(
          z.object({
            job_id: z.string(),
            custom_id: z.string(),
            kind: z.enum(KINDS),
            input: z.record(z.string(), z.unknown()),
          }),
        ),
      }),
    ),
  }),
);
/** Jobs of one state and code, by what they were told: `told` of them with one of `messages`, of each the first jobs. */
export type FailureGroupRow = z.infer<typeof failureSchema>[number];

/** What did not succeed, or waits after it did not, by state and code, most first. */
async function selectFailureGroups(
  db: Queryable,
  batchId: string,
  { messages, examples }: { readonly messages: number; readonly examples: number },
): Promise<readonly FailureGroupRow[]> {
  const { rows } = await db.query(
    `with placed as materialized (
       select job_id, seq, state, error_code, error_message,
              row_number() over (partition by state, error_code, error_message order by seq) as place
         from nightdesk_data.jobs where batch_id = $1 and error_code is not null and state <> 'running'),
     counted as materialized (
       select state, error_code, error_message, count(*) as jobs,
              row_number() over (partition by state, error_code order by count(*) desc, min(seq)) as rank
         from placed group by 1, 2, 3),
     shown as (
       select c.state, c.error_code, c.rank, c.error_message, c.jobs,
              jsonb_agg(jsonb_build_object('job_id', j.job_id, 'custom_id', j.custom_id, 'kind', j.kind, 'input', j.input)
                        order by j.seq) as examples
         from counted c
         join placed p using (state, error_code, error_message)
         join nightdesk_data.jobs j on j.job_id = p.job_id
        where c.rank <= $2 and p.place <= $3
        group by 1, 2, 3, 4, 5)
     select g.state, g.error_code, g.jobs, sum(s.jobs) as told,
            jsonb_agg(jsonb_build_object('error_message', s.error_message, 'jobs', s.jobs, 'examples', s.examples) order by s.rank)
              as messages
       from (select state, error_code, sum(jobs) as jobs from counted group by 1, 2) g
       join shown s using (state, error_code)
      group by 1, 2, 3
      order by g.jobs desc, g.state, g.error_code`,
    [batchId, messages, examples],
  );
  return failureSchema.parse(rows);
}

const folderSchema = z.array(
  z.object({
    folder: z.string(),
    jobs: count,
    succeeded: count,
    refused: count,
    failed: count,
    folders: count,
  }),
);
/** Jobs on files of one folder; `folders` of them there are. */
export type FolderRow = z.infer<typeof folderSchema>[number];

async function selectFolders(
  db: Queryable,
  batchId: string,
  limit: number,
): Promise<readonly FolderRow[]> {
  const { rows } = await db.query(
    `select coalesce(substring(input->>'path' from '^(.*)/[^/]*$'), '.') as folder, count(*) as jobs,
            count(*) filter (where state = 'succeeded') as succeeded, count(*) filter (where state = 'refused') as refused,
            count(*) filter (where state in ('failed', 'cancelled', 'expired') and duplicate_of is null) as failed, count(*) over () as folders
       from nightdesk_data.jobs where batch_id = $1 and kind in ('summarize', 'extract')
      group by 1 order by 1 limit $2`,
    [batchId, limit],
  );
  return folderSchema.parse(rows);
}

/** A single value of an extraction, as its readers are told of it. */
const storedBinding = z.object({
  pointer: z.string(),
  value: z.union([z.string(), z.number(), z.boolean(), z.null()]),
  reason: z.enum(UNBOUND_REASONS).nullable(),
  quote: z.string().nullable(),
  path: z.string().nullable(),
  line_start: z.number().nullable(),
  line_end: z.number().nullable(),
});
export type StoredBinding = z.infer<typeof storedBinding>;

const answerSchema = z.array(
  z.object({
    job_id: z.string(),
    custom_id: z.string(),
    kind: z.enum(KINDS),
    input: z.record(z.string(), z.unknown()),
    answer: z.string().nullable(),
    is_cut: z.boolean(),
    scope: z.string().nullable(),
    output: z.record(z.string(), z.unknown()).nullable(),
    citations: z.array(storedCitation),
    pieces: count,
    evidence: z.array(storedEvidence.extend({ passage: z.string() })),
    claims: z.array(storedClaim),
    claims_left_out: z.array(leftOutClaim),
    claims_count: count,
    bindings: z.array(storedBinding),
  }),
);
export type AnswerRow = z.infer<typeof answerSchema>[number];

/** Of each answer. */
const MOST_CLAIMS = 30;
export const MOST_BINDINGS = 60;
/** Of the words of a piece of evidence. */
const MOST_PASSAGE_CHARS = 1_500;

type AnswerLimits = {
  readonly jobs: number;
  readonly chars: number;
  readonly pieces: number;
};

/** All of a piece of the index while it is there as it was read; else what was kept of it, which of a whole file tells little. */
const PASSAGE = `case when e.kind = 'chunk'
  then coalesce((select c.text from nightdesk_data.chunks c where c.chunk_key = e.chunk_key and starts_with(c.text, e.preview)), e.preview)
  else '' end`;

/**
 * Answers in the order of insertion, digests of the batch and its folders before all others: they tell of the rest.
 * `answer` holds the first characters, `evidence` the first pieces, those that it cites before
 * others; `pieces` says how many there are.
 */
async function selectAnswers(
  db: Queryable,
  batchId: string,
  limits: AnswerLimits,
): Promise<readonly AnswerRow[]> {
  const { rows } = await db.query(
    `with shown as materialized (
       select job_id, seq, case when kind <> 'digest' then 2 when input->>'level' = 'batch' then 0 else 1 end as rank
         from nightdesk_data.jobs where batch_id = $1 and state = 'succeeded' and kind not in ('index', 'command', 'embed')
        order by rank, seq limit $2)
     select j.job_id, j.custom_id, j.kind, j.input, left(r.answer, $3) as answer,
            coalesce(length(r.answer) > $3, false) as is_cut, r.scope, r.summary as output,
            coalesce(r.citations, '[]') as citations,
            (select count(*) from nightdesk_data.evidence e where e.run_id = j.run_id and e.admitted) as pieces,
            (select coalesce(jsonb_agg(to_jsonb(e) - 'evidence_id' - 'run_id' - 'preview' - 'ordinal'
                                        || jsonb_build_object('passage', left(${PASSAGE}, ${MOST_PASSAGE_CHARS})) order by e.ordinal), '[]')
               from (select * from nightdesk_data.evidence e
                      where e.run_id = j.run_id and e.admitted
                      order by r.citations @> jsonb_build_array(jsonb_build_object('path', e.path, 'chunkKey', e.chunk_key)) desc,
                               e.ordinal limit $4) e) as evidence,
            ${claimsColumn(MOST_CLAIMS)},
            (select count(*) from nightdesk_data.claims c where c.run_id = r.run_id and c.stands) as claims_count,
            (select coalesce(jsonb_agg(to_jsonb(f) order by f.ordinal), '[]')
               from (select ordinal, pointer, value, reason, quote, path, line_start, line_end from nightdesk_data.field_bindings f
                      where f.run_id = r.run_id order by ordinal limit ${MOST_BINDINGS}) f) as bindings
       from shown join nightdesk_data.jobs j using (job_id)
       left join nightdesk_data.runs r on r.run_id = j.run_id
      order by shown.rank, shown.seq`,
    [batchId, limits.jobs, limits.chars, limits.pieces],
  );
  return answerSchema.parse(rows);
}

const slowSchema = z.array(
  z.object({
    job_id: z.string(),
    custom_id: z.string(),
    kind: z.enum(KINDS),
    state: z.enum(FINAL_STATES),
    model: z.string().nullable(),
    run_ms: count,
    model_ms: count,
    tokens: count,
  }),
);
type SlowRow = z.infer<typeof slowSchema>[number];

/** The jobs whose last run took longest. */
async function selectSlowest(
  db: Queryable,
  batchId: string,
  limit: number,
): Promise<readonly SlowRow[]> {
  const { rows } = await db.query(
    `select j.job_id, j.custom_id, j.kind, j.state, coalesce(r.model_second, r.model_first) as model,
            r.run_ms, r.model_ms, r.prompt_tokens + r.completion_tokens as tokens
       from nightdesk_data.jobs j join nightdesk_data.runs r on r.run_id = j.run_id
      where j.batch_id = $1 and j.finished_at is not null and r.run_ms is not null
      order by r.run_ms desc, j.seq limit $2`,
    [batchId, limit],
  );
  return slowSchema.parse(rows);
}

/** How much of a batch a report shows; it says how much more there is, and how to see it. */
export const SHOWN = {
  /** Answers, each up to so many characters and pieces of evidence. */
  answers: { jobs: 200, chars: 6_000, pieces: 8 },
  /** Of each code what its jobs were told, and of each message so many jobs. */
  failureGroups: { messages: 10, examples: 5 },
  folders: 40,
  slowest: 10,
  /** Spans in which it was held, the longest. */
  holds: 20,
  /** Calls that wait for somebody. */
  waiting: 20,
  /** Jobs of each kind of change. */
  changes: 25,
  /** Questions that are open. */
  open: 25,
} as const;

/** What a batch came to, in as much memory for a million jobs as for a thousand. */
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
  readonly answers: readonly AnswerRow[];
  readonly grades: GradeCounts;
  readonly verification: VerificationReport;
  readonly slowest: readonly SlowRow[];
  /** Beside the earlier batch; undefined where there is none to compare with. */
  readonly changes:
    { readonly since: EarlierBatch; readonly rows: readonly ChangeRow[] } | undefined;
  readonly madeAt: Date;
  /** Whose clocks its times are of. */
  readonly zone: string;
  /** Of Nightdesk. */
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
    answers: await selectAnswers(database, batchId, SHOWN.answers),
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
