import { randomUUID } from "node:crypto";
import { z } from "zod";
import { JUDGES_APART } from "../../job/run-result.ts";
import { JUDGE_FORMS } from "../../job/verify-modes.ts";
import type { JudgeForm } from "../../job/verify-modes.ts";
import type { Database, Queryable } from "../connection/database.ts";
import { camelRow, execute, rowOf, rowsOf, valueOf, valuesOf } from "../connection/rows.ts";
import { DUE_AT_ONCE } from "../investigations/approvals.ts";
import { JOBS_CHANNEL, notifyJobs } from "../jobs/batches.ts";
import { evaluateHolds } from "../jobs/holds.ts";
import { insertJobs, newJob } from "../jobs/insert-jobs.ts";
import { openBatchBeside } from "../jobs/verification.ts";

/** Identifies an exam: the examined model, the form and prompt of its questions, and the set of questions. */
export type ExamKey = {
  /** 64 hex. */
  readonly identity: string;
  readonly form: JudgeForm;
  readonly prompt: string;
  readonly exam: string;
};

const EXAM_STATES = ["passed", "weak", "failed", "useless", "dismissed"] as const;
type ExamState = (typeof EXAM_STATES)[number];

const tally = z.object({ asked: z.int(), confirmed: z.int() });
const examCounts = z.object({ wrong: tally, right: tally });
const ownCounts = z.object({ machine: examCounts, person: examCounts });
/** Statements about the user's own documents that a judge confirmed, by whether a machine or a person decided which are wrong. */
export type OwnCounts = z.infer<typeof ownCounts>;

const examColumns = {
  state: z.enum(EXAM_STATES),
  wrong_asked: z.int(),
  wrong_confirmed: z.int(),
  right_asked: z.int(),
  right_confirmed: z.int(),
  /** For form nli: the score from which a statement counts as confirmed. */
  yes_from: z.number().nullable(),
  own: ownCounts.nullable(),
};
const examRow = camelRow(examColumns);
type StoredExam = z.infer<typeof examRow>;

/** Days for which an exam is valid when its model has no digest: the host may serve another model by the same name. */
const UNKNOWN_FOR_DAYS = 7;

const valuesOfKey = ({ identity, form, prompt, exam }: ExamKey): readonly string[] => [
  identity,
  form,
  prompt,
  exam,
];
const IS_KEY = "identity = $1 and form = $2 and prompt = $3 and exam = $4";
const EXAM = `
       case when dismissed_at is not null then 'dismissed' else state end as state,
       wrong_asked, wrong_confirmed, right_asked, right_confirmed, yes_from, own
  from nightdesk_data.exams`;
const HOLDS = `(is_known or examined_at > clock_timestamp() - make_interval(days => ${UNKNOWN_FOR_DAYS}))`;

/** The valid exam of a judge; undefined when there is none, or when it is so old that the model may be another one. */
export const selectExam = (db: Queryable, key: ExamKey): Promise<StoredExam | undefined> =>
  rowOf(db, examRow, valuesOfKey(key))`select ${EXAM} where ${IS_KEY} and ${HOLDS}`;

/** The newest valid exam of a model name in a form, for any build of the model. */
export const selectExamOf = (
  db: Queryable,
  model: string,
  form: JudgeForm,
): Promise<StoredExam | undefined> =>
  rowOf(db, examRow, [model, form])`
     select ${EXAM} where model = $1 and form = $2 and ${HOLDS} order by examined_at desc limit 1`;

const namedExamRow = camelRow({ ...examColumns, model: z.string(), form: z.enum(JUDGE_FORMS) });
export type NamedExam = z.infer<typeof namedExamRow>;

/** The newest valid exam of each model and form. */
export const selectExams = (db: Queryable): Promise<readonly NamedExam[]> =>
  rowsOf(db, namedExamRow)`
     select distinct on (model, form) model, form, ${EXAM} where ${HOLDS} order by model, form, examined_at desc`;

export type ExamPart = {
  readonly kind: string;
  readonly language: string;
  readonly is_wrong: boolean;
  readonly asked: number;
  readonly confirmed: number;
};

export type FinishedExam = Omit<StoredExam, "state" | "own"> & {
  readonly state: Exclude<ExamState, "dismissed">;
  readonly model: string;
  readonly isKnown: boolean;
  readonly calls: number;
  readonly parts: readonly ExamPart[];
  readonly jobId: string;
};

/** Stores an exam, in place of an earlier one; the sums of its control statements start again at 0. */
export async function upsertExam(db: Queryable, key: ExamKey, exam: FinishedExam): Promise<void> {
  await db.query(
    `insert into nightdesk_data.exams (identity, form, prompt, exam, model, is_known, state, wrong_asked, wrong_confirmed,
                                       right_asked, right_confirmed, yes_from, calls, parts, job_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
     on conflict (identity, form, prompt, exam) do update
        set model = excluded.model, is_known = excluded.is_known, state = excluded.state,
            wrong_asked = excluded.wrong_asked, wrong_confirmed = excluded.wrong_confirmed,
            right_asked = excluded.right_asked, right_confirmed = excluded.right_confirmed,
            yes_from = excluded.yes_from, calls = excluded.calls, parts = excluded.parts, job_id = excluded.job_id, examined_at = excluded.examined_at,
            nodding = 0, nodding_since = excluded.nodding_since, sleeping = 0, sleeping_since = excluded.sleeping_since,
            controls = 0, dismissed_at = null`,
    [
      ...valuesOfKey(key),
      ...[exam.model, exam.isKnown, exam.state, exam.wrongAsked, exam.wrongConfirmed],
      ...[exam.rightAsked, exam.rightConfirmed, exam.yesFrom],
      ...[exam.calls, JSON.stringify(exam.parts), exam.jobId],
    ],
  );
}

