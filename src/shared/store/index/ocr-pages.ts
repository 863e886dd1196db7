import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { execute, rowsOf, valueOf, valuesOf } from "../connection/rows.ts";

/** What was read of a page, as JSON, or why it can't be read. */
export type OcrPage = {
  readonly page: number;
  readonly record: unknown;
  readonly unreadable: string | null;
};

const pageSchema = z.object({
  page: z.int(),
  record: z.unknown(),
  unreadable: z.string().nullable(),
});

/** What was read of the pages of a file. @param settings fingerprint of what they are read with */
export const selectOcrPages = (
  db: Queryable,
  sha256: string,
  settings: string,
): Promise<readonly OcrPage[]> =>
  rowsOf(db, pageSchema, [sha256, settings])`
     select page, record, unreadable from nightdesk_data.ocr_pages where sha256 = $1 and settings = $2 order by page`;

/** Stores what was read of a page; what was read of it before by the same settings stays. */
export const insertOcrPage = (
  db: Queryable,
  { sha256, settings, jobId }: { sha256: string; settings: string; jobId: string },
  { page, record, unreadable }: OcrPage,
): Promise<void> =>
  execute(db, [
    sha256,
    page,
    settings,
    record === null ? null : JSON.stringify(record),
    unreadable,
    jobId,
  ])`
     insert into nightdesk_data.ocr_pages (sha256, page, settings, record, unreadable, job_id)
     values ($1, $2, $3, $4::jsonb, $5, $6)
     on conflict (sha256, page, settings) do nothing`;

/** Has files read again by the next scan, though they are as they were: more is known of their pictures. */
export const forgetFacts = (db: Queryable, path: string): Promise<void> =>
  execute(db, [path])`
     with failed as (
       update nightdesk_data.document_failures set settled = false where path = $1 and settled)
     update nightdesk_data.documents set settled = false where path = $1 and settled`;

/** The same of all whose attached pictures were left out, because none were read then. */
export const forgetUnread = (db: Queryable): Promise<void> =>
  execute(db)`
     update nightdesk_data.documents set settled = false where left_out ? 'attached pictures' and settled`;

/**
 * Files whose pictures were not read, in order: those that have no text without them, those that have some, those whose text lies on
 * them, and those that were read by other settings. No file that a job is at, or will be.
 * @param readWith what stands in the extractor of a document before these settings
 */
export const selectPictured = (
  db: Queryable,
  { settings, readWith, source }: { settings: string; readWith: string; source: string | null },
): Promise<readonly string[]> =>
  valuesOf(db, z.string(), [settings, readWith, source])`
     select path from (
       select path, source from nightdesk_data.document_failures where error_code = 'PAGES_UNREAD'
        union
       select path, source from nightdesk_data.documents
        where left_out ? 'pages that are pictures'
           or (position($2 in extractor) > 0 or metadata ? 'pages_over_pictures' and extractor like 'pdf%')
              and position($2 || $1 in extractor) = 0) pictured
      where ($3::text is null or source = $3)
        and not exists (select from nightdesk_data.jobs
                         where kind = 'ocr' and input->>'path' = pictured.path and finished_at is null)
      order by path`;

/** Files that have no text before their pictures are read. */
export const countUnreadFiles = (db: Queryable, source: string | null): Promise<number> =>
  valueOf(db, z.coerce.number(), [source])`
     select count(*) from nightdesk_data.document_failures
      where error_code = 'PAGES_UNREAD' and ($1::text is null or source = $1)`;

/** Pages of files that no document has any more are kept so long: a file that was moved is not read again. */
const KEPT_DAYS = 30;

export const pruneOcrPages = (db: Queryable): Promise<void> =>
  execute(db)`
     with forgotten as (
       delete from nightdesk_data.ocr_choices c
        where c.chosen_at < now() - make_interval(days => ${KEPT_DAYS})
          and not exists (select from nightdesk_data.documents where sha256 = c.sha256))
     delete from nightdesk_data.ocr_pages p
      where p.read_at < now() - make_interval(days => ${KEPT_DAYS})
        and not exists (select from nightdesk_data.documents where sha256 = p.sha256)`;
