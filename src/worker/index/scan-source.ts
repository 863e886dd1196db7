import { posix } from "node:path";
import type { Language } from "../../shared/text/language.ts";
import type { Database, Queryable } from "../../shared/store/connection/database.ts";
import { storeContents, sumContents } from "../../shared/store/index/contents.ts";
import {
  loadFailures,
  pruneFailures,
  recordFailures,
} from "../../shared/store/index/document-failures.ts";
import type { KnownFailure } from "../../shared/store/index/document-failures.ts";
import { loadDocumentFacts, touchDocuments } from "../../shared/store/index/documents.ts";
import type { IndexedDocument } from "../../shared/store/index/documents.ts";
import type { Vocabulary } from "../../shared/store/index/vocabulary.ts";
import { compactPostings } from "../../shared/store/index/compact-postings.ts";
import { selectDescriptions } from "../../shared/store/index/remote-files.ts";
import type { FileDescription } from "../../shared/store/index/remote-files.ts";
import { removeDocuments, writeDocuments } from "../../shared/store/index/write-documents.ts";
import type { DocumentToWrite } from "../../shared/store/index/write-documents.ts";
import type { ChunkSettings } from "../documents/chunk-text.ts";
import type { Offload } from "../offload/offload.ts";
import {
  attachmentsByMail,
  lacksContent,
  lastingFailuresByFile,
  mayHaveChanged,
} from "./known-documents.ts";
import type { Keep, LastingFailure } from "./known-documents.ts";
import { listFiles } from "./list-files.ts";
import type { ListedFile, Listing } from "./list-files.ts";
import { preparePortions } from "./prepare-portions.ts";
import type { Portion } from "./prepare-portions.ts";
import { chunkSettingsFingerprint } from "./sources.ts";
import type { IndexSource } from "./sources.ts";
import { isRefusedData, retryConflicts } from "./sql-error.ts";

/** Two connections keep two cores busy: Postgres parses one portion while this process reads and cuts the next. */
const PORTIONS_IN_FLIGHT = 2;

export type ScanOptions = IndexOptions & {
  readonly progress: Progress;
  /** Shared by all sources. */
  readonly vocabulary: (language: Language) => Vocabulary;
  /** Collects paths. */
  readonly silentlyChanged: string[];
  /** Counts, by extension, files that are left out because of it. */
  readonly skipped: Map<string, number>;
};

/** Updates the documents of one source from its files, and adds to the given progress. */
export async function scanSource(
  deps: IndexDeps,
  source: IndexSource,
  options: ScanOptions,
): Promise<Progress> {
  const known = await loadDocumentFacts(deps.db, source.name);
  const knownFailures = await loadFailures(deps.db, source.name);
  const listing = await listFiles(source, new Set(source.extensions ?? deps.extensions));
  const described = await selectDescriptions(deps.db, source.name);
  const descriptions = new Map(described.map((one) => [one.path, one]));
  if (options.only !== undefined) {
    return listing.kind === "missing"
      ? options.progress
      : scanSome(deps, source, {
          ...options,
          ...{ only: options.only, known, knownFailures, descriptions, listing },
        });
  }
  for (const [extension, count] of listing.kind === "listed" ? listing.skipped : []) {
    options.skipped.set(extension, (options.skipped.get(extension) ?? 0) + count);
  }
  if (isEmpty(listing) && options.pruneOfEmptyRoot === "never") {
    const failed = await reportMissingRoot(deps.db, source, { kind: listing.kind, known });
    return { ...options.progress, tally: addTally(options.progress.tally, { failed }) };
  }
  const { files, unreadable, failures } = listing.kind === "listed" ? listing : NOTHING;
  const scan = filesOf(files, { ...options, known, knownFailures, descriptions });
  const { track } = scan;
  const { failing, unread } = await indexFiles(deps, source, scan);
  const gone = goneDocuments(known, { source, files, unreadable });
  const removed = gone.length === 0 ? 0 : await removeDocuments(deps.db, gone);
  if (failures.length > 0) await recordFailures(deps.db, source.name, failures);
  const kept = new Set([...failing, ...failures.map(({ path }) => path)]);
  const current = new Set(unread);
  const failed = await pruneFailures(
    deps.db,
    source.name,
    (path) => kept.has(path) || isHeldBy(path, current),
  );
  const before = knownFailures.filter(({ path }) => isHeldBy(path, current)).length;
  // Failures of files that were not read again count as well; names that decode to the same path count once.
  return track({ removed, failed: failed - failing.length, failed_before: before }, 0);
}

