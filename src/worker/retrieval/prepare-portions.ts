import { posix } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { DocumentFailure } from "../../shared/db/index/document-failures.ts";
import type { IndexedDocument } from "../../shared/db/index/document-facts.ts";
import type { PortionToWrite } from "../../shared/db/index/write-documents.ts";
import type { Vocabulary } from "../../shared/db/index/vocabulary.ts";
import type { Language } from "../../shared/language.ts";
import type { ChunkSettings } from "./chunk/chunk-text.ts";
import type { IndexSource } from "./bind-sources.ts";
import type { ListedFile } from "./list-files.ts";
import { storablePath } from "./long-path.ts";
import { hasSameFacts } from "./may-have-changed.ts";
import { prepareDocument, type ReadDocument } from "./prepare-document.ts";
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
  /** Files that are current by their content and by their facts. */
  readonly verified: number;
  /** Paths of files whose content is another, though no fact of them is. */
  readonly silentlyChanged: readonly string[];
};

export type FilesToPrepare = {
  readonly source: IndexSource;
  readonly chunking: ChunkSettings;
  /** Their fingerprint. */
  readonly chunkSettings: string;
  readonly vocabulary: (language: Language) => Vocabulary;
  /** Writes documents anew that are current as well. */
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
export async function* preparePortions(scan: FilesToPrepare): AsyncGenerator<Portion> {
  let draft = emptyDraft(scan);
  let turnStartedAt = performance.now();
  for (const file of scan.files) {
    await addFile(draft, file, scan);
    if (draft.bytes >= PORTION_BYTES || draft.files >= PORTION_FILES) {
      yield toPortion(draft, scan);
      draft = emptyDraft(scan);
    }
    if (performance.now() - turnStartedAt > TURN_MS) {
      await setImmediate();
      turnStartedAt = performance.now();
    }
  }
  if (draft.files > 0) yield toPortion(draft, scan);
}

type Draft = ReturnType<typeof emptyDraft>;

const emptyDraft = ({ vocabulary, source }: FilesToPrepare) => ({
  vocabulary: vocabulary(source.language),
  bytes: 0,
  files: 0,
  replaced: [] as IndexedDocument[],
  documents: [] as PortionToWrite["documents"][number][],
  touched: [] as Portion["touched"][number][],
  failures: [] as DocumentFailure[],
  lost: [] as IndexedDocument[],
  verified: 0,
  silentlyChanged: [] as string[],
});

async function addFile(draft: Draft, file: ListedFile, scan: FilesToPrepare): Promise<void> {
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
    if (known.settled && hasSameFacts(read.facts, known)) draft.verified += 1;
    else draft.touched.push({ docId: known.docId, facts: read.facts, settled: read.settled });
    return;
  }
  const { danger, ...prepared } = prepareDocument(read, scan.chunking, draft.vocabulary);
  if (danger !== null) draft.failures.push(refuseFrontmatter(path, danger));
  draft.documents.push({ ...prepared, replace: replaceOf(known, scan) });
  if (known === undefined) return;
  draft.replaced.push(known);
  if (isSilentlyChanged(known, read)) draft.silentlyChanged.push(path);
}

const refuseFrontmatter = (path: string, danger: string): DocumentFailure => ({
  path,
  code: "FILE_READ_ERROR",
  message: `The frontmatter of "${path}" ${danger}: it is indexed as text and gives no metadata. Write it plainly.`,
});

/** The words of a chunk that stays the same may be others by other settings. */
const replaceOf = (known: IndexedDocument | undefined, scan: FilesToPrepare) =>
  scan.rebuild || (known !== undefined && known.chunkSettings !== scan.chunkSettings)
    ? "all"
    : "changed";

const isSilentlyChanged = (known: IndexedDocument, { facts, sha256 }: ReadDocument): boolean =>
  known.settled && hasSameFacts(facts, known) && known.sha256 !== sha256;

const isSame = (known: IndexedDocument, sha256: string, scan: FilesToPrepare): boolean =>
  !scan.rebuild && known.sha256 === sha256 && known.chunkSettings === scan.chunkSettings;

const toPortion = (draft: Draft, { source, chunkSettings }: FilesToPrepare): Portion => ({
  source: source.name,
  language: source.language,
  chunkSettings,
  files: draft.files,
  replaced: draft.replaced,
  documents: draft.documents,
  vocabulary: draft.vocabulary,
  touched: draft.touched,
  failures: draft.failures,
  lost: draft.lost,
  verified: draft.verified,
  silentlyChanged: draft.silentlyChanged,
});
