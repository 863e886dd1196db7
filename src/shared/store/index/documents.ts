import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { execute, rowsOf } from "../connection/rows.ts";

/** Facts that show without reading whether a file has changed since it was indexed. Times are nanoseconds since 1970. */
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
  /** Version of the extractor of its text. */
  readonly extractor: string;
  /** The language in which its words are indexed: one of `LANGUAGES`. */
  readonly language: string;
  /** For an attachment: its own bytes; the other facts are those of its mail's file. */
  readonly facts: FileFacts;
  /** Whether any later write changes the facts; false for a file that changed just before it was read. */
  readonly settled: boolean;
  /** What the database stores of its content; null for nothing. */
  readonly kept: "bytes" | "text" | null;
} & MailLink;

/** The link between an attachment and its mail. */
export type MailLink = {
  /** Path of the mail or mailbox file that contains it; null for a file. */
  readonly mail: string | null;
  /** The number of its attachments that are documents of their own. */
  readonly attachments: number;
};

/** Columns of a file's facts, except its device. */
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

/** Converts a row of text to a file's facts, except its device. */
export const comparedFactsOf = (row: FactsRow): Omit<FileFacts, "device"> => ({
  bytes: BigInt(row.bytes),
  mtimeNs: BigInt(row.mtime_ns),
  ctimeNs: BigInt(row.ctime_ns),
  inode: BigInt(row.inode),
});

/** SQL columns: path and size of the file that is, or contains, a document. @param document alias of the table */
export const fileOfDocument = (document: string): string =>
  `coalesce(${document}.mail, ${document}.path) as file,
   coalesce((select held.bytes from nightdesk_data.documents held
              where held.source = ${document}.source and held.path = ${document}.mail), ${document}.bytes)::text as bytes`;

/** Loads the documents of a source by their path. */
export async function loadDocumentFacts(
  db: Queryable,
  source: string,
): Promise<Map<string, IndexedDocument>> {
  // As text, so that no nanosecond is lost in a double, with any driver.
  const rows = await rowsOf(db, rowSchema, [source])`
     select doc_id::text, path, sha256, chunk_settings, extractor, language, bytes::text, mtime_ns::text, ctime_ns::text,
            inode::text, device::text, settled, mail, attachments,
            (select case when c.extractor is null then 'bytes' else 'text' end
               from nightdesk_data.contents c where c.sha256 = d.sha256) as kept
       from nightdesk_data.documents d where source = $1`;
  return new Map(rows.map((row) => [row.path, toDocument(row)]));
}

const attachmentsSchema = z.object({ path: z.string(), mail: z.string() });

/** An attachment, and the mail or mailbox file that contains it. */
export type IndexedAttachment = z.infer<typeof attachmentsSchema>;

/**
 * The indexed attachments, by path.
 * @param names only attachments with one of these names; without it, all
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
 * The indexed attachments of mail files.
 * @returns for each indexed mail its attachments' paths, in order
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
