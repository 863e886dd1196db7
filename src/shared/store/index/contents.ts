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

/** A document of the index and the content to store for it; `sha256` is the hash of its bytes, 64 hex digits. */
export type NewContent = {
  readonly path: string;
  readonly sha256: string;
  /** Its bytes, or its text packed by `packText`. */
  readonly content: Buffer;
  /** The extractor of the text; null when the content is bytes. */
  readonly extractor: string | null;
};

/**
 * Stores the bytes or texts of documents of one source, once for equal bytes, while the quota has room, and records for each
 * document whether it fitted. Bytes replace a text; a text replaces that of another extractor. Must run in the transaction that
 * writes the documents, after them.
 * @param quota bytes for all stored contents together
 */
export async function storeContents(
  db: Queryable,
  source: string,
  { contents, quota }: { readonly contents: readonly NewContent[]; readonly quota: number },
): Promise<void> {
  const bySha256 = new Map(contents.map((one) => [one.sha256, one]));
  const kept = await renewContents(db, [...bySha256.values()]);
  // Sorted, so that two transactions can't deadlock.
  const fresh = [...bySha256].filter(([sha256]) => !kept.has(sha256)).sort(byKey);
  if (fresh.length > 0) {
    await waitForLock(db, "contents");
    let room = quota - (await sumContents(db));
    for (const [sha256, one] of fresh) {
      if (one.content.length > room) continue;
      room -= one.content.length;
      kept.add(sha256);
      await insertContent(db, one);
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

const byKey = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : 1;

/** @returns the hashes of contents that are stored already, and that the transaction protects from removal */
async function renewContents(db: Queryable, contents: readonly NewContent[]): Promise<Set<string>> {
  const held = await valuesOf(db, z.string(), [
    contents.map(({ sha256 }) => sha256),
    contents.map(({ extractor }) => extractor),
  ])`
     with held as materialized (
       select c.sha256 from unnest($1::text[], $2::text[]) as wanted (sha256, extractor)
         join nightdesk_data.contents c using (sha256)
        where c.extractor is null or c.extractor = wanted.extractor order by c.sha256 for update of c)
     update nightdesk_data.contents c set used_at = clock_timestamp() from held where c.sha256 = held.sha256
     returning c.sha256`;
  return new Set(held);
}

const insertContent = (db: Queryable, { sha256, content, extractor }: NewContent): Promise<void> =>
  execute(db, [sha256, content.length, content, extractor])`
     insert into nightdesk_data.contents as c (sha256, bytes, content, extractor) values ($1, $2, $3, $4)
     on conflict (sha256) do update
        set used_at = clock_timestamp(), bytes = excluded.bytes, content = excluded.content, extractor = excluded.extractor`;

/** Total bytes of all stored contents. */
export const sumContents = (db: Queryable): Promise<number> =>
  valueOf(db, z.coerce.number())`select coalesce(sum(bytes), 0) from nightdesk_data.contents`;

const listedSchema = z.object({ path: z.string(), bytes: z.coerce.number() });

/** The files of the index by path, each once, without attachments. */
export const listStoredFiles = (db: Queryable): Promise<readonly z.infer<typeof listedSchema>[]> =>
  rowsOf(db, listedSchema)`
     select distinct on (path) path, bytes from nightdesk_data.documents
      where mail is null order by path, indexed_at desc`;

const fileSchema = camelRow({
  sha256: z.string(),
  bytes: z.coerce.number(),
  is_over_quota: z.boolean(),
  is_text_kept: z.boolean(),
  content: z.instanceof(Buffer).nullable(),
});

/**
 * The newest version of a file in the index; undefined when it has none. `content` is null when its bytes are not stored or
 * exceed `maxBytes`. The caller must compare their hash.
 */
export const selectStoredFile = (
  db: Queryable,
  path: string,
  maxBytes: number,
): Promise<z.infer<typeof fileSchema> | undefined> =>
  rowOf(db, fileSchema, [path, maxBytes])`
     select d.sha256, d.bytes, d.is_over_quota, c.extractor is not null as is_text_kept,
            case when c.extractor is null and c.bytes <= $2 then c.content end as content
       from nightdesk_data.documents d
       left join nightdesk_data.contents c on c.sha256 = d.sha256
      where d.path = $1 and d.mail is null order by d.indexed_at desc limit 1`;

const contentSchema = z.object({
  content: z.instanceof(Buffer),
  extractor: z.string().nullable(),
});

/**
 * The stored content for a hash: the bytes, or a text and its extractor. Null when nothing is stored, when it exceeds `maxBytes`,
 * or when the bytes no longer match the hash.
 */
export async function selectContent(
  db: Queryable,
  sha256: string,
  maxBytes: number | null = null,
): Promise<Buffer | (KeptText & { readonly extractor: string }) | null> {
  const row = await rowOf(db, contentSchema, [sha256, maxBytes])`
     select content, extractor from nightdesk_data.contents where sha256 = $1 and ($2::bigint is null or bytes <= $2)`;
  if (row === undefined) return null;
  const { content, extractor } = row;
  if (extractor !== null) return { ...unpackText(content), extractor };
  return hash("sha256", content, "hex") === sha256 ? content : null;
}

const keptTextSchema = z.object({
  text: z.string(),
  /** `Places` of a document, as lists. */
  places: z.object({ numbers: z.array(z.number()), sheets: z.array(z.string()) }),
  leftOut: z.record(z.string(), z.number()),
});
type KeptText = z.infer<typeof keptTextSchema>;

/** Serialises the text of a document, to store it in place of its bytes. */
export const packText = (text: KeptText): Buffer => Buffer.from(JSON.stringify(text));
const unpackText = (content: Buffer): KeptText =>
  keptTextSchema.parse(JSON.parse(content.toString("utf8")));

const removedSchema = camelRow({
  contents: z.coerce.number(),
  bytes: z.coerce.number(),
  /** The last hash of this slice; null when there are no more. */
  last: z.string().nullable(),
});

/**
 * Checks `limit` contents in order of their hashes, after `after`, and removes those that no document has and no evidence of a
 * run names. A content stays while an unfinished job is older than the last change of its documents: that job may have read it
 * without having written its evidence. A content that another session removes or renews at this moment also stays.
 * @param graceSeconds longer than any transaction of an index job
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
  /** Whether its bytes are stored, and how many other documents have the same bytes. */
  is_kept: z.boolean(),
  others: z.int(),
});
export type Forgettable = z.infer<typeof forgettableSchema>;

/** The documents of a path, in all sources, and the attachments of a mail at that path; by path. */
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

/** SQL condition: whether evidence is of path $1 or of a path below it. The database has an index of the first 200 characters. */
const IS_BELOW = `left(e.path, 200) = left($1, 200) and e.path = $1
         or left(e.path, 200) ^@ left($1 || '/', 200) and starts_with(e.path, $1 || '/')`;

/** The runs with evidence of a path, of paths below it, or of bytes with these hashes; newest first. */
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
 * Removes documents and the stored data of their bytes and of all bytes that evidence of `path` names: contents, and texts read
 * from pictures. Data that another document shares stays. Must run in a transaction.
 * @returns how many contents were removed
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
