import { z } from "zod";
import type { JobInput } from "../../job/job.ts";
import type { Database, Queryable } from "../connection/database.ts";
import { rowsOf, valuesOf } from "../connection/rows.ts";
import { newJob } from "../jobs/insert-jobs.ts";
import { CLASSIFIES, customIdOf, linkJobs, queueJobs } from "./watched-files.ts";

const rowSchema = z.object({
  sha256: z.string(),
  path: z.string(),
  mail: z.string().nullable(),
  label: z.string().nullable(),
  ended_at: z.string(),
  state: z.enum(["succeeded", "refused", "failed", "expired"]),
  error_code: z.string().nullable(),
});

/** SQL: classifications `c`, with runs `r`, that succeeded for the path and the bytes of file `w`. */
const LABELLED = `
           from nightdesk_data.jobs c join nightdesk_data.runs r on r.run_id = c.run_id
          where c.kind = 'extract' and c.input->>'preset' = 'classify' and c.state = 'succeeded'
            and md5(c.input->>'path') in (md5(w.path), md5(w.moved_to)) and c.input->>'path' in (w.path, w.moved_to)
            and r.summary->>'label' <> ''
            and exists (select from nightdesk_data.evidence e
                         where e.run_id = r.run_id and e.admitted and e.kind = 'file' and e.sha256 = w.sha256)`;

/**
 * SQL: files that were taken since $3, and files with a classification that has ended since. Times of rows are those of their
 * transactions, which become visible later; 10 minutes are longer than any of these transactions.
 */
const CHANGED_FILES = `(
         with ended as materialized (
           select md5(j.input->>'path') as path from nightdesk_data.jobs j
            where j.finished_at > $3::timestamptz - interval '10 minutes' and ${CLASSIFIES}),
         stirred as (
           select w.sha256 from nightdesk_data.watched_files w where w.source = $1 and w.seen_at > $3::timestamptz - interval '10 minutes'
           union
           select w.sha256 from ended join nightdesk_data.watched_files w on w.source = $1 and md5(w.path) = ended.path
           union
           select w.sha256 from ended join nightdesk_data.watched_files w on w.source = $1 and md5(w.moved_to) = ended.path)
         select w.* from stirred join nightdesk_data.watched_files w on w.source = $1 and w.sha256 = stirred.sha256) w`;

/** A file of a watched folder, and how its newest classification ended. */
export type ClassifiedFile = {
  readonly sha256: string;
  /** Its path, after a move the new one. */
  readonly path: string;
  /** For an attachment, the file of its mail. */
  readonly mail: string | null;
  /** Time of the end, as exact as the database's clock. */
  readonly endedAt: string;
  /** `outdated`: the file changed before it was read, and the label belongs to another version. */
  readonly end:
    | { readonly kind: "labelled"; readonly label: string }
    | { readonly kind: "unclassified"; readonly state: string; readonly code: string | null }
    | { readonly kind: "outdated" };
};

/**
 * Which files to select, at most `limit` in order of their hash: all with a hash after `after`, or those with a change since a
 * time of the database's clock.
 */
type LabelLook = { readonly limit: number } & (
  { readonly after: string } | { readonly since: string }
);

/**
 * Files without a job by label that were classified since the rules were last applied: by the newest success for the same bytes
 * and path, from any batch; else by their own job, when that was refused or failed. Skips files whose own job is unfinished.
 */
