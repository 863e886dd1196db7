import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import {
  anyRow,
  camelRow,
  execute,
  oneRowOf,
  rowOf,
  rowsOf,
  valuesOf,
} from "../connection/rows.ts";

/** A run that works on the mirror of a source. */
type MirrorRun = { readonly source: string; readonly runId: string };

type MirroredPlace = MirrorRun & { readonly kind: string; readonly address: string };

/** Claims a source for a run. @returns false while another running job holds it */
export const claimSource = (
  db: Queryable,
  { source, kind, address, runId }: MirroredPlace,
): Promise<boolean> =>
  anyRow(db, [source, kind, address, runId])`
     insert into nightdesk_data.remote_sources as s (source, kind, address, run_id) values ($1, $2, $3, $4)
     on conflict (source) do update
        set kind = excluded.kind, address = excluded.address, run_id = excluded.run_id, began_at = clock_timestamp()
      where s.run_id = excluded.run_id
         or not exists (select from nightdesk_data.jobs j where j.run_id = s.run_id and j.state = 'running')
     returning source`;

export type ListedFile = {
  readonly id: string;
  readonly version: string;
  readonly bytes: number | null;
  /** Why it must not be fetched; null when it may. */
  readonly refused: string | null;
  /** Metadata from the place, as a JSON object. */
  readonly description?: string;
};

const mirroredSchema = camelRow({
  remote_id: z.string(),
  path: z.string(),
  bytes: z.coerce.number(),
});
/** A file whose bytes are in the mirror. */
type MirroredFile = z.infer<typeof mirroredSchema>;

/**
 * Records a part of a listing; each id once.
 * @returns the files whose mirrored version is the listed one
 */
export const recordListing = (
  db: Queryable,
  { source, runId }: MirrorRun,
  files: readonly ListedFile[],
): Promise<MirroredFile[]> =>
  rowsOf(db, mirroredSchema, [
    source,
    runId,
    files.map(({ id }) => id),
    files.map(({ version }) => version),
    files.map(({ bytes }) => bytes),
    files.map(({ refused }) => refused),
    files.map(({ description }) => description ?? null),
  ])`
     with noted as (
       insert into nightdesk_data.remote_files as f
              (source, seen_by, remote_id, listed_version, listed_bytes, reason, description, fate)
       select $1, $2, id, version, bytes, refused, said::jsonb, case when refused is null then 'waiting' else 'skipped' end
         from unnest($3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[]) as l (id, version, bytes, refused, said)
       on conflict (source, remote_id) do update
          set seen_by = excluded.seen_by, listed_version = excluded.listed_version,
              listed_bytes = excluded.listed_bytes, reason = excluded.reason, description = excluded.description,
              described_at = case when f.description is distinct from excluded.description then clock_timestamp()
                                  else f.described_at end,
              fate = case when excluded.fate = 'waiting' and f.version = excluded.listed_version then 'unchanged'
                          else excluded.fate end
       returning remote_id, path, bytes, fate)
     select remote_id, path, bytes from noted where fate = 'unchanged'`;

const goneSchema = camelRow({ gone: z.coerce.number(), mirrored: z.coerce.number() });

/** Ends a complete listing. @returns how many mirrored files it lacks, and how many there are */
export const endListing = (
  db: Queryable,
  { source, runId }: MirrorRun,
): Promise<z.infer<typeof goneSchema>> =>
  oneRowOf(db, goneSchema, [source, runId])`
     with ended as (
       update nightdesk_data.remote_sources set listed_at = clock_timestamp() where source = $1),
     vanished as (
       delete from nightdesk_data.remote_files
        where source = $1 and seen_by <> $2 and sha256 is null and path_key is null
          and (fate <> 'deleted' or changed_at < clock_timestamp() - interval '90 days'))
     select count(*) filter (where seen_by <> $2) as gone, count(*) as mirrored
       from nightdesk_data.remote_files where source = $1 and path_key is not null`;

export const holdGone = (
  db: Queryable,
  { source, runId }: MirrorRun,
  reason: string,
): Promise<void> =>
  execute(db, [source, runId, reason])`
     update nightdesk_data.remote_files set fate = 'held', reason = $3, changed_at = clock_timestamp()
      where source = $1 and seen_by <> $2 and path_key is not null`;

