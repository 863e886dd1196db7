import { posix } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { DocumentFailure, IndexedDocument } from "../../shared/store/index/documents.ts";
import type { PortionToWrite } from "../../shared/store/index/write-documents.ts";
import type { Vocabulary } from "../../shared/store/index/vocabulary.ts";
import { FALLBACK_LANGUAGE, type Language } from "../../shared/language.ts";
import type { ChunkSettings } from "./chunk/chunk-text.ts";
import type { IndexSource } from "./bind-sources.ts";
import type { ListedFile } from "./list-files.ts";
import { storablePath } from "./long-path.ts";
import { hasSameFacts } from "./may-have-changed.ts";
import { prepareDocument, type ReadDocument } from "./prepare-document.ts";
import { readDocument } from "./read-document.ts";
import { detectLanguage } from "../text/detect-language.ts";

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

/**
 * Reads and cuts files, and gives them in portions. The documents of a language are gathered until they make one; what is
 * no document goes with those of the fallback.
 */
export async function* preparePortions(scan: FilesToPrepare): AsyncGenerator<Portion> {
  const drafts = new Map<Language, Draft>();
  let turnStartedAt = performance.now();
  for (const file of scan.files) {
    const draft = await addFile(drafts, file, scan);
    if (draft.bytes >= PORTION_BYTES || draft.files >= PORTION_FILES) {
      yield toPortion(draft, scan);
      drafts.delete(draft.language);
    }
    if (performance.now() - turnStartedAt > TURN_MS) {
      await setImmediate();
      turnStartedAt = performance.now();
    }
  }
  for (const draft of drafts.values()) yield toPortion(draft, scan);
}

type Draft = ReturnType<typeof emptyDraft>;
type Drafts = Map<Language, Draft>;

const emptyDraft = (language: Language, vocabulary: Vocabulary) => ({
  language,
  vocabulary,
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

/** @returns the draft that the file was added to */
async function addFile(drafts: Drafts, file: ListedFile, scan: FilesToPrepare): Promise<Draft> {
  const path = posix.join(scan.source.label, file.relativePath);
  const known = scan.known.get(path);
  const read = await readDocument(scan.source, file);
  const isCurrent =
    read.kind === "document" && known !== undefined && isSame(known, read.sha256, scan);
  const text = read.kind === "document" && !isCurrent ? read.text : "";
  const draft = draftFor(drafts, languageOf(text, scan), scan);
  draft.files += 1;
  if (read.kind === "refused") {
    draft.failures.push({ path: storablePath(path), code: read.code, message: read.message });
    if (known !== undefined) draft.lost.push(known);
    return draft;
  }
  draft.bytes += read.bytes.length;
  if (!isCurrent) addDocument(draft, { read, known }, scan);
  else if (known.settled && hasSameFacts(read.facts, known)) draft.verified += 1;
  else draft.touched.push({ docId: known.docId, facts: read.facts, settled: read.settled });
  return draft;
}

const languageOf = (text: string, { source: { language } }: FilesToPrepare): Language =>
  language === "auto" ? (detectLanguage(text) ?? FALLBACK_LANGUAGE) : language;

function draftFor(drafts: Drafts, language: Language, { vocabulary }: FilesToPrepare): Draft {
  const draft = drafts.get(language) ?? emptyDraft(language, vocabulary(language));
  drafts.set(language, draft);
  return draft;
}

type FoundDocument = { readonly read: ReadDocument; readonly known: IndexedDocument | undefined };

function addDocument(draft: Draft, { read, known }: FoundDocument, scan: FilesToPrepare): void {
  const { danger, ...prepared } = prepareDocument(read, scan.chunking, draft.vocabulary);
  if (danger !== null) draft.failures.push(refuseFrontmatter(read.path, danger));
  draft.documents.push({ ...prepared, replace: replaceOf(known, draft, scan) });
  if (known === undefined) return;
  draft.replaced.push(known);
  if (isSilentlyChanged(known, read)) draft.silentlyChanged.push(read.path);
}

const refuseFrontmatter = (path: string, danger: string): DocumentFailure => ({
  path,
  code: "FILE_READ_ERROR",
  message: `The frontmatter of "${path}" ${danger}: it is indexed as text and gives no metadata. Write it plainly.`,
});

/** The words of a chunk that stays the same may be others by other settings, and are others in another language. */
function replaceOf(
  known: IndexedDocument | undefined,
  { language }: Draft,
  { rebuild, chunkSettings }: FilesToPrepare,
): "all" | "changed" {
  const isAnother =
    known !== undefined && (known.chunkSettings !== chunkSettings || known.language !== language);
  return rebuild || isAnother ? "all" : "changed";
}

const isSilentlyChanged = (known: IndexedDocument, { facts, sha256 }: ReadDocument): boolean =>
  known.settled && hasSameFacts(facts, known) && known.sha256 !== sha256;

const isSame = (known: IndexedDocument, sha256: string, scan: FilesToPrepare): boolean =>
  !scan.rebuild && known.sha256 === sha256 && known.chunkSettings === scan.chunkSettings;

const toPortion = (draft: Draft, { source, chunkSettings }: FilesToPrepare): Portion => ({
  source: source.name,
  language: draft.language,
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
