import { z } from "zod";
import type { Queryable } from "../connection/database.ts";

export type DocumentFailure = {
  readonly path: string;
  readonly code: string;
  readonly message: string;
};

/** Stores why files of a source can't be indexed. Names that are not UTF-8 can be decoded to the same path. */
export async function recordFailures(
  db: Queryable,
  source: string,
  failures: readonly DocumentFailure[],
): Promise<void> {
  await db.query(
    `insert into nightdesk_data.document_failures as f (source, path, error_code, error_message)
     select distinct on (path) $1, path, code, message
       from unnest($2::text[], $3::text[], $4::text[]) as u (path, code, message)
     on conflict (source, path) do update
        set error_code = excluded.error_code, error_message = excluded.error_message, at = now()
      where (f.error_code, f.error_message) is distinct from (excluded.error_code, excluded.error_message)`,
    [
      source,
      failures.map(({ path }) => path),
      failures.map(({ code }) => code),
      failures.map(({ message }) => message),
    ],
  );
}

const countSchema = z.tuple([z.object({ documents: z.coerce.number() })]);

/** Documents that the index jobs of a batch could not index, but for jobs that allow it. */
export async function countFailedDocuments(db: Queryable, batchId: string): Promise<number> {
  const { rows } = await db.query(
    `select coalesce(sum((r.summary ->> 'failed')::bigint), 0) as documents
       from nightdesk_data.jobs j join nightdesk_data.runs r on r.run_id = j.run_id
      where j.batch_id = $1 and j.kind = 'index' and j.state = 'succeeded'
        and coalesce(j.input -> 'options' ->> 'allow_partial', 'false') <> 'true'`,
    [batchId],
  );
  return countSchema.parse(rows)[0].documents;
}

/**
 * Forgets the failures of a source that are not to be kept.
 * @returns how many are left
 */
export async function pruneFailures(
  db: Queryable,
  source: string,
  keeps: (path: string) => boolean,
): Promise<number> {
  const { rows } = await db.query(
    "select path from nightdesk_data.document_failures where source = $1",
    [source],
  );
  const known = pathsSchema.parse(rows);
  const gone = known.filter(({ path }) => !keeps(path));
  const left = known.length - gone.length;
  if (gone.length === 0) return left;
  await db.query(
    "delete from nightdesk_data.document_failures where source = $1 and path = any ($2::text[])",
    [source, gone.map(({ path }) => path)],
  );
  return left;
}

const pathsSchema = z.array(z.object({ path: z.string() }));
