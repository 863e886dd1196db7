import { compactPostings } from "../../shared/db/index/compact-postings.ts";
import { removeForeignDocuments } from "../../shared/db/index/remove-documents.ts";
import { countIndex } from "../../shared/db/index/index-totals.ts";
import type { Database } from "../../shared/db/database.ts";
import { Failure } from "../../shared/failure.ts";
import type { ChunkSettings } from "./chunk/chunk-text.ts";
import type { IndexSource } from "./bind-sources.ts";
import { addTally, noProgress, type Progress, type Tally } from "./index-tally.ts";
import { scanSource } from "./scan-source.ts";

export type IndexDeps = {
  readonly db: Database;
  readonly sources: readonly IndexSource[];
  /** Lower case, with the dot. */
  readonly extensions: readonly string[];
  readonly chunking: ChunkSettings;
};

export type IndexOptions = {
  /** The name of one source; all of them without it. */
  readonly source?: string;
  /**
   * Reads and writes every document anew; their vectors are lost. Of all sources at once it also removes the
   * documents of sources that left the configuration.
   */
  readonly rebuild: boolean;
  /** `never` keeps documents of a root that is missing or empty, since it may only not be mounted. */
  readonly pruneOfEmptyRoot: "never" | "allowed";
  readonly signal: AbortSignal;
  /** Called after every portion. */
  readonly onProgress: (progress: Progress) => void;
};

/** Counts of documents; `chunks_written` counts those of added and changed documents. */
export type IndexSummary = Tally & {
  readonly documents_total: number;
  /** Of sources that are not configured any more: a rebuild of all sources removes them. */
  readonly foreign_documents: number;
  readonly chunks_total: number;
  readonly duration_ms: number;
};

/**
 * Brings the index in step with the files of the sources. What is finished stays when it is interrupted.
 * @throws Failure NOT_FOUND for an unknown source; the signal's reason between two portions
 */
export async function indexSources(deps: IndexDeps, options: IndexOptions): Promise<IndexSummary> {
  const startedAt = performance.now();
  const sources = chooseSources(deps.sources, options.source);
  let progress = noProgress();
  for (const source of sources) {
    progress = await scanSource(deps, source, { ...options, progress });
  }
  const names = deps.sources.map(({ name }) => name);
  const isOfAll = options.rebuild && options.source === undefined;
  const removed = isOfAll ? await removeForeignDocuments(deps.db, names) : 0;
  await compactPostings(deps.db, options.signal);
  const totals = await countIndex(deps.db, names);
  return {
    ...addTally(progress.tally, { removed }),
    documents_total: totals.documents,
    foreign_documents: totals.foreign,
    chunks_total: totals.chunks,
    duration_ms: performance.now() - startedAt,
  };
}

function chooseSources(
  sources: readonly IndexSource[],
  name: string | undefined,
): readonly IndexSource[] {
  const chosen = name === undefined ? sources : sources.filter((source) => source.name === name);
  if (chosen.length > 0) return chosen;
  const known = sources.map((source) => source.name).join(", ");
  throw new Failure(
    "NOT_FOUND",
    `There is no source "${name ?? ""}". Configured under index.sources: ${known}.`,
  );
}
