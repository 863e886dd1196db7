import { hash } from "node:crypto";
import type { Config } from "../../shared/config/schema.ts";
import type { Queryable } from "../../shared/store/connection/database.ts";
import { selectOcrPages } from "../../shared/store/index/ocr-pages.ts";
import type { PageRecord } from "./page-record.ts";
import type { ReadPages } from "./with-read-pages.ts";

type OcrSettings = Config["index"]["ocr"];

/** What is on record of pictures; undefined where none are read. */
export function openReadPages(ocr: OcrSettings, db: Queryable): ReadPages | undefined {
  const settings = ocrFingerprint(ocr);
  if (settings === null) return undefined;
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

/** Of what decides how words are read: with another one, pages are read again. */
export const ocrFingerprint = (ocr: OcrSettings): string | null =>
  ocr === null
    ? null
    : hash(
        "sha256",
        JSON.stringify([ocr.languages, ocr.second, ocr.models_directory]),
        "hex",
      ).slice(0, 8);
