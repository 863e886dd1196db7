import { z } from "zod";
import type { JobInput } from "../../job/job.ts";
import { hashJson } from "../../schema/json-value.ts";
import type { Database, Queryable } from "../connection/database.ts";
import { execute, rowsOf, valuesOf } from "../connection/rows.ts";
import { findOrCreateBatch, openBatch } from "../jobs/batches.ts";
import { insertJobs, newJob } from "../jobs/insert-jobs.ts";
import type { NewJob } from "../jobs/insert-jobs.ts";

/** A file of a watched folder that is no longer being written, or an attachment of such a mail, and what a rule does with it. */
export type TakenFile = {
  readonly sha256: string;
  /** Relative to the work root. */
  readonly path: string;
  readonly bytes: bigint;
  readonly inode: bigint;
  readonly mtimeNs: bigint;
  /** For an attachment, the SHA-256 of its mail's file, whose inode and time it has; null for a file. */
  readonly mailSha256: string | null;
  /** Null when no rule applies. */
  readonly job: JobInput | null;
  readonly moveTo: string | null;
};

/**
 * Takes new files: writes their rows and jobs, and a job that indexes the source, in one transaction. When several workers find
 * the same file, one of them takes it.
 * @param batch name of the batch for the jobs
 * @returns how many were taken
 */
export async function takeFiles(
  database: Database,
  {
    source,
    batch,
    files,
  }: { readonly source: string; readonly batch: string; readonly files: readonly TakenFile[] },
): Promise<number> {
  return database.transaction(async (db) => {
    const fresh = await insertFiles(db, source, files);
    if (fresh.length === 0) return 0;
    const queued = fresh.flatMap(({ job, path, sha256 }) =>
      job === null ? [] : [{ sha256, job: newJob(customIdOf({ path, sha256 }), job) }],
    );
    const index = { kind: "index", options: { source, allow_partial: true } } as const;
    const first = fresh[0]?.sha256.slice(0, 12) ?? "";
    const jobs = [newJob(`index ${first}`, index), ...queued.map(({ job }) => job)];
    await linkJobs(db, { source, column: "job_id", queued }, await queueJobs(db, batch, jobs));
    return fresh.length;
  });
}

/**
 * Queues jobs in a batch; if a user has cancelled it, in another one, called `NAME 2` and so on.
 * @returns job ids by custom id
 */
export async function queueJobs(
  db: Queryable,
  batch: string,
  jobs: readonly NewJob[],
  number = 1,
): Promise<ReadonlyMap<string, string>> {
  const name = number === 1 ? batch : `${batch} ${number}`;
  const { batchId, state } = await findOrCreateBatch(db, name, "file");
  if (state === "cancelled" || state === "expired") return queueJobs(db, batch, jobs, number + 1);
  const jobIds = await insertJobs(db, batchId, jobs);
  await openBatch(db, batchId);
  return jobIds;
}

/** A custom id has at most 512 characters. */
const MOST_PATH_CHARS = 480;

/** Custom id of the job for a new file; short enough that `by label` can follow. */
export const customIdOf = ({ path, sha256 }: Pick<TakenFile, "path" | "sha256">): string =>
  `${path.slice(0, MOST_PATH_CHARS).toWellFormed()} ${sha256.slice(0, 12)}`;

async function insertFiles(
  db: Queryable,
  source: string,
  files: readonly TakenFile[],
): Promise<readonly TakenFile[]> {
  const unique = [...new Map(files.map((file) => [file.sha256, file])).values()];
  const rows = await valuesOf(db, z.string(), [
    source,
    unique.map(({ sha256 }) => sha256),
    unique.map(({ path }) => path),
    unique.map(({ bytes }) => String(bytes)),
    unique.map(({ inode }) => String(inode)),
    unique.map(({ mtimeNs }) => String(mtimeNs)),
    unique.map(({ job, moveTo }) => (job === null ? null : moveTo)),
    unique.map(({ mailSha256 }) => mailSha256),
  ])`
     insert into nightdesk_data.watched_files (source, sha256, path, bytes, inode, mtime_ns, move_to, mail_sha256)
     select $1, sha256, path, bytes, inode, mtime_ns, move_to, mail_sha256
       from unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[], $8::text[])
            as u (sha256, path, bytes, inode, mtime_ns, move_to, mail_sha256)
      order by sha256
     on conflict (source, sha256) do nothing returning sha256`;
  const inserted = new Set(rows);
  return unique.filter(({ sha256 }) => inserted.has(sha256));
}

type QueuedFiles = {
  readonly source: string;
  readonly column: "job_id" | "label_job_id";
  readonly queued: readonly { readonly sha256: string; readonly job: Pick<NewJob, "customId"> }[];
};

/** Records with each file the job that was created for it. @param jobIds by custom id */
export async function linkJobs(
  db: Queryable,
  { source, column, queued }: QueuedFiles,
  jobIds: ReadonlyMap<string, string>,
): Promise<void> {
  const linked = queued.flatMap(({ sha256, job: { customId } }) => {
    const jobId = jobIds.get(customId);
    return jobId === undefined ? [] : [{ sha256, jobId }];
  });
  await execute(db, [source, linked.map(({ sha256 }) => sha256), linked.map(({ jobId }) => jobId)])`
     update nightdesk_data.watched_files w set ${column} = u.job_id
       from unnest($2::text[], $3::uuid[]) as u (sha256, job_id)
      where w.source = $1 and w.sha256 = u.sha256`;
}