/** Stores the counts of own statements with an existing exam; a later exam of the same weights keeps them. */
export const updateOwnCounts = (db: Queryable, key: ExamKey, own: OwnCounts): Promise<void> =>
  execute(db, [...valuesOfKey(key), JSON.stringify(own)])`
     update nightdesk_data.exams set own = $5 where ${IS_KEY}`;

/** Whether the job belongs to a night, and is no question for which a person waits. */
const IS_OF_NIGHT = `exists (select from nightdesk_data.jobs j join nightdesk_data.batches b using (batch_id)
                     where j.job_id = $1 and b.origin in ('file', 'schedule'))`;
/** An exam without a model name examines the current judge. */
const EXAMINES = "kind = 'examine' and coalesce(input->>'model', $2) = $2";

/**
 * Whether a run may request the exam of its model. Its job must belong to a night, and no job may examine the model now, have
 * failed within a day (except by the end of its batch), or have succeeded within the hour: another host may have other weights.
 */
const mayExamine = (db: Queryable, jobId: string, model: string): Promise<boolean> =>
  valueOf(db, z.boolean(), [jobId, model])`
     select ${IS_OF_NIGHT}
            and not exists (select from nightdesk_data.jobs
                             where ${EXAMINES} and finished_at is null
                                or kind = 'examine' and input->>'model' = $2
                                   and (state = 'succeeded' and finished_at > clock_timestamp() - interval '1 hour'
                                        or error_code not in ('CANCELLED', 'DEADLINE_EXCEEDED')
                                           and finished_at > clock_timestamp() - interval '1 day')) as may`;

/**
 * Queues the exam of a model for the night of a job, if the job may request it: in a separate batch beside the job's, with the
 * same windows, before all else in it. The lock makes requests wait for each other, so that one exam is queued.
 * @returns its id; undefined when none is queued
 */
export async function requestExam(
  database: Database,
  jobId: string,
  model: string,
): Promise<string | undefined> {
  if (!(await mayExamine(database, jobId, model))) return undefined;
  const examId = await database.transaction(async (db) => {
    await execute(db)`select from nightdesk_data.installation for no key update`;
    return (await mayExamine(db, jobId, model)) ? insertExam(db, jobId, model) : undefined;
  });
  if (examId !== undefined) await evaluateHolds(database);
  return examId;
}

async function insertExam(
  db: Queryable,
  jobId: string,
  model: string,
): Promise<string | undefined> {
  const [batchId = ""] = await valuesOf(db, z.string(), [jobId])`
     select batch_id from nightdesk_data.jobs where job_id = $1`;
  const examBatchId = await openBatchBeside(db, batchId, "exam");
  if (examBatchId === undefined) return undefined;
  const customId = `examine ${randomUUID()}`;
  const job = newJob(customId, { kind: "examine", model }, 100);
  const inserted = await insertJobs(db, examBatchId, [job]);
  await notifyJobs(db);
  return inserted.get(customId);
}

/** SQL condition: whether a job has waited for exams for at least that many seconds. */
const hasWaited = (jobId: string, seconds: string): string =>
  `exists (select from nightdesk_data.runs w where w.job_id = ${jobId} and w.error_code = 'EXAM_PENDING'
                  and w.finished_at <= clock_timestamp() - make_interval(secs => ${seconds}))`;

/** Whether a run may wait for its model's exam: it is of a night, an exam is queued or runs, and it waited less than that. */
export const mayAwaitExam = (
  db: Queryable,
  {
    jobId,
    model,
    seconds,
  }: { readonly jobId: string; readonly model: string; readonly seconds: number },
): Promise<boolean> =>
  valueOf(db, z.boolean(), [jobId, model, seconds])`
     select $3::int > 0 and ${IS_OF_NIGHT}
            and exists (select from nightdesk_data.jobs where ${EXAMINES} and finished_at is null)
            and not ${hasWaited("$1", "$3::int")} as may`;

/** Most jobs that one call wakes. */
const SLICE = 2_000;

/**
 * Makes jobs due that wait for an exam when one has ended since, with any result, when none is left, or when that many seconds
 * have passed.
 * @returns how many
 */
