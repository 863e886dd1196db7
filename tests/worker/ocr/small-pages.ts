import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openPageReader } from "../../../src/worker/ocr/page-reader.ts";
import type { PageReader, PageReaderOptions } from "../../../src/worker/ocr/page-reader.ts";
import { pageLines } from "../../../src/worker/ocr/page-lines.ts";
import type { FigureReading, PageRecord } from "../../../src/shared/pages/page-record.ts";
import type { PageRequest } from "../../../src/worker/ocr/page-outcome.ts";
import { withoutDoubts } from "../../../src/worker/text/doubt-mark.ts";

const root = join(import.meta.dirname, "../../..");

export const FOLDERS = { packages: null, packageRoot: root, models: null };

export const openReader = (options: Omit<PageReaderOptions, "folders"> = {}): PageReader =>
  openPageReader({ folders: FOLDERS, ...options });

export const pageFile = (name: string): Buffer =>
  readFileSync(join(root, "tests/corpora/scans/small", name));

export async function recordOf(
  read: PageReader,
  name: string,
  request: Partial<PageRequest>,
): Promise<PageRecord> {
  const bytes = pageFile(name);
  const outcome = await read({ bytes, page: 1, languages: ["eng"], second: "fast", ...request });
  if (outcome.kind !== "read") throw new Error(outcome.why);
  return outcome.record;
}

/** Without the marks of doubtful figures, and blank lines. */
export const linesOf = (record: PageRecord): string[] =>
  pageLines(record)
    .filter((line) => line !== "")
    .map(withoutDoubts);

/** The words with a digit, by how sure they are. */
export const figuresOf = ({ lines }: PageRecord, sure: FigureReading): string[] =>
  lines.flatMap(({ words }) =>
    words.flatMap(({ text, figure }) => (figure === sure ? [text.replace(/[.,:;)]+$/, "")] : [])),
  );
