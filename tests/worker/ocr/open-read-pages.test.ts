import { expect, test } from "@jest/globals";
import type { Config } from "../../../src/shared/config/schema.ts";
import { ocrFingerprint } from "../../../src/worker/ocr/open-read-pages.ts";

type Ocr = NonNullable<Config["index"]["ocr"]>;

const OCR: Ocr = {
  ...{ languages: ["eng"], second: "fast", models_directory: null, confirm: null },
  ...{ page_timeout_s: 60, memory_mb: 600 },
};

test("pages are read again by other models, and not for other limits", () => {
  const others: readonly Partial<Ocr>[] = [
    { languages: ["eng", "deu"] },
    { second: "none" },
    { models_directory: "models" },
    { confirm: { host: "attic", model: "qwen2.5vl:7b" } },
    { confirm: { host: "attic", model: "gemma3:12b" } },
  ];
  const prints = others.map((other) => ocrFingerprint({ ...OCR, ...other }));
  expect(new Set([ocrFingerprint(OCR), ...prints]).size).toBe(others.length + 1);
  expect(ocrFingerprint({ ...OCR, page_timeout_s: 90, memory_mb: 900 })).toBe(ocrFingerprint(OCR));
  expect(ocrFingerprint(null)).toBeNull();
});
