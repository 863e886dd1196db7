import { z } from "zod";
import { KINDS } from "../job/job.ts";
import { locatorSchema } from "../job/locator.ts";
import { CLAIM_GRADES, RUN_GRADES, CLAIM_REASONS } from "../job/run-result.ts";
import { UNRESOLVED_REASONS, VERIFICATION_STATES } from "../job/verification.ts";
import type { Queryable } from "../store/connection/database.ts";
import { oneRowOf, rowsOf } from "../store/connection/rows.ts";
import { MEMORY_SOURCES, MEMORY_TYPES } from "../store/memory.ts";
import { callRowSchema } from "../store/jobs/model-calls.ts";
import { checkRowSchema, coverageRowSchema } from "../store/jobs/verification.ts";
import { storedCitation } from "./citations.ts";
import { otherPlace } from "./claims.ts";
import { DOUBT_OF_CLAIM, DOUBT_OF_FIELD, doubtSchema } from "./doubtful-figures.ts";
import { storedBinding, storedEvidence } from "./results.ts";
import { storedStep, stepsColumn } from "./steps.ts";

const number = z.coerce.number();
const runSchema = z.object({
  run_id: z.string(),
  job_id: z.string(),
  batch_id: z.string(),
  batch: z.string(),
  custom_id: z.string(),
  kind: z.enum(KINDS),
  state: z.string(),
  attempt: z.number(),
  error_code: z.string().nullable(),
  model: z.string().nullable(),
  started_at: z.date(),
  finished_at: z.date().nullable(),
  run_ms: number.nullable(),
});
export type RunRow = z.infer<typeof runSchema>;

const RUN_COLUMNS = `r.run_id, j.job_id, j.batch_id, b.name as batch, j.custom_id, j.kind, r.state, r.attempt,
       r.error_code, coalesce(r.model_second, r.model_first) as model, r.started_at, r.finished_at, r.run_ms`;
const FROM = `from nightdesk_data.runs r
  join nightdesk_data.jobs j using (job_id)
  join nightdesk_data.batches b on b.batch_id = j.batch_id`;

/** Runs, newest first. @param batchId one batch, or null for all */
export const listRuns = (
  db: Queryable,
  batchId: string | null,
  limit: number,
): Promise<readonly RunRow[]> =>
  rowsOf(db, runSchema, [batchId, limit])`
     select ${RUN_COLUMNS} ${FROM} where ($1::uuid is null or j.batch_id = $1) and j.kind not in ('notify', 'check')
      order by r.started_at desc, r.run_id limit $2`;