const pathSchema = camelRow({ remote_id: z.string(), path: z.string() });

/** Up to 500 mirrored files that the run's listing lacks. */
export const selectGone = (
  db: Queryable,
  { source, runId }: MirrorRun,
): Promise<z.infer<typeof pathSchema>[]> =>
  rowsOf(db, pathSchema, [source, runId])`
     select remote_id, path from nightdesk_data.remote_files
      where source = $1 and seen_by <> $2 and path_key is not null order by remote_id limit 500`;

/** Records that bytes are no longer in the mirror; files with fate waiting are fetched again. */
export const recordLost = (
  db: Queryable,
  source: string,
  ids: readonly string[],
  fate: "waiting" | "deleted",
): Promise<void> =>
  execute(db, [source, ids, fate])`
     update nightdesk_data.remote_files
        set version = null, bytes = null, sha256 = null, origin = null, fetched_at = null, part_etag = null,
            path_key = case when $3 = 'waiting' then path_key end, fate = $3, reason = null, changed_at = clock_timestamp()
      where source = $1 and remote_id = any($2::text[])`;

const waitingSchema = camelRow({
  remote_id: z.string(),
  listed_version: z.string(),
  listed_bytes: z.coerce.number().nullable(),
  path: z.string().nullable(),
  sha256: z.string().nullable(),
  bytes: z.coerce.number().nullable(),
  part_etag: z.string().nullable(),
  has_path: z.boolean(),
});
/** A file to fetch. `path` comes from an earlier try if `hasPath` is true; `bytes` are those of the mirrored version. */
export type WaitingFile = z.infer<typeof waitingSchema>;

/** The next waiting files after an id, by id. */
export const selectWaiting = (
  db: Queryable,
  { source, runId }: MirrorRun,
  after: string,
): Promise<WaitingFile[]> =>
  rowsOf(db, waitingSchema, [source, runId, after])`
     select remote_id, listed_version, listed_bytes, path, sha256, bytes, part_etag, path_key is not null as has_path
       from nightdesk_data.remote_files
      where source = $1 and seen_by = $2 and fate = 'waiting' and remote_id collate "C" > $3
      order by remote_id collate "C" limit 200`;

/**
 * Reserves a path for a file.
 * @returns false when another file of the source has it, or one that some file systems treat as equal
 */
export const takePath = (
  db: Queryable,
  source: string,
  { id, path, key }: { readonly id: string; readonly path: string; readonly key: string },
): Promise<boolean> =>
  anyRow(db, [source, id, path, key])`
     update nightdesk_data.remote_files f set path = $3, path_key = $4
      where source = $1 and remote_id = $2
        and not exists (select from nightdesk_data.remote_files o
                         where o.source = $1 and o.path_key = $4 and o.remote_id <> $2)`;

/** Records the ETag of a partly fetched content, so that a later try can resume it. */
export const recordPart = (
  db: Queryable,
  source: string,
  id: string,
  etag: string | null,
): Promise<void> =>
  execute(db, [source, id, etag])`
     update nightdesk_data.remote_files set part_etag = $3 where source = $1 and remote_id = $2`;

type FetchedFile = {
  readonly id: string;
  readonly version: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly origin: string;
};

/** Records a fetched file; the fate is unchanged when its bytes equal the mirrored ones. */
export const recordFetched = (
  db: Queryable,
  source: string,
  { id, version, bytes, sha256, origin }: FetchedFile,
): Promise<void> =>
  execute(db, [source, id, version, bytes, sha256, origin])`
     with fetched as (
       update nightdesk_data.remote_files f
          set fate = case when f.sha256 = $5 then 'unchanged' else 'fetched' end, version = $3, bytes = $4, sha256 = $5,
              origin = $6, fetched_at = clock_timestamp(), changed_at = clock_timestamp(), part_etag = null, reason = null
        where source = $1 and remote_id = $2 returning path)
     insert into nightdesk_data.remote_versions (path, sha256, origin) select path, $5, $6 from fetched
     on conflict (path, sha256) do update set origin = excluded.origin, fetched_at = clock_timestamp()`;

