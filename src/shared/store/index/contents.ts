import { hash } from "node:crypto";
import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { waitForLock } from "../connection/locks.ts";
import {
  camelRow,
  execute,
  oneRowOf,
  rowOf,
  rowsOf,
  valueOf,
  valuesOf,
} from "../connection/rows.ts";

/** A document of the index and its bytes; `sha256` is theirs, 64 hex digits. */
export type NewContent = {
  readonly path: string;
  readonly sha256: string;
  readonly content: Buffer;
};

/**
 * Keeps the bytes of documents of one source, once for equal ones, as far as the quota lets it, and notes at each document
 * whether it did. Must run in the transaction that writes the documents, after them.
 * @param quota bytes that may be kept in all
 */
export async function storeContents(
  db: Queryable,
  source: string,
  { contents, quota }: { readonly contents: readonly NewContent[]; readonly quota: number },
): Promise<void> {
  const bySha256 = new Map(contents.map(({ sha256, content }) => [sha256, content]));
  const kept = await renewContents(db, [...bySha256.keys()]);
  // In order, so that two transactions can't wait for each other in a circle.
  const fresh = [...bySha256].filter(([sha256]) => !kept.has(sha256)).sort(byKey);
  if (fresh.length > 0) {
    await waitForLock(db, "contents");
    let room = quota - (await sumContents(db));
    for (const [sha256, content] of fresh) {
      if (content.length > room) continue;
      room -= content.length;
      kept.add(sha256);
      await insertContent(db, sha256, content);
    }
  }
  await execute(db, [
    source,
    contents.map(({ path }) => path),
    contents.map(({ sha256 }) => !kept.has(sha256)),
  ])`
     update nightdesk_data.documents d set is_over_quota = t.is_over
       from unnest($2::text[], $3::boolean[]) as t (path, is_over)
      where d.source = $1 and d.path = t.path and d.is_over_quota <> t.is_over`;
}

const byKey = ([one]: readonly [string, Buffer], [other]: readonly [string, Buffer]): number =>
  one < other ? -1 : 1;

/** @returns the hashes of those that are kept already, which nobody removes now */
async function renewContents(db: Queryable, sha256s: readonly string[]): Promise<Set<string>> {
  const held = await valuesOf(db, z.string(), [sha256s])`
     with held as materialized (
       select sha256 from nightdesk_data.contents where sha256 = any ($1::text[]) order by sha256 for update)
     update nightdesk_data.contents c set used_at = clock_timestamp() from held where c.sha256 = held.sha256
     returning c.sha256`;
  return new Set(held);
}

const insertContent = (db: Queryable, sha256: string, content: Buffer): Promise<void> =>
  execute(db, [sha256, content.length, content])`
     insert into nightdesk_data.contents (sha256, bytes, content) values ($1, $2, $3)
     on conflict (sha256) do update set used_at = clock_timestamp()`;

/** Bytes that are kept in all. */
export const sumContents = (db: Queryable): Promise<number> =>
  valueOf(db, z.coerce.number())`select coalesce(sum(bytes), 0) from nightdesk_data.contents`;

const listedSchema = z.object({ path: z.string(), bytes: z.coerce.number() });

/** The files of the index in order of path, each once; no attachments. */
export const listStoredFiles = (db: Queryable): Promise<readonly z.infer<typeof listedSchema>[]> =>
  rowsOf(db, listedSchema)`
     select distinct on (path) path, bytes from nightdesk_data.documents
      where mail is null order by path, indexed_at desc`;

const fileSchema = camelRow({
  sha256: z.string(),
  bytes: z.coerce.number(),
  is_over_quota: z.boolean(),
  content: z.instanceof(Buffer).nullable(),
});

/**
 * A file as the index has it now; undefined where it has none. `content` is null where its bytes are not kept, or are more
 * than `maxBytes`. Whoever uses them compares their hash first.
 */
export const selectStoredFile = (
  db: Queryable,
  path: string,
  maxBytes: number,
): Promise<z.infer<typeof fileSchema> | undefined> =>
  rowOf(db, fileSchema, [path, maxBytes])`
     select d.sha256, d.bytes, d.is_over_quota, c.content
       from nightdesk_data.documents d
       left join nightdesk_data.contents c on c.sha256 = d.sha256 and c.bytes <= $2
      where d.path = $1 and d.mail is null order by d.indexed_at desc limit 1`;

/** The bytes of this hash; null where they are not kept, are more than `maxBytes`, or are others by now. */
export async function selectContent(
  db: Queryable,
  sha256: string,
  maxBytes: number | null = null,
): Promise<Buffer | null> {
  const [content] = await valuesOf(db, z.instanceof(Buffer), [sha256, maxBytes])`
     select content from nightdesk_data.contents where sha256 = $1 and ($2::bigint is null or bytes <= $2)`;
  return content !== undefined && hash("sha256", content, "hex") === sha256 ? content : null;
}

const removedSchema = camelRow({
  contents: z.coerce.number(),
  bytes: z.coerce.number(),
  /** The last that was looked at; null where there are no more. */
  last: z.string().nullable(),
});

