import { posix } from "node:path";
import {
  keepFailures,
  loadDocumentFacts,
  recordFailures,
} from "../../shared/store/index/documents.ts";
import type { IndexedDocument } from "../../shared/store/index/documents.ts";
import { removeDocuments } from "../../shared/store/index/write-documents.ts";
import type { Vocabulary } from "../../shared/store/index/vocabulary.ts";
import type { Language } from "../../shared/language.ts";
import { chunkSettingsFingerprint } from "./chunk-settings.ts";
import type { IndexSource } from "./bind-sources.ts";
import type { IndexDeps, IndexOptions } from "./index-sources.ts";
import { addTally, type Progress, type Tally } from "./index-tally.ts";
import { limitInFlight } from "./limit-in-flight.ts";
import { type ListedFile, listFiles, type Listing } from "./list-files.ts";
import { preparePortions } from "./prepare-portions.ts";
import { reportMissingRoot } from "./report-missing-root.ts";
import { mayHaveChanged } from "./may-have-changed.ts";
import { storePortion } from "./store-portion.ts";

/** Two connections keep two cores busy: one portion is parsed by Postgres while the next is read and cut here. */
const PORTIONS_IN_FLIGHT = 2;

export type ScanOptions = IndexOptions & {
  readonly progress: Progress;
  /** One for all sources. */
  readonly vocabulary: (language: Language) => Vocabulary;
  /** Gathers paths. */
  readonly silentlyChanged: string[];
  /** Adds up files that are left out for their extension. */
  readonly skipped: Map<string, number>;
};

/** Brings the documents of one source in step with its files, and adds to the progress it was given. */
export async function scanSource(
  deps: IndexDeps,
  source: IndexSource,
  options: ScanOptions,
): Promise<Progress> {
  const known = await loadDocumentFacts(deps.db, source.name);
  const listing = await listFiles(source, new Set(source.extensions ?? deps.extensions));
  for (const [extension, count] of listing.kind === "listed" ? listing.skipped : []) {
    options.skipped.set(extension, (options.skipped.get(extension) ?? 0) + count);
  }
  if (isEmpty(listing) && options.pruneOfEmptyRoot === "never") {
    const failed = await reportMissingRoot(deps.db, source, { kind: listing.kind, known });
    return { ...options.progress, tally: addTally(options.progress.tally, { failed }) };
  }
  const { files, unreadable, failures } = listing.kind === "listed" ? listing : NOTHING;
  const track = trackProgress(options, files.length);
  const { failing, unread } = await indexFiles(deps, source, { ...options, known, files, track });
  const gone = goneDocuments(known, { source, files, unreadable });
  const removed = gone.length === 0 ? 0 : await removeDocuments(deps.db, gone);
  if (failures.length > 0) await recordFailures(deps.db, source.name, failures);
  const kept = new Set([...failing, ...unread, ...failures.map(({ path }) => path)]);
  const failed = await keepFailures(deps.db, source.name, (path) => kept.has(path));
  // Those of files that were not read again count as well, and names that decode alike once.
  return track({ removed, failed: failed - failing.length }, 0);
}

const NOTHING = { files: [], unreadable: [], failures: [] } as const;

/** A folder that nothing is mounted on is empty; one whose files are all ignored, or may be, is not. */
const isEmpty = (listing: Listing): boolean =>
  listing.kind === "missing" ||
  listing.files.length + listing.ignored + listing.failures.length === 0;

type Track = (more: Partial<Tally>, documents: number) => Progress;

function trackProgress(
  { progress, onProgress }: IndexOptions & { readonly progress: Progress },
  files: number,
): Track {
  let current: Progress = {
    ...progress,
    documentsTotal: progress.documentsTotal + files,
    tally: addTally(progress.tally, { documents_seen: files }),
  };
  return (more, documents) => {
    current = {
      ...current,
      documentsDone: current.documentsDone + documents,
      tally: addTally(current.tally, more),
    };
    onProgress(current);
    return current;
  };
}

type Files = ScanOptions & {
  readonly known: ReadonlyMap<string, IndexedDocument>;
  readonly files: readonly ListedFile[];
  readonly track: Track;
};

type Indexed = {
  /** Paths that something is wrong with. */
  readonly failing: readonly string[];
  /** Paths that were not read, because they are current. */
  readonly unread: readonly string[];
};

/** Indexes what may have changed. */
async function indexFiles(deps: IndexDeps, source: IndexSource, scan: Files): Promise<Indexed> {
  const chunkSettings = chunkSettingsFingerprint(deps.chunking, source.language);
  const isStale = (file: ListedFile) =>
    scan.rebuild ||
    scan.verify === true ||
    mayHaveChanged(
      file,
      scan.known.get(posix.join(source.label, file.relativePath)),
      chunkSettings,
    );
  const stale: ListedFile[] = [];
  const unread: string[] = [];
  for (const file of scan.files) {
    if (isStale(file)) stale.push(file);
    else unread.push(posix.join(source.label, file.relativePath));
  }
  scan.track({ unchanged: unread.length }, unread.length);

  const failing: string[] = [];
  const writes = limitInFlight(PORTIONS_IN_FLIGHT);
  const { chunking } = deps;
  const portions = preparePortions({ ...scan, files: stale, source, chunking, chunkSettings });
  for await (const portion of portions) {
    scan.signal.throwIfAborted();
    await writes.start(async () => {
      const stored = await storePortion(deps.db, portion);
      failing.push(...stored.failing);
      scan.silentlyChanged.push(...stored.silentlyChanged);
      scan.track(stored.tally, portion.files);
    });
  }
  await writes.finish();
  return { failing, unread };
}

/** Documents without a file; where a folder could not be listed nothing is known to be gone. */
function goneDocuments(
  known: ReadonlyMap<string, IndexedDocument>,
  {
    source,
    files,
    unreadable,
  }: {
    readonly source: IndexSource;
    readonly files: readonly ListedFile[];
    readonly unreadable: readonly string[];
  },
): IndexedDocument[] {
  const present = new Set(files.map(({ relativePath }) => posix.join(source.label, relativePath)));
  const hidden = unreadable.map((folder) => `${posix.join(source.label, folder)}/`);
  return [...known.values()].filter(
    ({ path }) => !present.has(path) && !hidden.some((folder) => path.startsWith(folder)),
  );
}