type Known = {
  readonly known: ReadonlyMap<string, IndexedDocument>;
  readonly knownFailures: readonly KnownFailure[];
  /** For the files of a mirror, by path. */
  readonly descriptions: ReadonlyMap<string, FileDescription>;
};

const filesOf = (
  files: readonly ListedFile[],
  { known, knownFailures, ...options }: ScanOptions & Known,
): Files => ({
  ...options,
  known,
  attachments: attachmentsByMail(known),
  lasting: lastingFailuresByFile(knownFailures),
  failures: new Map(knownFailures.map((failure) => [failure.path, failure])),
  files,
  track: trackProgress(options, files.length),
});

type Some = ScanOptions &
  Known & {
    readonly only: ReadonlySet<string>;
    readonly listing: Extract<Listing, { readonly kind: "listed" }>;
  };

/** Indexes some files of a source, and removes no document. */
async function scanSome(deps: IndexDeps, source: IndexSource, some: Some): Promise<Progress> {
  const { listing, only, knownFailures, ...options } = some;
  const pathOf = ({ relativePath }: ListedFile) => posix.join(source.label, relativePath);
  const scan = filesOf(
    listing.files.filter((file) => only.has(pathOf(file))),
    { ...options, knownFailures },
  );
  const { failing } = await indexFiles(deps, source, scan);
  const bad = new Set(failing);
  await pruneFailures(deps.db, source.name, (path) => bad.has(path) || !isHeldBy(path, only));
  return scan.track({}, 0);
}

/** Whether a path is one of these files, or an attachment in one of them. */
function isHeldBy(path: string, files: ReadonlySet<string>): boolean {
  for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
    if (files.has(path.slice(0, end))) return true;
  }
  return false;
}

const NOTHING = { files: [], unreadable: [], failures: [] } as const;

/** An unmounted folder is empty. A folder whose files are all ignored, or could not be listed, does not count as empty. */
const isEmpty = (listing: Listing): boolean =>
  listing.kind === "missing" ||
  listing.files.length + listing.ignored + listing.failures.length === 0;

type Track = (more: Partial<Tally>, documents: number, format?: string) => Progress;

function trackProgress(
  { progress, onProgress }: IndexOptions & { readonly progress: Progress },
  files: number,
): Track {
  let current: Progress = {
    ...progress,
    documentsTotal: progress.documentsTotal + files,
    tally: addTally(progress.tally, { documents_seen: files }),
  };
  return (more, documents, format = current.format) => {
    current = {
      ...current,
      ...(format === undefined ? {} : { format }),
      documentsDone: current.documentsDone + documents,
      tally: addTally(current.tally, more),
    };
    onProgress(current);
    return current;
  };
}

type Files = ScanOptions & {
  readonly known: ReadonlyMap<string, IndexedDocument>;
  readonly attachments: ReadonlyMap<string, readonly IndexedDocument[]>;
  /** By the path of the file itself, or of the file that holds the attachment. */
  readonly lasting: ReadonlyMap<string, readonly LastingFailure[]>;
  /** All failures of the scan before, by path. */
  readonly failures: ReadonlyMap<string, KnownFailure>;
  readonly descriptions: ReadonlyMap<string, FileDescription>;
  readonly files: readonly ListedFile[];
  readonly track: Track;
};

type Indexed = {
  /** Paths with a failure. */
  readonly failing: readonly string[];
  /** Paths that were not read, because they are current. */
  readonly unread: readonly string[];
};

/** Postings are merged after this many portions: they take about 200 MB by then, and a quarter of that when merged. */
const MERGED_PORTIONS = 64;

