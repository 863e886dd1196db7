import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { execute, rowsOf } from "../connection/rows.ts";

/** What tells without reading whether a file is the one that was indexed. Times are nanoseconds since 1970. */
export type FileFacts = {
  readonly bytes: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly inode: bigint;
  readonly device: bigint;
};

export type IndexedDocument = {
  readonly docId: string;
  readonly path: string;
  readonly sha256: string;
  readonly chunkSettings: string;
  /** Version of the extractor that made its text. */
  readonly extractor: string;
  /** That its words were indexed in: one of `LANGUAGES`. */
  readonly language: string;
  /** Of an attachment its own bytes, and else the facts of the file of its mail. */
  readonly facts: FileFacts;
  /** Whether the facts would have told of another write. */
  readonly settled: boolean;
  /** What the database holds of it; null where nothing. */
  readonly kept: "bytes" | "text" | null;
} & MailLink;

/** What binds an attachment to its mail. */
export type MailLink = {
  /** Path of the file of the mail or mailbox that holds it; null for a file. */
  readonly mail: string | null;
  /** How many of the files that it holds itself, as a mail does, are read as documents. */
  readonly attachments: number;
};

/** Columns of the facts of a file, but for its device. */
export const factColumns = {
  bytes: z.string(),
  mtime_ns: z.string(),
  ctime_ns: z.string(),
  inode: z.string(),
};

const rowSchema = z.object({
  doc_id: z.string(),
  path: z.string(),
  sha256: z.string(),
  chunk_settings: z.string(),
  extractor: z.string(),
  language: z.string(),
  ...factColumns,
  device: z.string(),
  settled: z.boolean(),
  mail: z.string().nullable(),
  attachments: z.int(),
  kept: z.enum(["bytes", "text"]).nullable(),
});

type FactsRow = Readonly<Record<keyof typeof factColumns, string>>;

/** The facts of a file, but for its device, from a row that has them as text. */
export const comparedFactsOf = (row: FactsRow): Omit<FileFacts, "device"> => ({
  bytes: BigInt(row.bytes),
  mtimeNs: BigInt(row.mtime_ns),
  ctimeNs: BigInt(row.ctime_ns),
  inode: BigInt(row.inode),
});

/** Path and size of the file that a document, of a table of this name, is or lies in. */
export const fileOfDocument = (document: string): string =>
  `coalesce(${document}.mail, ${document}.path) as file,
   coalesce((select held.bytes from nightdesk_data.documents held
              where held.source = ${document}.source and held.path = ${document}.mail), ${document}.bytes)::text as bytes`;

/** The documents of a source by their path. */
export async function loadDocumentFacts(
  db: Queryable,
  source: string,
): Promise<Map<string, IndexedDocument>> {
  // Text, so that every driver gives the same and no nanosecond is lost in a double.
  const rows = await rowsOf(db, rowSchema, [source])`
     select doc_id::text, path, sha256, chunk_settings, extractor, language, bytes::text, mtime_ns::text, ctime_ns::text,
            inode::text, device::text, settled, mail, attachments,
            (select case when c.extractor is null then 'bytes' else 'text' end
               from nightdesk_data.contents c where c.sha256 = d.sha256) as kept
       from nightdesk_data.documents d where source = $1`;
  return new Map(rows.map((row) => [row.path, toDocument(row)]));
}

const attachmentsSchema = z.object({ path: z.string(), mail: z.string() });

/** An attachment, and the file of the mail or mailbox that holds it. */
export type IndexedAttachment = z.infer<typeof attachmentsSchema>;

/**
 * The attachments that the index has, in order of path.
 * @param names of them those of one of these names; all of them without it
 */
export const selectAttachments = (
  db: Queryable,
  names?: readonly string[],
): Promise<readonly IndexedAttachment[]> =>
  rowsOf(db, attachmentsSchema, [names ?? null])`
     select distinct path, mail from nightdesk_data.documents
      where mail is not null and ($1::text[] is null or substring(path from '[^/]*$') = any ($1::text[]))
      order by path`;

/**
 * Of files of mails those that the index has, and what it has of their attachments.
 * @returns for each mail that is indexed the paths in it, in order
 */
export async function selectAttachmentsOf(
  db: Queryable,
  mails: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await rowsOf(db, heldSchema, [mails])`
     select mail, array_agg(path order by path) as paths
       from (select distinct coalesce(mail, path) as mail, path from nightdesk_data.documents
              where path = any ($1::text[]) or mail = any ($1::text[])) held
      group by mail`;
  return new Map(rows.map(({ mail, paths }) => [mail, paths.filter((path) => path !== mail)]));
}

const heldSchema = z.object({ mail: z.string(), paths: z.array(z.string()) });

const toDocument = (row: z.infer<typeof rowSchema>): IndexedDocument => ({
  docId: row.doc_id,
  path: row.path,
  sha256: row.sha256,
  chunkSettings: row.chunk_settings,
  extractor: row.extractor,
  language: row.language,
  facts: { ...comparedFactsOf(row), device: BigInt(row.device) },
  settled: row.settled,
  mail: row.mail,
  attachments: row.attachments,
  kept: row.kept,
});

/** Stores new facts of documents whose content did not change. */
export async function touchDocuments(
  db: Queryable,
  touched: readonly Pick<IndexedDocument, "docId" | "facts" | "settled">[],
): Promise<void> {
  const column = (key: keyof FileFacts) => touched.map(({ facts }) => String(facts[key]));
  await execute(db, [
    touched.map(({ docId }) => docId),
    column("mtimeNs"),
    column("ctimeNs"),
    column("inode"),
    column("device"),
    touched.map(({ settled }) => settled),
  ])`
     update nightdesk_data.documents d
        set mtime_ns = t.mtime_ns, ctime_ns = t.ctime_ns, inode = t.inode, device = t.device, settled = t.settled,
            scanned_at = now()
       from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::boolean[])
            as t (doc_id, mtime_ns, ctime_ns, inode, device, settled)
      where d.doc_id = t.doc_id`;
}
