import type { ExtractText, SourceEncoding } from "../../src/worker/documents/extraction.ts";
import { extractTextBy } from "../../src/worker/documents/formats/registry.ts";
import { openDocumentReader } from "../../src/worker/documents/reader/reader.ts";
import type { ReaderLimits } from "../../src/worker/documents/reader/reader.ts";

/** What a test gives to the reading of one file, where it wants no other limit. */
export const READER_LIMITS: ReaderLimits = {
  timeoutMs: 30_000,
  memoryBytes: 600_000_000,
  text: { chars: 10_000_000, pages: 5_000, entries: 1_500_000, unpackedBytes: 200_000_000 },
};

/** One process for all files of a test suite, which ends when nobody asks it any more. */
const read = openDocumentReader(READER_LIMITS);
export const extractText = extractTextBy(read);

/** With sources that name the encoding of their texts. */
export const extractTextIn = (encodings: readonly SourceEncoding[]): ExtractText =>
  extractTextBy(read, { encodings });