/** Indexes what may have changed. */
async function indexFiles(deps: IndexDeps, source: IndexSource, scan: Files): Promise<Indexed> {
  const chunkSettings = chunkSettingsFingerprint(deps.chunking, source);
  const room = deps.keep === undefined ? -1 : deps.keep.quota - (await sumContents(deps.db));
  const keep = deps.keep?.keep ?? "none";
  const settings = { chunkSettings, reader: deps.reader, keep, room };
  const { stale, unread } = selectStale(source, scan, settings);
  scan.track(countUnread(scan, unread), unread.length);

  const failing: string[] = [];
  const writes = limitInFlight(PORTIONS_IN_FLIGHT);
  const { chunking, offload, reader } = deps;
  const quota = deps.keep?.quota ?? 0;
  const onFile = (path: string): void => {
    scan.track({}, 0, posix.extname(path).toLowerCase());
  };
  const files = { files: stale, source, chunking, chunkSettings, offload, reader, keep, onFile };
  const portions = preparePortions({ ...scan, ...files });
  let begun = 0;
  for await (const portion of portions) {
    scan.signal.throwIfAborted();
    begun += 1;
    // The next portions reuse the disk space that a merge frees.
    if (begun % MERGED_PORTIONS === 0)
      await writes.start(() => compactPostings(deps.db, scan.signal));
    await writes.start(async () => {
      const stored = await storePortion(deps.db, portion, quota);
      failing.push(...stored.failing);
      scan.silentlyChanged.push(...stored.silentlyChanged);
      scan.track(stored.tally, portion.files);
    });
  }
  await writes.finish();
  return { failing, unread };
}

/** Divides the files into those to read, and the paths of those that are current. */
function selectStale(
  { label }: IndexSource,
  { files, known, attachments, lasting, descriptions, rebuild, verify }: Files,
  settings: Parameters<typeof mayHaveChanged>[2] & Parameters<typeof lacksContent>[1],
): { readonly stale: readonly ListedFile[]; readonly unread: readonly string[] } {
  const stale: ListedFile[] = [];
  const unread: string[] = [];
  for (const file of files) {
    const path = posix.join(label, file.relativePath);
    const knownFile = {
      document: known.get(path),
      attachments: attachments.get(path) ?? [],
      failures: lasting.get(path) ?? [],
    };
    const isStale =
      rebuild ||
      verify === true ||
      descriptions.get(path)?.isNew === true ||
      mayHaveChanged(file, knownFile, settings);
    if (isStale || lacksContent(knownFile, settings)) stale.push(file);
    else unread.push(path);
  }
  return { stale, unread };
}

/** Counts files that are not read again, and their attachments, as if they had been read. */
function countUnread(
  { known, attachments, lasting }: Files,
  unread: readonly string[],
): Partial<Tally> {
  const documents = unread.filter((path) => known.has(path)).length;
  const sum = (count: (path: string) => number) =>
    unread.reduce((total, path) => total + count(path), 0);
  const held = sum((path) => attachments.get(path)?.length ?? 0);
  const failing = sum((file) => lasting.get(file)?.filter(({ path }) => path !== file).length ?? 0);
  return { unchanged: documents + held, documents_seen: held + failing };
}

/** Documents whose file is gone. Documents below a folder that could not be listed stay. */
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
  // Empty for the root of a source that is the whole work root.
  const hidden = unreadable.map((folder) => posix.join("/", source.label, folder, "/").slice(1));
  return [...known.values()].filter(
    ({ path, mail }) =>
      !present.has(mail ?? path) && !hidden.some((folder) => path.startsWith(folder)),
  );
}

/** Runs at most `limit` tasks at the same time. The next call after an error throws it. */
function limitInFlight(limit: number): {
  /** Resolves as soon as the task has started. */
  start(task: () => Promise<void>): Promise<void>;
  /** Resolves when every task has ended. */
  finish(): Promise<void>;
} {
  const running = new Set<Promise<void>>();
  const errors: unknown[] = [];
  const throwFirst = () => {
    if (errors.length > 0) throw errors[0];
  };
  return {
    async start(task) {
      while (running.size >= limit) await Promise.race(running);
      throwFirst();
      const ended: Promise<void> = task()
        .catch((error: unknown) => void errors.push(error))
        .finally(() => running.delete(ended));
      running.add(ended);
    },
    async finish() {
      await Promise.all(running);
      throwFirst();
    },
  };
}

