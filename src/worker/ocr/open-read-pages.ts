import { hash } from "node:crypto";
import type { Config } from "../../shared/config/schema.ts";
import type { Queryable } from "../../shared/store/connection/database.ts";
import { selectOcrChoices } from "../../shared/store/index/ocr-choices.ts";
import { selectOcrPages } from "../../shared/store/index/ocr-pages.ts";
import { applyChoices } from "../../shared/pages/figures-of-page.ts";
import type { PageRecord } from "../../shared/pages/page-record.ts";
import type { ReadPages } from "./with-read-pages.ts";

type OcrSettings = NonNullable<Config["index"]["ocr"]>;

/** Opens the stored OCR results. */
export function openReadPages(ocr: OcrSettings, db: Queryable): ReadPages {
  const settings = fingerprintOf(ocr);
  return {
    settings,
    async of(sha256) {
      const pages = await selectOcrPages(db, sha256, settings);
      const choices = pages.length === 0 ? [] : await selectOcrChoices(db, sha256);
      const chosenOn = (page: number) => choices.filter((choice) => choice.page === page);
      return new Map(
        pages.map(({ page, record, unreadable }) => [
          page,
          unreadable === null
            ? ({
                kind: "read",
                record: applyChoices(record as PageRecord, chosenOn(page)),
              } as const)
            : ({ kind: "unreadable", why: unreadable } as const),
        ]),
      );
    },
  };
}

/** A fingerprint of the settings that affect OCR: if it changes, pages are read again. Null if OCR is off. */
export const ocrFingerprint = (ocr: OcrSettings | null): string | null =>
  ocr === null ? null : fingerprintOf(ocr);

const fingerprintOf = ({ languages, second, models_directory, confirm }: OcrSettings): string => {
  const confirming = confirm === null ? [] : [confirm.model];
  const parts = [languages, second, models_directory, ...confirming];
  return hash("sha256", JSON.stringify(parts), "hex").slice(0, 8);
};