export const recordSkipped = (
  db: Queryable,
  source: string,
  id: string,
  reason: string,
): Promise<void> =>
  execute(db, [source, id, reason])`
     update nightdesk_data.remote_files set fate = 'skipped', reason = $3, changed_at = clock_timestamp()
      where source = $1 and remote_id = $2`;

const countsSchema = camelRow({
  files: z.coerce.number(),
  bytes: z.coerce.number(),
  unchanged: z.coerce.number(),
  skipped: z.coerce.number(),
  waiting: z.coerce.number(),
  held: z.coerce.number(),
  /** Files whose metadata changed after they were indexed. */
  described: z.coerce.number(),
});

/** Counts the mirrored files and the fates of the others. */
export const measureMirror = (
  db: Queryable,
  source: string,
): Promise<z.infer<typeof countsSchema>> =>
  oneRowOf(db, countsSchema, [source])`
     select count(sha256) as files, coalesce(sum(bytes), 0) as bytes,
            count(*) filter (where fate = 'unchanged') as unchanged, count(*) filter (where fate = 'skipped') as skipped,
            count(*) filter (where fate = 'waiting') as waiting, count(*) filter (where fate = 'held') as held,
            (select count(*) from nightdesk_data.remote_files f join nightdesk_data.documents d using (source, path)
              where f.source = $1 and f.description is not null and f.path_key is not null
                and f.described_at > d.indexed_at) as described
       from nightdesk_data.remote_files where source = $1`;

const mirrorSchema = camelRow({
  source: z.string(),
  /** Since the last complete listing. */
  hours: z.coerce.number().nullable(),
  files: z.coerce.number(),
  held: z.coerce.number(),
  skipped: z.coerce.number(),
});
export type MirrorState = z.infer<typeof mirrorSchema>;

/** The state of every source that was ever mirrored. */
export const selectMirrors = (db: Queryable): Promise<readonly MirrorState[]> =>
  rowsOf(db, mirrorSchema)`
     select s.source, extract(epoch from clock_timestamp() - s.listed_at) / 3600 as hours, count(f.sha256) as files,
            count(*) filter (where f.fate = 'held') as held, count(*) filter (where f.fate = 'skipped') as skipped
       from nightdesk_data.remote_sources s left join nightdesk_data.remote_files f using (source)
      group by s.source`;

/** The waiting or running sync of a source, which makes another one needless. */
export const findOpenSync = (
  db: Queryable,
  source: string,
): Promise<z.infer<typeof openSchema> | undefined> =>
  rowOf(db, openSchema, [source])`
     select j.job_id, j.batch_id, b.name as batch
       from nightdesk_data.jobs j join nightdesk_data.batches b using (batch_id)
      where b.state = 'open' and j.kind = 'sync' and j.state in ('queued', 'running', 'parked')
        and j.input->>'source' = $1 and not j.input ? 'accept_deletions'
      order by j.seq desc limit 1`;
const openSchema = camelRow({ job_id: z.string(), batch_id: z.string(), batch: z.string() });

const descriptionSchema = camelRow({
  path: z.string(),
  description: z.record(z.string(), z.unknown()),
  is_new: z.boolean(),
});
/** Metadata of a mirrored file from its place; `isNew` when its document was indexed with an earlier description. */
export type FileDescription = z.infer<typeof descriptionSchema>;

export const selectDescriptions = (
  db: Queryable,
  source: string,
): Promise<readonly FileDescription[]> =>
  rowsOf(db, descriptionSchema, [source])`
     select f.path, f.description, coalesce(f.described_at > d.indexed_at, false) as is_new
       from nightdesk_data.remote_files f left join nightdesk_data.documents d using (source, path)
      where f.source = $1 and f.description is not null and f.path_key is not null`;

/** Metadata of one file from its place; null or undefined when there is none. */
export async function findDescription(
  db: Queryable,
  source: string,
  remoteId: string,
): Promise<unknown> {
  const [found] = await valuesOf(db, z.unknown(), [source, remoteId])`
     select description from nightdesk_data.remote_files
      where source = $1 and remote_id = $2 and path_key is not null`;
  return found;
}
