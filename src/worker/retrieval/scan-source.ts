import { posix } from "node:path";
import { keepFailures } from "../../shared/db/index/document-failures.ts";
import { type IndexedDocument, loadDocumentFacts } from "../../shared/db/index/document-facts.ts";
import { removeDocuments } from "../../shared/db/index/remove-documents.ts";
import { chunkSettingsFingerprint } from "./chunk-settings.ts";
import type { IndexSource } from "./bind-sources.ts";
import type { IndexDeps, IndexOptions } from "./index-sources.ts";
import { addTally, type Progress, type Tally } from "./index-tally.ts";
import { limitInFlight } from "./limit-in-flight.ts";
import { type ListedFile, listFiles } from "./list-files.ts";
import { preparePortions } from "./prepare-portions.ts";
import { reportMissingRoot } from "./report-missing-root.ts";
import { mayHaveChanged } from "./may-have-changed.ts";
import { storePortion } from "./store-portion.ts";

/** Two connections keep two cores busy: one portion is parsed by Postgres while the next is read and cut here. */
const PORTIONS_IN_FLIGHT = 2;

/** Brings the documents of one source in step with its files, and adds to the progress it was given. */
export async function scanSource(
  deps: IndexDeps,
  source: IndexSource,
  options: IndexOptions & { readonly progress: Progress },
): Promise<Progress> {
  const known = await loadDocumentFacts(deps.db, source.name);
  const listing = await listFiles(source.folder, new Set(deps.extensions));
  const files = listing.kind === "listed" ? listing.files : [];
  if (files.length === 0 && options.pruneOfEmptyRoot === "never") {
    const failed = await reportMissingRoot(deps.db, source, { kind: listing.kind, known });
    return { ...options.progress, tally: addTally(options.progress.tally, { failed }) };
  }
  const track = trackProgress(options, files.length);
  const failing = await indexFiles(deps, source, { ...options, known, files, track });
  const unreadable = listing.kind === "listed" ? listing.unreadable : [];
  const gone = goneDocuments(known, { source, files, unreadable });
  const removed = gone.length === 0 ? 0 : await removeDocuments(deps.db, gone);
  await keepFailures(deps.db, source.name, failing);
  return track({ removed }, 0);
}

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

type Files = IndexOptions & {
  readonly known: ReadonlyMap<string, IndexedDocument>;
  readonly files: readonly ListedFile[];
  readonly track: Track;
};

/** Indexes what may have changed. @returns the paths that can't be indexed */
async function indexFiles(deps: IndexDeps, source: IndexSource, scan: Files): Promise<string[]> {
  const chunkSettings = chunkSettingsFingerprint(deps.chunking);
  const isStale = (file: ListedFile) =>
    scan.rebuild ||
    mayHaveChanged(
      file,
      scan.known.get(posix.join(source.label, file.relativePath)),
      chunkSettings,
    );
  const stale = scan.files.filter(isStale);
  const unchanged = scan.files.length - stale.length;
  scan.track({ unchanged }, unchanged);

  const failing: string[] = [];
  const writes = limitInFlight(PORTIONS_IN_FLIGHT);
  const portions = preparePortions({ ...scan, files: stale, source, chunkSettings }, deps.chunking);
  for await (const portion of portions) {
    scan.signal.throwIfAborted();
    await writes.start(async () => {
      const stored = await storePortion(deps.db, portion);
      failing.push(...stored.failing);
      scan.track(stored.tally, portion.files);
    });
  }
  await writes.finish();
  return failing;
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
