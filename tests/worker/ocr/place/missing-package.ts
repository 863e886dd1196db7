import { loadPdfium } from "../../../../src/worker/ocr/place/pdfium.ts";

/** For the process of the parsers: jest resolves packages by itself. */
export const loadMissing = async (): Promise<{ readonly loaded: string }> => ({
  loaded: typeof (await loadPdfium("@hyzyla/pdfium-that-nobody-installed")),
});