type Root = {
  readonly kind: Listing["kind"];
  readonly known: ReadonlyMap<string, IndexedDocument>;
};

/**
 * Records a failure for a root without files, and keeps its documents, because it may just not be mounted. An empty root from
 * which nothing was indexed is no failure.
 * @returns how many failures were recorded
 */
async function reportMissingRoot(db: Queryable, source: IndexSource, root: Root): Promise<number> {
  const path = source.label === "" ? "." : source.label;
  if (root.kind === "listed" && root.known.size === 0) {
    await pruneFailures(db, source.name, () => false);
    return 0;
  }
  const message = formatRoot(source.name, path, root);
  await recordFailures(db, source.name, [{ path, code: "FILE_NOT_FOUND", message }]);
  await pruneFailures(db, source.name, (known) => known === path);
  return 1;
}

function formatRoot(source: string, path: string, { kind, known }: Root): string {
  const root = `The root "${path}" of source "${source}"`;
  if (known.size === 0) return `${root} is not there. Create or mount it.`;
  const state = kind === "missing" ? "can't be listed" : "holds no file to index";
  const documents = known.size === 1 ? "1 document" : `${known.size} documents`;
  return (
    `${root} ${state}; ${documents} of it stay in the index. Create or mount it, or run ` +
    `nightdesk index --source ${source} --prune-missing to remove them.`
  );
}

/** The changes of a portion, and the paths that can't be indexed, including those that the database refused. */
type StoredPortion = {
  readonly tally: Partial<Tally>;
  readonly failing: readonly string[];
  readonly silentlyChanged: readonly string[];
};

/**
 * Stores a portion in one transaction. Where the database refuses its data, stores the documents one by one, so that only the
 * refused document is a failure and the others are not lost.
 */
async function storePortion(db: Database, portion: Portion, quota: number): Promise<StoredPortion> {
  const store = storeIn(db, quota);
  const whole = await tryStore(store, portion);
  if (whole === "stored") return summarisePortion(portion);
  const refused: Refused[] = [];
  for (const document of portion.documents) {
    const outcome = await tryStore(store, {
      ...portion,
      ...NOTHING_ELSE,
      documents: [document],
      contents: portion.contents.filter(({ path }) => path === document.path),
    });
    if (outcome !== "stored") refused.push({ document, sqlState: outcome.sqlState });
  }
  const rest = withoutRefused(portion, refused);
  const written = new Set(portion.documents.map(({ path }) => path));
  const contents = portion.contents.filter(({ path }) => !written.has(path));
  await retryConflicts(() => store({ ...rest, documents: [], contents }));
  return summarisePortion(rest);
}

type Refused = { readonly document: DocumentToWrite; readonly sqlState: string };

const NOTHING_ELSE = { touched: [], lost: [], failures: [] } as const;

type Stored = Omit<Portion, "files" | "attachments" | "replaced" | "verified" | "silentlyChanged">;

type Store = (portion: Stored) => Promise<void>;

async function tryStore(
  store: Store,
  portion: Stored,
): Promise<"stored" | { readonly sqlState: string }> {
  try {
    await retryConflicts(() => store(portion));
    return "stored";
  } catch (error) {
    if (isRefusedData(error)) return { sqlState: error.code };
    throw error;
  }
}

const storeIn =
  (db: Database, quota: number): Store =>
  (portion) =>
    db.transaction(async (transaction) => {
      const { documents, touched, failures, lost, contents } = portion;
      if (documents.length > 0) await writeDocuments(transaction, portion);
      if (touched.length > 0) await touchDocuments(transaction, touched);
      if (lost.length > 0) await removeDocuments(transaction, lost);
      if (failures.length > 0) await recordFailures(transaction, portion.source, failures);
      // Last, because a transaction that stores content blocks all others that do until it commits.
      if (contents.length > 0)
        await storeContents(transaction, portion.source, { contents, quota });
    });

