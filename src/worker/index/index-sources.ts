import { setFlagsFromString } from "node:v8";
import { Failure } from "../../shared/failure.ts";
import { skippedFilesOf, totalSkipped } from "../../shared/files/skipped-files.ts";
import type { SkippedFiles } from "../../shared/files/skipped-files.ts";
import { compactPostings } from "../../shared/store/index/compact-postings.ts";
import { pruneOcrPages } from "../../shared/store/index/ocr-pages.ts";
import { countIndex } from "../../shared/store/index/totals.ts";
import { createVocabularies } from "../../shared/store/index/vocabulary.ts";
import { removeForeignDocuments } from "../../shared/store/index/write-documents.ts";
import { addTally, noProgress, scanSource } from "./scan-source.ts";
import type { IndexDeps, IndexOptions, Progress, ScanOptions, Tally } from "./scan-source.ts";
import type { IndexSource } from "./sources.ts";

/** Counts of documents; `chunks_written` counts those of added and changed documents. */
export type IndexSummary = Tally & {
  readonly documents_total: number;
  /** Documents of sources that are no longer configured: `pruneForeign` removes them. */
  readonly foreign_documents: number;
  readonly chunks_total: number;
  /** Of the whole index: documents whose frontmatter is searched as text; the view `documents` says why. */
  readonly unread_frontmatter: number;
  /** Of the whole index: documents whose indexed text is not complete. */
  readonly incomplete_documents: number;
  /** Of the whole index: documents whose content was not kept because it would have exceeded documents.quota. */
  readonly not_kept?: { readonly code: "STORE_FULL"; readonly documents: number };
  /** The first paths of files that changed silently. */
  readonly silently_changed_paths: readonly string[];
  /** Files of the scanned sources that were left out because of their extension. */
  readonly skipped_files: number;
  readonly skipped_by_extension: SkippedFiles;
  readonly duration_ms: number;
};

/**
 * Updates the index from the files of the sources. Portions that were stored stay when the scan is interrupted.
 * @throws Failure NOT_FOUND for an unknown source; the signal's reason between two portions
 */
export async function indexSources(deps: IndexDeps, options: IndexOptions): Promise<IndexSummary> {
  const startedAt = performance.now();
  const sources = selectSources(deps, options.source);
  const silentlyChanged: string[] = [];
  const skipped = new Map<string, number>();
  const progress = await collectEarly(() =>
    scanSources(deps, sources, { ...options, silentlyChanged, skipped }),
  );
  const names = deps.sources.map(({ name }) => name);
  const removed = options.pruneForeign === true ? await removeForeignDocuments(deps.db, names) : 0;
  await compactPostings(deps.db, options.signal);
  if (options.only === undefined) await pruneOcrPages(deps.db);
  const totals = await countIndex(deps.db, names);
  return {
    ...addTally(progress.tally, { removed }),
    documents_total: totals.documents,
    foreign_documents: totals.foreign,
    chunks_total: totals.chunks,
    unread_frontmatter: totals.unreadFrontmatter,
    incomplete_documents: totals.incomplete,
    ...(totals.overQuota === 0 || deps.keep === undefined
      ? {}
      : { not_kept: { code: "STORE_FULL", documents: totals.overQuota } }),
    silently_changed_paths: silentlyChanged.slice(0, SHOWN_PATHS),
    skipped_files: totalSkipped(skippedFilesOf(skipped)),
    skipped_by_extension: skippedFilesOf(skipped),
    duration_ms: performance.now() - startedAt,
  };
}

const SHOWN_PATHS = 20;

async function scanSources(
  deps: IndexDeps,
  sources: readonly IndexSource[],
  options: Omit<ScanOptions, "progress" | "vocabulary">,
): Promise<Progress> {
  const vocabulary = createVocabularies();
  let progress = noProgress();
  for (const source of sources) {
    progress = await scanSource(deps, source, { ...options, progress, vocabulary });
  }
  return progress;
}

/** security.allowed_exts decides what may be read; a source can only restrict it. */
function checkExtensions({ name, extensions }: IndexSource, allowed: readonly string[]): void {
  const foreign = extensions?.find((extension) => !allowed.includes(extension));
  if (foreign === undefined) return;
  throw new Failure(
    "CONFIG_ERROR",
    `Source "${name}" asks for ${foreign} files, which may not be read: add ${foreign} to security.allowed_exts, ` +
      `or take it out of the source's exts.`,
  );
}

function selectSources(
  { sources, extensions }: IndexDeps,
  name: string | undefined,
): readonly IndexSource[] {
  const chosen = name === undefined ? sources : sources.filter((source) => source.name === name);
  for (const source of chosen) checkExtensions(source, extensions);
  if (chosen.length > 0) return chosen;
  const known = sources.map((source) => source.name).join(", ");
  throw new Failure(
    "NOT_FOUND",
    `There is no source "${name ?? ""}". Configured under index.sources: ${known}.`,
  );
}

const SETTING = "--heap-growing-percent";

/** Garbage in percent of the live heap. V8's own choice is up to three times the live heap. */
const MOST_GARBAGE = 100;

/**
 * Runs the body with a garbage collector that starts before there is more garbage than live heap. The live heap of a scan is
 * small and hardly grows with the number of files, but everything that it reads becomes garbage. Measured cold with 2,000 and
 * 20,000 files: with V8's own choice the process peaks at 249 and up to 340 MiB, with this one at 199 and up to 240, for 7 %
 * more processor time; 50 percent would save another 15 MiB for another 10 %.
 */
async function collectEarly<T>(body: () => Promise<T>): Promise<T> {
  setFlagsFromString(`${SETTING}=${MOST_GARBAGE}`);
  try {
    return await body();
  } finally {
    // 0 is V8's own choice. Another scan in this process continues with it, which does no harm.
    setFlagsFromString(`${SETTING}=0`);
  }
}
