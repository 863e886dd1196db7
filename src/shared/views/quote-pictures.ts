import { z } from "zod";
import type { Locator } from "../job/locator.ts";
import { figuresWithin, applyChoices } from "../pages/figures-of-page.ts";
import { findWords } from "../pages/find-words.ts";
import type { Box } from "../pages/find-words.ts";
import type { PageRecord } from "../pages/page-record.ts";
import { shownSize, textsIn, unturnBox } from "../pages/words-of-record.ts";
import type { Queryable } from "../store/connection/database.ts";
import { rowsOf } from "../store/connection/rows.ts";
import { selectOcrChoices } from "../store/index/ocr-choices.ts";
import type { QuotePicture } from "./doubtful-figures.ts";

type Piece = { readonly kind: string; readonly path: string; readonly sha256: string };

/** Words that support a statement or a value. */
type Quoted = {
  readonly path: string | null;
  readonly locator: Locator | null;
  readonly quote: string | null;
};

/**
 * The place of each quote on the picture that it was read from, in the order of the quotes; undefined if the quote comes
 * from a text, or if the picture does not contain it any more.
 */
export async function selectQuotePictures(
  db: Queryable,
  evidence: readonly Piece[],
  quoted: readonly Quoted[],
): Promise<readonly (QuotePicture | undefined)[]> {
  const hashes = new Map(
    evidence
      .filter(({ kind }) => kind === "file" || kind === "chunk")
      .map(({ path, sha256 }) => [path, sha256]),
  );
  const records = await selectRecords(db, [...new Set(hashes.values())]);
  return quoted.map(({ path, locator, quote }) => {
    const page = locator?.page ?? 1;
    const record = records.get(keyOf(hashes.get(path ?? "") ?? "", page));
    return record === undefined || quote === null ? undefined : pictureOf(record, page, quote);
  });
}

const rowSchema = z.object({
  sha256: z.string(),
  page: z.int(),
  record: z.custom<PageRecord>((record) => record !== null),
});

const keyOf = (sha256: string, page: number): string => `${sha256} ${page}`;

/** The latest OCR record of each page, with the readings that people chose. */
async function selectRecords(
  db: Queryable,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, PageRecord>> {
  const rows = await rowsOf(db, rowSchema, [hashes])`
     select distinct on (sha256, page) sha256, page, record from nightdesk_data.ocr_pages
      where sha256 = any ($1) and record is not null order by sha256, page, read_at desc`;
  const records = new Map<string, PageRecord>();
  for (const sha256 of new Set(rows.map((row) => row.sha256))) {
    const choices = await selectOcrChoices(db, sha256);
    for (const { page, record } of rows.filter((row) => row.sha256 === sha256)) {
      const chosen = choices.filter((choice) => choice.page === page);
      records.set(keyOf(sha256, page), applyChoices(record, chosen));
    }
  }
  return records;
}

function pictureOf(record: PageRecord, page: number, quote: string): QuotePicture | undefined {
  const texts = textsIn(record, record.picture, quote);
  const { boxes, times } = findWords(texts, { words: quote, before: "", after: "" });
  if (boxes.length === 0) return undefined;
  // A page of a PDF is drawn turned as OCR read it; a picture file is shown unturned.
  const isDrawn = record.picture.format === "pdf";
  const placed = (box: Box): QuotePicture["boxes"][number] =>
    isDrawn ? [...box] : unturnBox(box, record);
  return {
    ...{ page, ...shownSize(record) },
    ...{ dpi: record.picture.dpi ?? null, turned: isDrawn ? record.turned : 0, times },
    boxes: boxes.map(placed),
    figures: figuresWithin(record, boxes).map(({ confirmedBy, ...figure }) => ({
      ...{ ...figure, confirmed_by: confirmedBy, box: placed(figure.box) },
    })),
  };
}
