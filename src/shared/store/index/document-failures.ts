import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { execute, rowsOf, valueOf, valuesOf } from "../connection/rows.ts";
import { comparedFactsOf, factColumns } from "./documents.ts";
import type { FileFacts } from "./documents.ts";

/** What a lasting failure depends on: while it is unchanged, the same bytes fail again. */
export type FailureGrounds = {
  /** Path of the file that failed, or that contains what failed. */
  readonly file: string;
  /** Facts of that file. */
  readonly facts: Omit<FileFacts, "device">;
  /** Whether any later write changes the facts; false for a file that changed just before it was read. */
  readonly settled: boolean;
  /** Hash of the extractors' versions and limits. */
  readonly reader: string;
  /** For a limit that a busy machine can exceed: consecutive scans that did. Null for a failure that lasts from the start. */
  readonly tries: number | null;
};

export type DocumentFailure = {
  readonly path: string;
  readonly code: string;
  readonly message: string;
  /** Undefined for a failure that may pass by itself. */
  readonly grounds?: FailureGrounds | undefined;
};

/** A failure that an earlier scan stored. */
export type KnownFailure = Pick<DocumentFailure, "path" | "grounds">;

const knownSchema = z.union([
  z.object({ path: z.string(), file: z.null() }),
  z.object({
    path: z.string(),
    file: z.string(),
    ...factColumns,
    settled: z.boolean(),
    reader: z.string(),
    tries: z.int().nullable(),
  }),
]);

/** Loads the failures of a source. */
export async function loadFailures(
  db: Queryable,
  source: string,
): Promise<readonly KnownFailure[]> {
  const rows = await rowsOf(db, knownSchema, [source])`
     select path, file, bytes::text, mtime_ns::text, ctime_ns::text, inode::text, settled, reader, tries
       from nightdesk_data.document_failures where source = $1`;
  return rows.map((row) => {
    if (row.file === null) return { path: row.path };
    const { path, file, settled, reader, tries } = row;
    return { path, grounds: { file, facts: comparedFactsOf(row), settled, reader, tries } };
  });
}

/** Stores why files of a source can't be indexed; once for each path: two names that are not UTF-8 can decode to one path. */
export async function recordFailures(
  db: Queryable,
  source: string,
  failures: readonly DocumentFailure[],
): Promise<void> {
  const fact = (key: keyof FailureGrounds["facts"]) =>
    failures.map(({ grounds }) => (grounds === undefined ? null : String(grounds.facts[key])));
  await execute(db, [
    source,
    failures.map(({ path }) => path),
    failures.map(({ code }) => code),
    failures.map(({ message }) => message),
    failures.map(({ grounds }) => grounds?.file ?? null),
    fact("bytes"),
    fact("mtimeNs"),
    fact("ctimeNs"),
    fact("inode"),
    failures.map(({ grounds }) => grounds?.settled ?? null),
    failures.map(({ grounds }) => grounds?.reader ?? null),
    failures.map(({ grounds }) => grounds?.tries ?? null),
  ])`
     insert into nightdesk_data.document_failures as f
       (source, path, error_code, error_message, file, bytes, mtime_ns, ctime_ns, inode, settled, reader, tries)
     select distinct on (path) $1, u.*
       from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[],
                   $9::bigint[], $10::boolean[], $11::text[], $12::integer[])
            as u (path, code, message, file, bytes, mtime_ns, ctime_ns, inode, settled, reader, tries)
     on conflict (source, path) do update
        set error_code = excluded.error_code, error_message = excluded.error_message,
            at = case when (f.error_code, f.error_message) = (excluded.error_code, excluded.error_message)
                      then f.at else now() end,
            file = excluded.file, bytes = excluded.bytes, mtime_ns = excluded.mtime_ns, ctime_ns = excluded.ctime_ns,
            inode = excluded.inode, settled = excluded.settled, reader = excluded.reader, tries = excluded.tries
      where (f.error_code, f.error_message, f.file, f.bytes, f.mtime_ns, f.ctime_ns, f.inode, f.settled, f.reader,
             f.tries)
            is distinct from
            (excluded.error_code, excluded.error_message, excluded.file, excluded.bytes, excluded.mtime_ns,
             excluded.ctime_ns, excluded.inode, excluded.settled, excluded.reader, excluded.tries)`;
}

/** The number of documents that the index jobs of a batch failed to index, without jobs that have allow_partial. */
export const countFailedDocuments = (db: Queryable, batchId: string): Promise<number> =>
  valueOf(db, z.coerce.number(), [batchId])`
     select coalesce(sum((r.summary ->> 'failed')::bigint), 0) as documents
       from nightdesk_data.jobs j join nightdesk_data.runs r on r.run_id = j.run_id
      where j.batch_id = $1 and j.kind = 'index' and j.state = 'succeeded'
        and coalesce(j.input -> 'options' ->> 'allow_partial', 'false') <> 'true'`;

/**
 * Deletes the failures of a source that `keeps` rejects.
 * @returns how many are left
 */
export async function pruneFailures(
  db: Queryable,
  source: string,
  keeps: (path: string) => boolean,
): Promise<number> {
  const known = await valuesOf(db, z.string(), [source])`
     select path from nightdesk_data.document_failures where source = $1`;
  const gone = known.filter((path) => !keeps(path));
  const left = known.length - gone.length;
  if (gone.length === 0) return left;
  await execute(db, [source, gone])`
     delete from nightdesk_data.document_failures where source = $1 and path = any ($2::text[])`;
  return left;
}
