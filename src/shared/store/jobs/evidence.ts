import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { rowsOf, valueOf } from "../connection/rows.ts";
import { comparedFactsOf, factColumns, fileOfDocument } from "../index/documents.ts";
import type { FileFacts } from "../index/documents.ts";

const usedSchema = z.string().nullable();

const rowSchema = z.union([
  z.object({ used: usedSchema, sha256: z.null() }),
  z.object({
    used: usedSchema,
    sha256: z.string(),
    settled: z.boolean(),
    file: z.string(),
    ...factColumns,
  }),
]);

/** A file in the index. */
export type KnownFile = {
  readonly sha256: string;
  readonly settled: boolean;
  /** Path of the file with these facts; for an attachment, its mail. */
  readonly file: string;
  readonly facts: Omit<FileFacts, "device">;
};

/** The file that a job's newest result is based on, and the state of the file in the index now. */
export type NewestEvidence = {
  /**
   * SHA-256 of the file behind the newest successful result of the same input; null when there is none, or when another extractor
   * reads the file now. A duplicate has the result of the job that ran in its place. That result also counts for the copy as long
   * as both files are in the index unchanged since they were compared.
   */
  readonly used: string | null;
  readonly known: KnownFile | null;
};

/**
 * The newest evidence for each job of kind summarize or extract, in the given order.
 * @param jobs SHA-256 of the canonical JSON of the input, and its path
 */
export async function selectNewestEvidence(
  db: Queryable,
  jobs: readonly { readonly inputSha256: string; readonly path: string }[],
): Promise<readonly NewestEvidence[]> {
  const rows = await rowsOf(db, rowSchema, [
    jobs.map(({ inputSha256 }) => inputSha256),
    jobs.map(({ path }) => path),
  ])`
     select case when d.indexed_at < j.compared_at
                       and exists (select from nightdesk_data.documents o
                                    where o.path = e.path and o.sha256 = e.sha256 and o.indexed_at < j.compared_at)
                 then d.sha256
                 when d.extractor <> e.extractor then null else e.sha256 end as used, d.sha256, d.settled, ${fileOfDocument("d")}, d.mtime_ns::text, d.ctime_ns::text, d.inode::text
       from unnest($1::text[], $2::text[]) with ordinality as i (input_sha256, path, place)
       left join lateral (
         -- A load compares its files behind the jobs that it has inserted.
         select coalesce(o.run_id, c.run_id) as run_id,
                case when c.duplicate_of is not null then c.created_at end as compared_at
           from nightdesk_data.jobs c left join nightdesk_data.jobs o on o.job_id = c.duplicate_of
          where c.input_sha256 = i.input_sha256 and c.kind in ('summarize', 'extract')
            and (c.state = 'succeeded' or c.duplicate_of is not null)
            and (c.duplicate_of is null or o.state = 'succeeded')
          order by c.finished_at desc limit 1) j on true
       left join lateral (
         select path, sha256, extractor from nightdesk_data.evidence
          where run_id = j.run_id and admitted and kind = 'file' order by ordinal limit 1) e on true
       left join lateral (
         select * from nightdesk_data.documents
          where path = i.path order by scanned_at desc limit 1) d on true
      order by i.place`;
  return rows.map((row) => ({ used: row.used, known: knownFile(row) }));
}

function knownFile(row: z.infer<typeof rowSchema>): KnownFile | null {
  if (row.sha256 === null) return null;
  const { sha256, settled, file } = row;
  return { sha256, settled, file, facts: comparedFactsOf(row) };
}

/** Why the same job might give another result now. */
export const STALE_REASONS = [
  "evidence_changed",
  "document_gone",
  "index_changed",
  "config_changed",
  "version_changed",
  "model_changed",
  "notes_changed",
] as const;
export type StaleReason = (typeof STALE_REASONS)[number];

/** The current state that stored results are compared with. */
export type CurrentVersion = {
  /** Version of Nightdesk. */
  readonly version: string;
  /** Hash of the configuration values that affect answers, 64 hex. */
  readonly configSha256: string;
  /** SHA-256 of the pinned weights, 64 hex; null when none are pinned. */
  readonly digest: string | null;
  /** Time of the last change of a document in the index; null for an empty index. */
  readonly indexedAt: Date | null;
  /** Ids of the stored notes that are added to prompts, oldest first. */
  readonly noteIds: readonly string[];
};

export const selectIndexedAt = (db: Queryable): Promise<Date | null> =>
  valueOf(db, z.date().nullable())`
     select max(indexed_at) as indexed_at from nightdesk_data.documents`;

/** The current state as a record for jsonb_to_record with PRESENT_TYPES. */
export const presentRowOf = ({
  version,
  configSha256,
  digest,
  indexedAt,
  noteIds,
}: CurrentVersion): object => ({
  version,
  config_sha256: configSha256,
  digest,
  indexed_at: indexedAt,
  note_ids: noteIds,
});

export const PRESENT_TYPES =
  "version text, config_sha256 text, digest text, indexed_at timestamptz, note_ids uuid[]";

/**
 * SQL array of the stale reasons of job `j` with run `r`, compared with the current state `now`. A question may be answered from
 * any document, so each change of the index makes it a candidate; a rerun reuses the replies to equal requests.
 */
export const REASONS_SQL = `array_remove(array[
  case when exists (
         select from nightdesk_data.evidence e
          where e.run_id = j.run_id and e.admitted
            and exists (select from nightdesk_data.documents d where d.path = e.path)
            and not exists (select from nightdesk_data.documents d where d.path = e.path and d.sha256 = e.sha256
                               and d.extractor = e.extractor))
         or exists (
         select from nightdesk_data.evidence e
           join nightdesk_data.tool_calls t on t.job_id = j.job_id and t.name = 'shell'
          cross join lateral jsonb_array_elements_text(t.result->'input_paths') given (path)
           join nightdesk_data.documents d on d.path = given.path and d.indexed_at > r.started_at
          where e.run_id = j.run_id and e.admitted and e.kind = 'output')
         or j.state = 'refused' and exists (
         select from nightdesk_data.documents d where d.path = j.input->>'path' and d.indexed_at > j.finished_at)
       then 'evidence_changed' end,
  case when exists (
         select from nightdesk_data.evidence e
          where e.run_id = j.run_id and e.admitted and e.kind in ('file', 'chunk')
            and not exists (select from nightdesk_data.documents d where d.path = e.path))
       then 'document_gone' end,
  case when j.kind = 'ask' and now.indexed_at > r.started_at then 'index_changed' end,
  case when r.config_sha256 <> now.config_sha256 then 'config_changed' end,
  case when r.version <> now.version then 'version_changed' end,
  case when exists (
         select from jsonb_array_elements(r.models) as used (model)
          where model->'facts'->>'provider' <> 'extractive' and model->'facts'->>'digest' <> now.digest)
       then 'model_changed' end,
  case when r.memory_ids <> now.note_ids and (j.state = 'succeeded' or cardinality(r.memory_ids) > 0)
        and exists (
         select from jsonb_array_elements(r.models) as used (model)
          where model->>'pass' = 'second' and model->'facts'->>'reads_prompts' <> 'false')
       then 'notes_changed' end], null)`;
