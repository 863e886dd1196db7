import { hash } from "node:crypto";
import type { Config } from "../../shared/config/schema.ts";
import type { Queryable } from "../../shared/store/connection/database.ts";
import { selectOcrPages } from "../../shared/store/index/ocr-pages.ts";
import type { PageRecord } from "./page-record.ts";
import type { ReadPages } from "./with-read-pages.ts";

type OcrSettings = NonNullable<Config["index"]["ocr"]>;

/** What is on record of pictures. */
export function openReadPages(ocr: OcrSettings, db: Queryable): ReadPages {
  const settings = fingerprintOf(ocr);
  return {
    settings,
    async of(sha256) {
      const pages = await selectOcrPages(db, sha256, settings);
      return new Map(
        pages.map(({ page, record, unreadable }) => [
          page,
          unreadable === null
            ? ({ kind: "read", record: record as PageRecord } as const)
            : ({ kind: "unreadable", why: unreadable } as const),
        ]),
      );
    },
  };
}

/** Of what decides how words are read: with another one, pages are read again. Null where none are read. */
export const ocrFingerprint = (ocr: OcrSettings | null): string | null =>
  ocr === null ? null : fingerprintOf(ocr);

const fingerprintOf = ({ languages, second, models_directory }: OcrSettings): string =>
  hash("sha256", JSON.stringify([languages, second, models_directory]), "hex").slice(0, 8);