const json = z.record(z.string(), z.unknown());
const span = {
  number: z.number().nullable(),
  path: z.string().nullable(),
  start_char: z.number().nullable(),
  end_char: z.number().nullable(),
  line_start: z.number().nullable(),
  line_end: z.number().nullable(),
};
export const runDetailSchema = runSchema.extend({
  input: json,
  priority: z.number(),
  job_state: z.string(),
  job_created_at: z.date(),
  max_attempts: z.number(),
  worker_id: z.string(),
  error_message: z.string().nullable(),
  answer: z.string().nullable(),
  scope: z.string().nullable(),
  citations: z.array(storedCitation.loose()),
  summary: json.nullable(),
  model_first: z.string().nullable(),
  model_second: z.string().nullable(),
  prompt_tokens: z.number(),
  completion_tokens: z.number(),
  queued_ms: number,
  model_ms: number,
  events: z.array(
    z.object({ step: z.string(), at_ms: z.number(), duration_ms: z.number(), detail: json }),
  ),
  tool_calls: z.array(
    z.object({
      name: z.string(),
      args: json,
      error_code: z.string().nullable(),
      error_message: z.string().nullable(),
      result: json.nullable(),
      trailing_text: z.string().nullable(),
      duration_ms: z.number(),
    }),
  ),
  evidence: z.array(
    storedEvidence.extend({
      evidence_id: z.number(),
      text_sha256: z.string(),
      extractor: z.string(),
      admitted: z.boolean(),
      rejected_reason: z.string().nullable(),
      source: z.string().nullable(),
      preview: z.string(),
    }),
  ),
  // Steps of an investigation: those of this run and of the earlier runs that it continues.
  steps: z.array(storedStep),
  version: z.string().nullable(),
  cached_from: z.string().nullable(),
  config_sha256: z.string().nullable(),
  config_file: z.string().nullable(),
  roots: z
    .object({
      workroot: z.string(),
      allowed: z.array(z.string()),
      sources: z.record(z.string(), z.string()),
    })
    .nullable(),
  models: z.array(z.object({ pass: z.string(), model: z.string(), why: z.string(), facts: json })),
  memory_ids: z.array(z.string()),
  // The fields of a deleted note are null.
  notes: z.array(
    z.object({
      memory_id: z.string(),
      type: z.enum(MEMORY_TYPES).nullable(),
      source: z.enum(MEMORY_SOURCES).nullable(),
      content: z.string().nullable(),
    }),
  ),
  calls: z.array(
    callRowSchema.extend({
      call_id: z.number(),
      run_id: z.string(),
      origin: z.enum(["asked", "reused", "cached"]),
      model_digest: z.string().nullable(),
      created_at: z.iso.datetime({ offset: true }),
    }),
  ),
  quotes: z.array(z.object({ quote: z.string(), class: z.string(), ...span })),
  figures: z.array(
    z.object({
      kind: z.string(),
      figure: z.string(),
      stands_in: z.string(),
      flagged: z.boolean(),
      ...span,
    }),
  ),
  grade: z.enum(RUN_GRADES).nullable(),
  verification: z.enum(VERIFICATION_STATES),
  claims_dropped: z.number(),
  claims: z.array(
    z.object({
      draft: z.number(),
      text: z.string(),
      cites: z.array(z.number()),
      quote: z.string().nullable(),
      grade: z.enum(CLAIM_GRADES),
      reason: z.enum(CLAIM_REASONS),
      fate: z.string(),
      stands: z.boolean(),
      arithmetic: z.string().nullable(),
      carrier: z.string().nullable(),
      locator: locatorSchema.nullable(),
      other_places: z.array(otherPlace),
      doubt: doubtSchema.nullish(),
      ...span,
      checks: z.array(
        z.object({
          rule: z.string(),
          verdict: z.enum(["pass", "fail", "unknown"]),
          detail: z.string(),
        }),
      ),
    }),
  ),
  // Rows of the job: the checks of its answer in all rounds, the audits, and the open questions.
  verification_checks: z.array(
    checkRowSchema.omit({
      ...{ draft_sha256: true, claim_number: true, reason: true },
      ...{ job_state: true, job_error: true, verdict: true },
    }),
  ),
  audits: z.array(
    z.object({
      round: z.int(),
      score: z.int().nullable(),
      given: z.int().nullable(),
      caps: z.array(z.string()),
      corrections: z.array(z.object({ claim: z.int(), where: z.string(), change: z.string() })),
    }),
  ),
  constraints: z.array(
    z.object({
      what: z.string(),
      needed: z.string(),
      reason: z.enum(UNRESOLVED_REASONS),
      resolved_at: z.string().nullable(),
    }),
  ),
  coverage: z.array(coverageRowSchema.omit({ claim_number: true })),
  field_bindings: z.array(
    storedBinding.omit({ picture: true }).extend({
      ...{ judge_says: z.enum(["yes", "no", "unclear"]).nullable(), ...span },
    }),
  ),
  summary_parts: z.array(
    z.object({
      path: z.string(),
      level: z.number(),
      start_char: z.number(),
      end_char: z.number(),
      line_start: z.number(),
      line_end: z.number(),
      summary: z.string(),
    }),
  ),
});

/** Everything stored about a run and its job. */
export type RunDetail = z.infer<typeof runDetailSchema>;

/** SQL of the rows of the job; empty for a run without verification. */
const ofJob = (table: string, name: string, order: string): string =>
  `(select coalesce(jsonb_agg(to_jsonb(c) - 'job_id' order by ${order}), '[]')
      from nightdesk_data.${table} c where c.job_id = r.job_id and r.verification <> 'off') as ${name}`;

/** The operator's notes in the prompts of a run `r`. */
export const NOTES_JSON = `(select coalesce(jsonb_agg(jsonb_build_object('memory_id', n.memory_id, 'type', y.type,
           'source', y.source, 'content', y.content) order by n.ordinal), '[]')
      from unnest(r.memory_ids) with ordinality n (memory_id, ordinal)
      left join nightdesk_data.memory y using (memory_id))`;

/** Rows that a run writes when it ends: their table, their order, and the JSON of a row `c`. */
export type RunRows = { readonly table: string; readonly ordinal: string; readonly body: string };

const rowsIn = (table: string, of: Partial<RunRows> = {}): RunRows => ({
  ...{ table, ordinal: "c.ordinal", body: "to_jsonb(c) - 'run_id' - 'ordinal'" },
  ...of,
});