export const wakeExamined = (db: Queryable, seconds: number): Promise<number> =>
  valueOf(db, z.coerce.number(), [seconds])`
     with free as materialized (
       select j.job_id from nightdesk_data.jobs j join nightdesk_data.runs r using (run_id)
        where j.waiting_for = 'exam' and j.state = 'parked'
          and (not exists (select from nightdesk_data.jobs where kind = 'examine' and finished_at is null)
               or exists (select from nightdesk_data.jobs where kind = 'examine' and finished_at >= r.finished_at)
               or ${hasWaited("j.job_id", "$1::int")})
        order by j.seq limit ${SLICE} for no key update of j skip locked),
     woken as (
       update nightdesk_data.jobs j set ${DUE_AT_ONCE} from free where j.job_id = free.job_id returning 1)
     select (select count(*) from woken) as woken,
            case when exists (select from woken) then pg_notify('${JOBS_CHANNEL}', '') end`;

/** What a control statement adds to the sum of its kind, and the sum from which the judge is dismissed. */
type ControlStep = {
  readonly of: "nodding" | "sleeping";
  readonly step: number;
  readonly limit: number;
};

/**
 * Records a judge's reply to a control statement. When that dismisses the judge, the same transaction takes back what it
 * confirmed since the sum was last zero: these statements become unconfirmed, and their runs record the time.
 * @returns how many runs were regraded; null when the judge is not dismissed, or was already
 */
export const recordControl = (
  database: Database,
  key: ExamKey,
  { of, step, limit }: ControlStep,
): Promise<number | null> =>
  database.transaction(async (db) => {
    const found = await rowOf(db, controlledRow, [
      ...valuesOfKey(key),
      step,
      limit,
    ])`update nightdesk_data.exams
          set ${of} = greatest(0, ${of} + $5::float8),
              ${of}_since = case when ${of} + $5::float8 <= 0 then clock_timestamp() else ${of}_since end,
              controls = controls + 1,
              dismissed_at = case when ${of} + $5::float8 >= $6::float8 then clock_timestamp() end
        where ${IS_KEY} and dismissed_at is null
    returning model, ${of}_since as since, dismissed_at is not null as is_dismissed`;
    return found?.isDismissed === true ? takeBack(db, found) : null;
  });

const controlledRow = camelRow({
  model: z.string(),
  since: z.date(),
  is_dismissed: z.boolean(),
});

const takeBack = (
  db: Queryable,
  { model, since }: { readonly model: string; readonly since: Date },
): Promise<number> =>
  valueOf(db, z.coerce.number(), [model, since])`
     with judges as (select $1 as model),
     ${takeBackSql("r.finished_at >= $2")}`;

/**
 * Takes back confirmations of a run that asked a judge before its dismissal but ends after it. Runs in the transaction that
 * settles the run: a concurrent dismissal waits for it, and then finds the run.
 */
export const takeBackLate = (transaction: Queryable, runId: string): Promise<number> =>
  valueOf(transaction, z.coerce.number(), [runId])`
     with held as (select model, state = 'passed' and dismissed_at is null as counts, dismissed_at from nightdesk_data.exams for share),
     judges as (select model from held group by model having bool_or(dismissed_at is not null) and not bool_or(counts)),
     ${takeBackSql("r.run_id = $1")}`;

const TAKEN_BACK = "; taken back, for it failed its controls";

/** SQL condition: whether a detail has a verdict of judge `j`, alone or with another judge's. */
const isByJudge = (detail: string): string =>
  `(starts_with(${detail}, j.model || ': ') or position('${JUDGES_APART}' || j.model || ': ' in ${detail}) > 0)`;

/** Common table expressions that take back the confirmations of `judges` in some runs, and lower the grade of a supported run. */
const takeBackSql = (which: string): string => `
     taken as (
       update nightdesk_data.claims c
          set grade = 'unconfirmed', fate = 'marked', reason = 'unclear'
         from nightdesk_data.runs r, nightdesk_data.claim_checks k, judges j
        where r.run_id = c.run_id and ${which} and c.reason = 'confirmed'
          and k.run_id = c.run_id and k.draft = c.draft and k.claim = c.ordinal and k.rule = 'judge'
          and ${isByJudge("k.detail")}
       returning c.run_id, c.draft, c.ordinal, c.stands),
     told as (
       update nightdesk_data.claim_checks k
          set verdict = 'unknown', detail = k.detail || '${TAKEN_BACK}'
         from taken t
        where k.run_id = t.run_id and k.draft = t.draft and k.claim = t.ordinal and k.rule = 'judge'),
     fields as (
       update nightdesk_data.field_bindings f
          set grade = 'unconfirmed', judge_says = 'unclear', judge_detail = f.judge_detail || '${TAKEN_BACK}'
         from nightdesk_data.runs r, judges j
        where r.run_id = f.run_id and ${which} and f.grade = 'supported' and f.reason is not null
          and f.judge_says = 'yes' and ${isByJudge("f.judge_detail")}
       returning f.run_id),
     regraded as (
       update nightdesk_data.runs r
          set regraded_at = clock_timestamp(),
              grade = case when r.grade = 'supported' and t.stands then 'unconfirmed' else r.grade end
         from (select run_id, bool_or(stands) as stands
                 from (select run_id, stands from taken union all select run_id, true from fields) each group by run_id) t
        where t.run_id = r.run_id
       returning r.run_id)
     select count(*) as runs from regraded`;