export async function selectClassified(
  db: Queryable,
  source: string,
  look: LabelLook,
): Promise<readonly ClassifiedFile[]> {
  const [files, from] =
    "since" in look ? [CHANGED_FILES, look.since] : ["nightdesk_data.watched_files w", look.after];
  const rows = await rowsOf(db, rowSchema, [source, look.limit, from])`
     select w.sha256, coalesce(w.moved_to, w.path) as path, m.path as mail, newest.label, ended.at::text as ended_at,
            coalesce(newest.state, j.state) as state, j.error_code
       from ${files}
       left join nightdesk_data.jobs j on j.job_id = w.job_id and ${CLASSIFIES}
       left join nightdesk_data.watched_files m on m.source = w.source and m.sha256 = w.mail_sha256
       left join lateral (
         select r.summary->>'label' as label, c.state, c.finished_at ${LABELLED}
            and c.finished_at > coalesce(w.classified_at, '-infinity')
          order by c.finished_at desc limit 1) newest on true
      cross join lateral (
        select case when newest.finished_at is not null then newest.finished_at
                    when j.state <> 'cancelled' and j.finished_at > coalesce(w.classified_at, '-infinity')
                    then case when not exists (select ${LABELLED}) then j.finished_at end end as at) ended
      where w.source = $1 and w.label_job_id is null
        and (j.job_id is null or j.finished_at is not null)
        and ended.at is not null ${"since" in look ? "" : "and w.sha256 > $3"}
      order by w.sha256 limit $2`;
  return rows.map((row) => ({
    sha256: row.sha256,
    path: row.path,
    mail: row.mail,
    endedAt: row.ended_at,
    end: endOf(row),
  }));
}

function endOf({ label, state, error_code }: z.infer<typeof rowSchema>): ClassifiedFile["end"] {
  if (label !== null) return { kind: "labelled", label };
  return state === "succeeded"
    ? { kind: "outdated" }
    : { kind: "unclassified", state, code: error_code };
}

/** The decision of the rules about a file with a label: a job and a later move, or why they skip the file. */
export type LabelDecision = {
  readonly file: ClassifiedFile;
  readonly job: JobInput | null;
  readonly moveTo: string | null;
  readonly problem: string | null;
};

/**
 * Stores decisions and queues their jobs, in one transaction. When several workers decide about the same file, one of them wins.
 * @param batch name of the batch for the jobs
 * @returns the decisions that were stored
 */
export async function queueByLabels(
  database: Database,
  {
    source,
    batch,
    decisions,
  }: {
    readonly source: string;
    readonly batch: string;
    readonly decisions: readonly LabelDecision[];
  },
): Promise<readonly LabelDecision[]> {
  return database.transaction(async (db) => {
    const written = await writeDecisions(db, source, decisions);
    const queued = written.flatMap(({ file, job }) =>
      job === null
        ? []
        : [{ sha256: file.sha256, job: newJob(`${customIdOf(file)} by label`, job) }],
    );
    if (queued.length === 0) return written;
    const jobs = queued.map(({ job }) => job);
    const jobIds = await queueJobs(db, batch, jobs);
    await linkJobs(db, { source, column: "label_job_id", queued }, jobIds);
    return written;
  });
}

async function writeDecisions(
  db: Queryable,
  source: string,
  decisions: readonly LabelDecision[],
): Promise<readonly LabelDecision[]> {
  const rows = await valuesOf(db, z.string(), [
    source,
    decisions.map(({ file }) => file.sha256),
    decisions.map(({ file }) => file.endedAt),
    decisions.map(({ file: { end } }) => (end.kind === "labelled" ? end.label : null)),
    decisions.map(({ problem }) => problem),
    decisions.map(({ moveTo }) => moveTo),
  ])`
     with decided as materialized (
       select w.sha256, u.ended_at, u.label, u.problem, u.move_to
         from nightdesk_data.watched_files w
         join unnest($2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[])
              as u (sha256, ended_at, label, problem, move_to) using (sha256)
        where w.source = $1 and w.label_job_id is null and u.ended_at > coalesce(w.classified_at, '-infinity')
        order by w.sha256 for update of w)
     update nightdesk_data.watched_files w
        set classified_at = d.ended_at, label = d.label, label_problem = d.problem,
            move_to = case when w.moved_to is null and w.move_problem is null then coalesce(d.move_to, w.move_to)
                           else w.move_to end
       from decided d where w.source = $1 and w.sha256 = d.sha256
     returning w.sha256`;
  const written = new Set(rows);
  return decisions.filter(({ file }) => written.has(file.sha256));
}
