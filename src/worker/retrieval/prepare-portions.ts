import { posix } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { DocumentFailure } from "../../shared/db/index/document-failures.ts";
import type { IndexedDocument } from "../../shared/db/index/document-facts.ts";
import type { PortionToWrite } from "../../shared/db/index/write-documents.ts";
import type { ChunkSettings } from "./chunk/chunk-text.ts";
import type { IndexSource } from "./bind-sources.ts";
import type { ListedFile } from "./list-files.ts";
import { storablePath } from "./long-path.ts";
import { prepareDocument } from "./prepare-document.ts";
import { readDocument } from "./read-document.ts";

/** What is stored in one transaction. */
export type Portion = PortionToWrite & {
  /** How many files it came from. */
  readonly files: number;
  /** Documents whose file was written again with the same content. */
  readonly touched: readonly Pick<IndexedDocument, "docId" | "facts" | "settled">[];
  /** Files that can't be indexed, and what was indexed of them before. */
  readonly failures: readonly DocumentFailure[];
  readonly lost: readonly IndexedDocument[];
  /** What was indexed before of the documents. */
  readonly replaced: readonly IndexedDocument[];
};

export type FilesToPrepare = {
  readonly source: IndexSource;
  readonly chunkSettings: string;
  readonly rebuild: boolean;
  readonly files: readonly ListedFile[];
  readonly known: ReadonlyMap<string, IndexedDocument>;
};

/** Large enough that a transaction's cost vanishes, small enough that a few of them are held in memory. */
const PORTION_BYTES = 1_000_000;
const PORTION_FILES = 250;

/** How long this thread may be busy before timers and sockets have their turn. */
const TURN_MS = 8;

/** Reads and cuts files, and gives them in portions. */
export async function* preparePortions(
  scan: FilesToPrepare,
  settings: ChunkSettings,
): AsyncGenerator<Portion> {
  let draft = emptyDraft();
  let turnStartedAt = performance.now();
  for (const file of scan.files) {
    await addFile(draft, file, scan, settings);
    if (draft.bytes >= PORTION_BYTES || draft.files >= PORTION_FILES) {
      yield toPortion(draft, scan);
      draft = emptyDraft();
    }
    if (performance.now() - turnStartedAt > TURN_MS) {
      await setImmediate();
      turnStartedAt = performance.now();
    }
  }
  if (draft.files > 0) yield toPortion(draft, scan);
}

type Draft = ReturnType<typeof emptyDraft>;

const emptyDraft = () => ({
  bytes: 0,
  files: 0,
  replaced: [] as IndexedDocument[],
  documents: [] as PortionToWrite["documents"][number][],
  touched: [] as Portion["touched"][number][],
  failures: [] as DocumentFailure[],
  lost: [] as IndexedDocument[],
});

async function addFile(
  draft: Draft,
  file: ListedFile,
  scan: FilesToPrepare,
  settings: ChunkSettings,
): Promise<void> {
  const path = posix.join(scan.source.label, file.relativePath);
  const known = scan.known.get(path);
  const read = await readDocument(scan.source, file);
  draft.files += 1;
  if (read.kind === "refused") {
    draft.failures.push({ path: storablePath(path), code: read.code, message: read.message });
    if (known !== undefined) draft.lost.push(known);
    return;
  }
  draft.bytes += read.bytes.length;
  if (known !== undefined && isSame(known, read.sha256, scan)) {
    draft.touched.push({ docId: known.docId, facts: read.facts, settled: read.settled });
    return;
  }
  draft.documents.push(prepareDocument(read, settings));
  if (known !== undefined) draft.replaced.push(known);
}

const isSame = (known: IndexedDocument, sha256: string, scan: FilesToPrepare): boolean =>
  !scan.rebuild && known.sha256 === sha256 && known.chunkSettings === scan.chunkSettings;

const toPortion = (draft: Draft, { source, chunkSettings, rebuild }: FilesToPrepare): Portion => ({
  source: source.name,
  chunkSettings,
  replace: rebuild ? "all" : "changed",
  files: draft.files,
  replaced: draft.replaced,
  documents: draft.documents,
  touched: draft.touched,
  failures: draft.failures,
  lost: draft.lost,
});