/** The hashes among these that were taken before. */
export async function selectTaken(
  db: Queryable,
  source: string,
  hashes: readonly string[],
): Promise<ReadonlySet<string>> {
  return new Set(
    await valuesOf(db, z.string(), [source, hashes])`
     select sha256 from nightdesk_data.watched_files where source = $1 and sha256 = any ($2::text[])`,
  );
}

/** SQL condition: job `j` classifies its file. */
export const CLASSIFIES = "j.kind = 'extract' and j.input->>'preset' = 'classify'";

const dueSchema = z.object({
  sha256: z.string(),
  path: z.string(),
  bytes: z.coerce.bigint(),
  inode: z.coerce.bigint(),
  mtime_ns: z.coerce.bigint(),
  move_to: z.string(),
});

/** A file whose jobs have succeeded and that a rule wants to move. */
export type FileToMove = z.infer<typeof dueSchema>;

/** The result of a move: the new path, or why the file stays. */
export type Move =
  | { readonly kind: "moved"; readonly path: string }
  | { readonly kind: "kept"; readonly path: string; readonly why: string };

const MOST_MOVES = 50;

/** Moves due files after their source was indexed with them; each file is moved by one worker. @returns the result for each */
export async function moveDueFiles(
  database: Database,
  source: string,
  move: (file: FileToMove) => Promise<Move>,
): Promise<readonly Move[]> {
  return database.transaction(async (db) => {
    const due = await rowsOf(db, dueSchema, [source])`
       select w.sha256, w.path, w.bytes::text, w.inode::text, w.mtime_ns::text, w.move_to
         from nightdesk_data.watched_files w
         join nightdesk_data.jobs last on last.job_id = coalesce(w.label_job_id, w.job_id)
         left join nightdesk_data.jobs j on j.job_id = w.job_id
        where w.source = $1 and w.move_to is not null and w.moved_to is null and w.move_problem is null
          and last.state = 'succeeded'
          -- Rules for labels, jobs of attachments, and the job that was queued with it to index the source find the file where
          -- it was taken.
          and (w.classified_at is not null or (${CLASSIFIES}) is not true)
          and not exists (select from nightdesk_data.watched_files a
                            left join nightdesk_data.jobs j on j.job_id = a.job_id
                            left join nightdesk_data.jobs last on last.job_id = coalesce(a.label_job_id, a.job_id)
                           where a.source = w.source and a.mail_sha256 = w.sha256
                             and (last.state <> 'succeeded' or a.classified_at is null and (${CLASSIFIES})))
          and not exists (select from nightdesk_data.jobs i
                           where i.batch_id = j.batch_id and i.kind = 'index' and i.created_at = j.created_at
                             and i.finished_at is null)
        order by w.sha256 limit ${MOST_MOVES} for update of w skip locked`;
    const moves: Move[] = [];
    for (const file of due) {
      const end = await move(file);
      moves.push(end);
      await execute(db, [
        source,
        file.sha256,
        ...(end.kind === "moved" ? [end.path, null] : [null, end.why]),
      ])`
         update nightdesk_data.watched_files set moved_to = $3, move_problem = $4 where source = $1 and sha256 = $2`;
    }
    return moves;
  });
}

/** Queues a job that indexes all sources, so that searches find moved files by their new paths only. */
export async function indexMovedFiles(
  database: Database,
  batch: string,
  moved: readonly string[],
): Promise<void> {
  const index = { kind: "index", options: { allow_partial: true } } as const;
  const jobs = [newJob(`moved ${hashJson(moved).slice(0, 12)}`, index)];
  await database.transaction((db) => queueJobs(db, batch, jobs));
}

/** A scan of a folder: how many files it had, how many of them are still being written, and the error, if any. */
export type FolderScan = {
  readonly files: number;
  readonly restless: number;
  readonly problem: string | null;
};

export const recordScan = (db: Queryable, source: string, look: FolderScan): Promise<void> =>
  execute(db, [source, look.files, look.restless, look.problem])`
     insert into nightdesk_data.watches (source, looked_at, files, restless, problem) values ($1, now(), $2, $3, $4)
     on conflict (source) do update
        set looked_at = now(), files = excluded.files, restless = excluded.restless, problem = excluded.problem`;

const watchesSchema = z.object({
  source: z.string(),
  age_s: z.coerce.number(),
  files: z.number(),
  restless: z.number(),
  problem: z.string().nullable(),
  unmoved: z.coerce.number(),
  passed_over: z.coerce.number(),
  failed: z.coerce.number(),
});

/**
 * The last scan of each folder, with counts of files that could not be moved, that the rules for labels skipped, and of others
 * whose last job did not succeed.
 */
export const selectWatches = (db: Queryable): Promise<z.infer<typeof watchesSchema>[]> =>
  rowsOf(db, watchesSchema)`
     select w.source, extract(epoch from now() - w.looked_at) as age_s, w.files, w.restless, w.problem,
            (select count(*) from nightdesk_data.watched_files f
              where f.source = w.source and f.move_problem is not null) as unmoved,
            (select count(*) from nightdesk_data.watched_files f
              where f.source = w.source and f.label_problem is not null) as passed_over,
            (select count(*) from nightdesk_data.watched_files f
               join nightdesk_data.jobs j on j.job_id = coalesce(f.label_job_id, f.job_id)
              where f.source = w.source and f.label_problem is null and j.state in ('refused', 'failed', 'expired')) as failed
       from nightdesk_data.watches w order by w.source`;
