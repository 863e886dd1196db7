import { hash } from "node:crypto";
import { posix } from "node:path";
import { setImmediate } from "node:timers/promises";
import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import { FALLBACK_LANGUAGE } from "../../shared/language.ts";
import type { Language } from "../../shared/language.ts";
import type {
  DocumentFailure,
  FileFacts,
  IndexedDocument,
} from "../../shared/store/index/documents.ts";
import type { Vocabulary } from "../../shared/store/index/vocabulary.ts";
import { holdChunks } from "../../shared/store/index/write-documents.ts";
import type { DocumentToWrite, PortionToWrite } from "../../shared/store/index/write-documents.ts";
import type { ChunkSettings } from "../documents/chunk-text.ts";
import { isCurrentExtractor } from "../documents/formats/registry.ts";
import type { Frontmatter } from "../documents/frontmatter.ts";
import { PREPARE, unpackChunks } from "../documents/packed-document.ts";
import { prepareDocument } from "../documents/prepare-document.ts";
import type { ReadDocument } from "../documents/prepare-document.ts";
import { WorkTooLarge, WorkTooLong } from "../offload/offload.ts";
import type { Offload } from "../offload/offload.ts";
import { quotePath } from "../sandbox/names.ts";
import { detectLanguage } from "../text/detect-language.ts";
import { factsOf, hasInvalidUtf8 } from "./list-files.ts";
import type { ListedFile } from "./list-files.ts";
import { isTooLong, storablePath } from "./sources.ts";
import type { IndexSource } from "./sources.ts";

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

type FilesToPrepare = {
  readonly source: IndexSource;
  readonly chunking: ChunkSettings;
  /** Their fingerprint. */
  readonly chunkSettings: string;
  readonly vocabulary: (language: Language) => Vocabulary;
  /** Writes documents anew that are current as well. */
  readonly rebuild: boolean;
  readonly files: readonly ListedFile[];
  readonly known: ReadonlyMap<string, IndexedDocument>;
  /** Takes documents that are long. */
  readonly offload: Offload;
  readonly signal: AbortSignal;
};

