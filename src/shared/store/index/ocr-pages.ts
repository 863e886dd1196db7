import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { execute, rowsOf, valueOf, valuesOf } from "../connection/rows.ts";

/** The text of a page, as JSON, or why it can't be read. */
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

/** The stored texts of a file's pages. @param settings hash of the models and settings that read them */
export const selectOcrPages = (
  db: Queryable,
  sha256: string,
  settings: string,
): Promise<readonly OcrPage[]> =>
  rowsOf(db, pageSchema, [sha256, settings])`
     select page, record, unreadable from nightdesk_data.ocr_pages where sha256 = $1 and settings = $2 order by page`;

/** Stores the text of a page; an earlier text by the same settings stays. */
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

/** Makes the next scan read unchanged files again, because texts of their pictures are new. */
export const rescanPath = (db: Queryable, path: string): Promise<void> =>
  execute(db, [path])`
     with failed as (
       update nightdesk_data.document_failures set settled = false where path = $1 and settled)
     update nightdesk_data.documents set settled = false where path = $1 and settled`;

/** Makes the next scan read all documents again that left out attached pictures, because pictures were not read then. */
export const rescanUnreadPictures = (db: Queryable): Promise<void> =>
  execute(db)`
     update nightdesk_data.documents set settled = false where left_out ? 'attached pictures' and settled`;

/**
 * Files with unread pictures, by path: those without any other text, those with some, those whose text lies over the pictures,
 * and those that were read with other settings. Excludes files that have an unfinished ocr job.
 * @param readWith text before the settings in a document's extractor
 */
export const selectFilesWithPictures = (
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

/** The number of files that have no text until their pictures are read. */
export const countUnreadFiles = (db: Queryable, source: string | null): Promise<number> =>
  valueOf(db, z.coerce.number(), [source])`
     select count(*) from nightdesk_data.document_failures
      where error_code = 'PAGES_UNREAD' and ($1::text is null or source = $1)`;

/** Texts of pages without a document are kept for this many days, so that a moved file is not read again. */
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