/** The message of the database may quote the document, so only its SQLSTATE is kept. */
function withoutRefused(portion: Portion, refused: readonly Refused[]): Portion {
  const paths = new Set(refused.map(({ document }) => document.path));
  const failures = refused.map(({ document: { path }, sqlState }) => ({
    path,
    code: "FILE_READ_ERROR",
    message:
      `"${path}" can't be stored: the database refuses it with SQLSTATE ${sqlState}. Leave the file out, or ` +
      "report this.",
  }));
  return {
    ...portion,
    documents: portion.documents.filter(({ path }) => !paths.has(path)),
    lost: [...portion.lost, ...portion.replaced.filter(({ path }) => paths.has(path))],
    replaced: portion.replaced.filter(({ path }) => !paths.has(path)),
    failures: [...portion.failures, ...failures],
  };
}

function summarisePortion(portion: Portion): StoredPortion {
  const { documents, touched, failures, lost, replaced, verified, silentlyChanged } = portion;
  return {
    tally: {
      documents_seen: portion.attachments,
      unchanged: touched.length + verified,
      added: documents.length - replaced.length,
      changed: replaced.length,
      removed: lost.length,
      failed: failures.length,
      chunks_written: documents.reduce((sum, { chunks }) => sum + chunks.count, 0),
      silently_changed: silentlyChanged.length,
    },
    failing: failures.map(({ path }) => path),
    silentlyChanged,
  };
}

/** Progress of a scan in documents, except `chunks_written`. */
export type Tally = {
  readonly documents_seen: number;
  readonly unchanged: number;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  /** All known failures. A file with dangerous frontmatter has one, and is still indexed as text. */
  readonly failed: number;
  /** Those of `failed` that are known from an earlier scan: their grounds still hold, so that nothing was read. */
  readonly failed_before: number;
  readonly chunks_written: number;
  /** Content changed with the same size, times and inode: a disk that loses bits, or a change that somebody hides. */
  readonly silently_changed: number;
};

export type Progress = {
  readonly documentsDone: number;
  /** The number of files in the sources listed so far. */
  readonly documentsTotal: number;
  /** Extension of the file that is being read. */
  readonly format?: string;
  readonly tally: Tally;
};

export const noProgress = (): Progress => ({
  documentsDone: 0,
  documentsTotal: 0,
  tally: {
    documents_seen: 0,
    unchanged: 0,
    added: 0,
    changed: 0,
    removed: 0,
    failed: 0,
    failed_before: 0,
    chunks_written: 0,
    silently_changed: 0,
  },
});

export function addTally(tally: Tally, more: Partial<Tally>): Tally {
  const sum: Record<keyof Tally, number> = { ...tally };
  let key: keyof Tally;
  for (key in more) sum[key] += more[key] ?? 0;
  return sum;
}
export type IndexDeps = {
  readonly db: Database;
  readonly sources: readonly IndexSource[];
  /** Extensions of files that may be read, lower case, with the dot. */
  readonly extensions: readonly string[];
  readonly chunking: ChunkSettings;
  /** Fingerprint of the extractors and of their limits. */
  readonly reader: string;
  /** Prepares long documents in a thread. */
  readonly offload: Offload;
  /** How much of each document is kept, and the limit for all in bytes; undefined keeps nothing. */
  readonly keep?: { readonly keep: Keep; readonly quota: number } | undefined;
};
export type IndexOptions = {
  /** The name of one source; without it all sources are indexed. */
  readonly source?: string;
  /** Paths of files: the others stay as they are. */
  readonly only?: ReadonlySet<string>;
  /** Reads and writes every document anew; their vectors are lost. */
  readonly rebuild: boolean;
  /** Reads every file, also with unchanged facts, and compares its hash; writes only what differs. */
  readonly verify?: boolean;
  /** Removes the documents of sources that are no longer configured. */
  readonly pruneForeign?: boolean;
  /** `never` keeps the documents of a missing or empty root, because it may just not be mounted. */
  readonly pruneOfEmptyRoot: "never" | "allowed";
  readonly signal: AbortSignal;
  /** Called for every file and after every portion. */
  readonly onProgress: (progress: Progress) => void;
};