/**
 * Looks at `limit` contents in order of their hashes, those behind `after`, and removes what no document has and no evidence of
 * a run names. One that a document came to have, or ceased to, after a job began that has not ended stays: that job may have
 * read it, and its evidence is not written yet. So does one that somebody else removes or renews at this moment.
 * @param graceSeconds longer than the transaction of an index may take
 */
export const removeUnnamedSlice = (
  db: Queryable,
  after: string,
  { limit, graceSeconds }: { readonly limit: number; readonly graceSeconds: number },
): Promise<z.infer<typeof removedSchema>> =>
  oneRowOf(db, removedSchema, [after, limit, graceSeconds])`
     with slice as materialized (
       select sha256, used_at from nightdesk_data.contents where sha256 > $1 order by sha256 limit $2),
     unnamed as materialized (
       select s.sha256 from slice s
        where s.used_at < least(
            clock_timestamp() - make_interval(secs => $3),
            (select min(started_at) from nightdesk_data.jobs where state in ('queued', 'running', 'parked')))
          and not exists (select from nightdesk_data.documents d where d.sha256 = s.sha256)
          and not exists (select from nightdesk_data.evidence e where e.sha256 = s.sha256)),
     -- The row as it is now: an index that keeps the same bytes at this moment has renewed it.
     free as materialized (
       select c.sha256 from unnamed join nightdesk_data.contents c using (sha256)
        where c.used_at < clock_timestamp() - make_interval(secs => $3)
        order by c.sha256 for update of c skip locked),
     gone as (
       delete from nightdesk_data.contents c using free where c.sha256 = free.sha256 returning c.bytes)
     select count(*) as contents, coalesce(sum(bytes), 0) as bytes, (select max(sha256) from slice) as last from gone`;

const forgettableSchema = camelRow({
  doc_id: z.string(),
  path: z.string(),
  sha256: z.string(),
  /** Whether its bytes are kept, and how many other documents have the same ones. */
  is_kept: z.boolean(),
  others: z.int(),
});
export type Forgettable = z.infer<typeof forgettableSchema>;

/** The documents of a path, in whatever source, and those that lie in it as in a mail; in order of path. */
export const selectForgettable = (db: Queryable, path: string): Promise<readonly Forgettable[]> =>
  rowsOf(db, forgettableSchema, [path])`
     with own as materialized (
       select doc_id, path, sha256 from nightdesk_data.documents
        where path = $1 or mail is not null and starts_with(path, $1 || '/'))
     select own.doc_id::text, own.path, own.sha256,
            exists (select from nightdesk_data.contents c where c.sha256 = own.sha256) as is_kept,
            (select count(*) from nightdesk_data.documents d
              where d.sha256 = own.sha256 and d.doc_id not in (select doc_id from own))::integer as others
       from own order by own.path, own.doc_id`;

const readerSchema = camelRow({
  run_id: z.string(),
  job_id: z.string(),
  batch: z.string(),
  custom_id: z.string(),
});
export type ReaderRun = z.infer<typeof readerSchema>;

/** Whether evidence is of the path $1, or of what lies in it; the beginning of its path is what there is an index of. */
const IS_BELOW = `left(e.path, 200) = left($1, 200) and e.path = $1
         or left(e.path, 200) ^@ left($1 || '/', 200) and starts_with(e.path, $1 || '/')`;

/** The runs whose evidence is of a path, of what lies in it, or of bytes of these hashes; newest first. */
export const selectReaders = (
  db: Queryable,
  path: string,
  sha256s: readonly string[],
): Promise<readonly ReaderRun[]> =>
  rowsOf(db, readerSchema, [path, sha256s])`
     select r.run_id, j.job_id, b.name as batch, j.custom_id
       from (select distinct run_id from nightdesk_data.evidence e
              where kind in ('file', 'chunk') and (${IS_BELOW} or sha256 = any ($2::text[]))) e
       join nightdesk_data.runs r using (run_id)
       join nightdesk_data.jobs j using (job_id)
       join nightdesk_data.batches b using (batch_id)
      order by r.started_at desc, r.run_id`;

/**
 * Removes documents, and what is stored of their bytes and of all that evidence of `path` names: contents, and what was read
 * of pictures in them. What another document has too stays. Must run in a transaction.
 * @returns how many contents went
 */
export async function forgetDocuments(
  db: Queryable,
  path: string,
  documents: readonly Forgettable[],
): Promise<number> {
  await execute(db, [documents.map(({ docId }) => docId)])`
     delete from nightdesk_data.documents where doc_id = any ($1::bigint[])`;
  return valueOf(db, z.int(), [path, documents.map(({ sha256 }) => sha256)])`
     with former as materialized (
       select unnest($2::text[]) as sha256
       union
       select e.sha256 from nightdesk_data.evidence e
        where e.kind in ('file', 'chunk') and (${IS_BELOW})),
     own as materialized (
       select sha256 from former
        where not exists (select from nightdesk_data.documents d where d.sha256 = former.sha256)),
     pages as (delete from nightdesk_data.ocr_pages p using own where p.sha256 = own.sha256),
     choices as (delete from nightdesk_data.ocr_choices c using own where c.sha256 = own.sha256),
     gone as (delete from nightdesk_data.contents c using own where c.sha256 = own.sha256 returning 1)
     select count(*)::integer from gone`;
}