/** Rows by their names in a run. A trace writes each row as a line. */
export const RUN_ROWS = {
  events: rowsIn("run_events"),
  summary_parts: rowsIn("summary_parts", { ordinal: "c.level * 1000000::bigint + c.ordinal" }),
  tool_calls: rowsIn("tool_calls"),
  evidence: rowsIn("evidence"),
  quotes: rowsIn("quotes"),
  figures: rowsIn("figures"),
  field_bindings: rowsIn("field_bindings", {
    body: `to_jsonb(c) - 'run_id' - 'ordinal' || jsonb_build_object('doubt', ${DOUBT_OF_FIELD})`,
  }),
  claims: rowsIn("claims", {
    ordinal: "c.draft * 1000000::bigint + c.ordinal",
    body: `to_jsonb(c) - 'run_id' - 'ordinal' || jsonb_build_object('doubt', ${DOUBT_OF_CLAIM}, 'checks',
           (select coalesce(jsonb_agg(jsonb_build_object('rule', k.rule, 'verdict', k.verdict, 'detail', k.detail)
                   order by k.ordinal), '[]')
              from nightdesk_data.claim_checks k
             where k.run_id = c.run_id and k.draft = c.draft and k.claim = c.ordinal))`,
  }),
} as const;

const CHILDREN = [
  ofJob("checks", "verification_checks", "c.round, c.ordinal"),
  ofJob("audits", "audits", "c.round"),
  ofJob("constraints", "constraints", "c.ordinal"),
  ofJob("coverage", "coverage", "c.round, c.claim_number"),
  ...Object.entries(RUN_ROWS).map(
    ([
      name,
      { table, ordinal, body },
    ]) => `(select coalesce(jsonb_agg(${body} order by ${ordinal}), '[]')
      from nightdesk_data.${table} c where c.run_id = r.run_id) as ${name}`,
  ),
  // The calls that a settled run names, and its calls without a reply or that outlived it.
  `(select coalesce(jsonb_agg(to_jsonb(m) - 'job_id'
           || jsonb_build_object('pass', coalesce(u.pass, m.pass), 'origin', coalesce(u.origin, case when m.cached_from is null then 'asked' else 'cached' end))
           order by u.ordinal nulls last, m.call_id), '[]')
      from nightdesk_data.model_calls m
      left join nightdesk_data.run_calls u on u.call_id = m.call_id and u.run_id = r.run_id
     where m.job_id = r.job_id and (u.run_id is not null or m.run_id = r.run_id)) as calls`,
  `${NOTES_JSON} as notes`,
  stepsColumn(
    "s.ordinal <= (select max(l.ordinal) from nightdesk_data.steps l where l.job_id = j.job_id and l.run_id = r.run_id)",
  ),
].join(", ");

const DETAIL = `select ${RUN_COLUMNS}, j.input, j.priority, j.state as job_state, j.created_at as job_created_at,
       j.max_attempts, r.worker_id, r.error_message, r.answer, r.scope, r.citations, r.summary, r.model_first,
       r.model_second, r.prompt_tokens, r.completion_tokens, r.queued_ms, r.model_ms, r.version, r.cached_from, r.config_sha256,
       r.grade, r.claims_dropped, r.verification,
       r.config_file, r.roots,
       r.models, r.memory_ids, ${CHILDREN} ${FROM}`;

/** The run with this id, or all runs of the job with this id, first to last. @param id a UUID */
export const selectRunDetails = (db: Queryable, id: string): Promise<readonly RunDetail[]> =>
  rowsOf(db, runDetailSchema, [id])`
     ${DETAIL} where r.run_id = $1 or r.job_id = $1 order by r.started_at, r.run_id`;

/** Selects the runs of a batch, one run, the runs of one job, or all runs. */
export type RunFilter = { readonly batchId: string | null; readonly runOrJobId: string | null };

/** Sorts before every run id. */
export const FIRST_RUN = "00000000-0000-0000-0000-000000000000";

const SELECTED = `nightdesk_data.runs r join nightdesk_data.jobs j using (job_id)
  where j.kind <> 'notify' and ($1::uuid is null or j.batch_id = $1) and ($2::uuid is null or r.run_id = $2 or r.job_id = $2)`;

/** One page of ended runs, by id. @param after the last run of the previous page, or FIRST_RUN */
export const selectRunPage = (
  db: Queryable,
  { batchId, runOrJobId }: RunFilter,
  after: string,
  limit: number,
): Promise<readonly RunDetail[]> =>
  rowsOf(db, runDetailSchema, [batchId, runOrJobId, after, limit])`
     with page as materialized (
       select r.run_id from ${SELECTED} and r.finished_at is not null and r.run_id > $3
        order by r.run_id limit $4)
     ${DETAIL} where r.run_id in (select run_id from page) order by r.run_id`;

const countsSchema = z.object({ ended: z.number(), running: z.number() });

/** How many runs an export contains, and how many still run. */
export const countRuns = (
  db: Queryable,
  { batchId, runOrJobId }: RunFilter,
): Promise<z.infer<typeof countsSchema>> =>
  oneRowOf(db, countsSchema, [batchId, runOrJobId])`
     select count(r.finished_at)::int as ended, (count(*) - count(r.finished_at))::int as running from ${SELECTED}`;