/** Large enough that a transaction's cost vanishes, small enough that a few of them are held in memory. */
const PORTION_CHARS = 1_000_000;
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
    if (draft.chars >= PORTION_CHARS || draft.files >= PORTION_FILES) {
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
  chars: 0,
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
  const isCurrent = read.kind === "document" && known !== undefined && isSame(known, read, scan);
  const text = read.kind === "document" && !isCurrent ? read.text : "";
  const draft = draftFor(drafts, languageOf(text, scan), scan);
  draft.files += 1;
  if (read.kind === "refused") {
    draft.failures.push({ path: storablePath(path), code: read.code, message: read.message });
    if (known !== undefined) draft.lost.push(known);
    return draft;
  }
  draft.chars += read.text.length;
  if (!isCurrent) await addDocument(draft, { read, known }, scan);
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

async function addDocument(
  draft: Draft,
  { read, known }: FoundDocument,
  scan: FilesToPrepare,
): Promise<void> {
  const outcome = await prepare(read, draft, scan);
  if (outcome.kind === "failed") {
    draft.failures.push(outcome.failure);
    if (known !== undefined) draft.lost.push(known);
    return;
  }
  const { danger, ...prepared } = outcome.document;
  if (danger !== null) draft.failures.push(refuseFrontmatter(read.path, danger));
  draft.documents.push({ ...prepared, replace: replaceOf(known, draft, scan) });
  if (known === undefined) return;
  draft.replaced.push(known);
  if (isSilentlyChanged(known, read)) draft.silentlyChanged.push(read.path);
}

/** Twenty times what the worst 10 MB take on a busy machine. A worker gives a scan up that is silent for an hour. */
const LONGEST_PREPARING_MS = 30 * 60_000;

type Prepared =
  | {
      readonly kind: "prepared";
      readonly document: Omit<DocumentToWrite, "replace"> & Pick<Frontmatter, "danger">;
    }
  | { readonly kind: "failed"; readonly failure: DocumentFailure };

/** A longer document is prepared in a thread. */
const MOST_CHARS_HERE = 40_000;

/**
 * A short document at once: to hand it over costs more than to cut it. What breaks the thread is the failure of the long
 * one that it was at.
 */
async function prepare(read: ReadDocument, draft: Draft, scan: FilesToPrepare): Promise<Prepared> {
  if (read.text.length > MOST_CHARS_HERE) return prepareInThread(read, draft, scan);
  const { chunks, ...facts } = prepareDocument(read, scan.chunking, draft.vocabulary);
  const held = holdChunks(chunks, draft.vocabulary);
  return { kind: "prepared", document: { ...facts, chunks: held } };
}

async function prepareInThread(
  read: ReadDocument,
  { language }: Draft,
  { chunking, offload, signal, vocabulary }: FilesToPrepare,
): Promise<Prepared> {
  const { path, text } = read;
  const limits = { chars: text.length, signal, limitMs: LONGEST_PREPARING_MS };
  try {
    const packed = await offload(PREPARE, { document: read, settings: chunking }, limits);
    const chunks = unpackChunks(packed.chunks, () => vocabulary(language));
    return { kind: "prepared", document: { ...packed, chunks } };
  } catch (error) {
    signal.throwIfAborted();
    return { kind: "failed", failure: failPreparing(path, error) };
  }
}

function failPreparing(path: string, error: unknown): DocumentFailure {
  const message = `"${path}" can't be cut into chunks: ${whyUnprepared(error)}. Split the file, or leave it out.`;
  return { path, code: "FILE_READ_ERROR", message };
}

function whyUnprepared(error: unknown): string {
  if (error instanceof WorkTooLong) return `it took longer than ${error.limitMs / 60_000} minutes`;
  if (error instanceof WorkTooLarge) return "it needs more memory than there is";
  return `the work ended with ${error instanceof Error ? error.name : "an error"}`;
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

const isSame = (known: IndexedDocument, read: ReadDocument, scan: FilesToPrepare): boolean =>
  !scan.rebuild &&
  known.sha256 === read.sha256 &&
  known.extractor === read.extractor &&
  known.chunkSettings === scan.chunkSettings;

const toPortion = (draft: Draft, { source, chunkSettings }: FilesToPrepare): Portion => ({
  source: source.name,
  language: draft.language,
  chunkSettings,
  files: draft.files,
  replaced: draft.replaced,
  documents: draft.documents,
  touched: draft.touched,
  failures: draft.failures,
  lost: draft.lost,
  verified: draft.verified,
  silentlyChanged: draft.silentlyChanged,
});

/** The coarsest clock of a file system in use: a write within it may leave the times of the write before. */
const CLOCK_STEP_MS = 2_000;

/** A name that is not UTF-8 was listed, and can't be found again by what it was decoded to. */
const explainInvalidUtf8 = (refusal: Refusal, path: string): Refusal =>
  refusal.code === "FILE_NOT_FOUND" && hasInvalidUtf8(path)
    ? refuse("PATH_DENIED", `${quotePath(path)} has a name that is not UTF-8: rename the file.`)
    : refusal;

/** Reads one listed file through the sandbox, or says why it can't be indexed. */
async function readDocument(
  source: IndexSource,
  { relativePath }: ListedFile,
): Promise<ReadDocument | Refusal> {
  const path = posix.join(source.label, relativePath);
  if (isTooLong(path)) {
    return refuse(
      "FILE_READ_ERROR",
      `"${storablePath(path)}" is too long a path: 2,000 bytes fit.`,
    );
  }
  const readAt = Date.now();
  const file = await source.read(relativePath);
  if (file.kind === "refused") return explainInvalidUtf8(file, path);
  // A link may lead elsewhere in the same allowed root, and still out of the source.
  if (source.label !== "" && !file.path.startsWith(`${source.label}/`)) {
    return refuse("PATH_DENIED", `"${path}" is a link that leads out of source "${source.name}".`);
  }
  const extracted = await source.extractText(path, file.bytes);
  if (extracted.kind === "unreadable") return refuse(extracted.code, `"${path}" ${extracted.why}`);
  return {
    kind: "document",
    source: source.name,
    path,
    text: extracted.text,
    extractor: extracted.extractor,
    places: extracted.places,
    ...(extracted.metadata === undefined ? {} : { metadata: extracted.metadata }),
    sha256: hash("sha256", file.bytes, "hex"),
    facts: factsOf(file.stat),
    // Every write sets ctime, and nobody can set it back.
    settled: Number(file.stat.ctimeNs / 1_000_000n) < readAt - CLOCK_STEP_MS,
  };
}

/** The device is left out: it can be another after a restart. */
const COMPARED = ["bytes", "mtimeNs", "ctimeNs", "inode"] as const satisfies (keyof FileFacts)[];

/** Whether a file must be read to know if its document is current. */
export function mayHaveChanged(
  { facts }: ListedFile,
  document: IndexedDocument | undefined,
  chunkSettings: string,
): boolean {
  if (facts === undefined || document === undefined) return true;
  if (!document.settled || document.chunkSettings !== chunkSettings) return true;
  if (!isCurrentExtractor(document.path, document.extractor)) return true;
  return !hasSameFacts(facts, document);
}

/** Whether a file's facts are those that it was indexed with. */
const hasSameFacts = (facts: FileFacts, document: IndexedDocument): boolean =>
  COMPARED.every((fact) => facts[fact] === document.facts[fact]);
