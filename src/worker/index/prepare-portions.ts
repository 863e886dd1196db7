import { setImmediate } from "node:timers/promises";
import { FALLBACK_LANGUAGE } from "../../shared/text/language.ts";
import type { Language } from "../../shared/text/language.ts";
import type { NewContent } from "../../shared/store/index/contents.ts";
import type { DocumentFailure } from "../../shared/store/index/document-failures.ts";
import type { IndexedDocument } from "../../shared/store/index/documents.ts";
import type { Vocabulary } from "../../shared/store/index/vocabulary.ts";
import { holdChunks } from "../../shared/store/index/write-documents.ts";
import type { DocumentToWrite, PortionToWrite } from "../../shared/store/index/write-documents.ts";
import type { ChunkSettings } from "../documents/chunk-text.ts";
import type { Frontmatter } from "../documents/frontmatter.ts";
import { PREPARE, unpackChunks } from "../documents/packed-document.ts";
import { prepareDocument } from "../documents/prepare-document.ts";
import type { ReadDocument } from "../documents/prepare-document.ts";
import { WorkTooLarge, WorkTooLong } from "../offload/offload.ts";
import type { Offload } from "../offload/offload.ts";
import { detectLanguage } from "../text/detect-language.ts";
import { hasSameFacts, isKeptAs } from "./known-documents.ts";
import { readFiles } from "./read-documents.ts";
import type { FilesToRead, Lost, Outcome } from "./read-documents.ts";
import { storablePath } from "./sources.ts";

/** Everything that one transaction stores. */
export type Portion = PortionToWrite & {
  /** The number of files that it comes from, and of attachments in mails. */
  readonly files: number;
  readonly attachments: number;
  /** Documents whose files were written again with the same content. */
  readonly touched: readonly Pick<IndexedDocument, "docId" | "facts" | "settled">[];
  /** The failures of files that can't be indexed, and the documents that were indexed from such files before. */
  readonly failures: readonly DocumentFailure[];
  readonly lost: readonly IndexedDocument[];
  /** The earlier states of `documents`. */
  readonly replaced: readonly IndexedDocument[];
  /** Content to be kept, of documents of the portion. */
  readonly contents: readonly NewContent[];
  /** The number of files whose content and facts are both unchanged. */
  readonly verified: number;
  /** Paths of files whose content changed while none of their facts did. */
  readonly silentlyChanged: readonly string[];
};

type FilesToPrepare = FilesToRead & {
  readonly chunking: ChunkSettings;
  /** Fingerprint of `chunking`. */
  readonly chunkSettings: string;
  readonly vocabulary: (language: Language) => Vocabulary;
  /** Writes all documents anew, also those that are current. */
  readonly rebuild: boolean;
  /** Prepares long documents in a thread. */
  readonly offload: Offload;
  readonly signal: AbortSignal;
};

/** Large enough that a transaction's cost vanishes, small enough that a few of them are held in memory. */
const PORTION_CHARS = 1_000_000;
const PORTION_FILES = 250;
/** A portion is also stored after this time, so that a question that comes meanwhile finds what was read before it. */
const PORTION_MS = 2_000;
/** Content to be kept, in all drafts together, that may wait in memory; up to two portions more are being stored. */
const HELD_BYTES = 16_000_000;

/** How long this thread may work before timers and sockets have their turn. */
const TURN_MS = 8;

/**
 * Reads files, cuts them into chunks, and yields them in portions. Documents are gathered by language until they fill a
 * portion; results without new text join the portion of the source's language, or of the fallback.
 */
export async function* preparePortions(scan: FilesToPrepare): AsyncGenerator<Portion> {
  const drafts = new Map<Language, Draft>();
  let turnStartedAt = performance.now();
  let yieldedAt = turnStartedAt;
  for await (const found of readFiles(scan)) {
    const draft = await addFound(drafts, found, scan);
    const isDue = performance.now() - yieldedAt > PORTION_MS || heldBytes(drafts) > HELD_BYTES;
    for (const ready of isDue ? [...drafts.values()] : isFull(draft) ? [draft] : []) {
      yield toPortion(ready, scan);
      drafts.delete(ready.language);
      yieldedAt = performance.now();
    }
    if (performance.now() - turnStartedAt > TURN_MS) {
      await setImmediate();
      turnStartedAt = performance.now();
    }
  }
  for (const draft of drafts.values()) yield toPortion(draft, scan);
}

function heldBytes(drafts: Drafts): number {
  let bytes = 0;
  for (const { contents } of drafts.values()) {
    for (const { content } of contents) bytes += content.length;
  }
  return bytes;
}

const isFull = ({ chars, files, attachments }: Draft): boolean =>
  chars >= PORTION_CHARS || files + attachments >= PORTION_FILES;

type Draft = ReturnType<typeof emptyDraft>;
type Drafts = Map<Language, Draft>;

const emptyDraft = (language: Language, vocabulary: Vocabulary) => ({
  language,
  vocabulary,
  chars: 0,
  files: 0,
  attachments: 0,
  replaced: [] as IndexedDocument[],
  documents: [] as PortionToWrite["documents"][number][],
  touched: [] as Portion["touched"][number][],
  failures: [] as DocumentFailure[],
  lost: [] as IndexedDocument[],
  contents: [] as NewContent[],
  verified: 0,
  silentlyChanged: [] as string[],
});

/** @returns the draft that it was added to */
async function addFound(
  drafts: Drafts,
  found: Outcome | Lost,
  scan: FilesToPrepare,
): Promise<Draft> {
  if (found.kind === "lost") {
    const draft = draftFor(drafts, languageOf("", scan), scan);
    draft.lost.push(...found.documents);
    return draft;
  }
  const draft = await addRead(drafts, found, scan);
  if (found.isFile) draft.files += 1;
  else draft.attachments += 1;
  return draft;
}

async function addRead(
  drafts: Drafts,
  { read, known }: Pick<Outcome, "read" | "known">,
  scan: FilesToPrepare,
): Promise<Draft> {
  const isCurrent = read.kind === "document" && known !== undefined && isSame(known, read, scan);
  const text = read.kind === "document" && !isCurrent ? read.text : "";
  const draft = draftFor(drafts, languageOf(text, scan), scan);
  if (read.kind === "refused") {
    const { code, message, grounds } = read;
    draft.failures.push({ path: storablePath(read.path), code, message, grounds });
    if (known !== undefined) draft.lost.push(known);
    return draft;
  }
  draft.chars += read.text.length;
  if (isCurrent) keepContent(draft, { read, known }, scan);
  if (!isCurrent) await addDocument(draft, { read, known }, scan);
  else if (known.settled && hasSameFacts(read.facts, known)) draft.verified += 1;
  else draft.touched.push({ docId: known.docId, facts: read.facts, settled: read.settled });
  return draft;
}

/** Adds content that is not kept yet. A text that another extractor makes now replaces the kept one. */
function keepContent(
  { contents }: Draft,
  { read: { path, sha256, content, extractor }, known }: FoundDocument,
  { keep }: Pick<FilesToPrepare, "keep">,
): void {
  const isKept =
    known?.sha256 === sha256 &&
    isKeptAs(keep, known) &&
    (known.kept === "bytes" || known.extractor === extractor);
  if (content === undefined || isKept) return;
  contents.push({ path, sha256, content, extractor: keep === "text" ? extractor : null });
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
  keepContent(draft, { read, known }, scan);
  if (known === undefined) return;
  draft.replaced.push(known);
  if (isSilentlyChanged(known, read)) draft.silentlyChanged.push(read.path);
}

/** Twenty times what the worst 10 MB take on a busy machine. A worker gives up a scan that reports nothing for an hour. */
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
 * Cuts a short document here, because passing it to a thread costs more than cutting it. An error in the thread is the failure
 * of the long document that it was working on.
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
  // The thread does not need the bytes, and they would be copied.
  const document = { ...read, content: undefined };
  const limits = { chars: text.length, signal, limitMs: LONGEST_PREPARING_MS };
  try {
    const packed = await offload(PREPARE, { document, settings: chunking }, limits);
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

/** Replaces all chunks where settings or language changed: then even a chunk with the same text may have other words. */
function replaceOf(
  known: IndexedDocument | undefined,
  { language }: Draft,
  { rebuild, chunkSettings }: FilesToPrepare,
): "all" | "changed" {
  const isAnother =
    known !== undefined && (known.chunkSettings !== chunkSettings || known.language !== language);
  return rebuild || isAnother ? "all" : "changed";
}

/** Only for files: a changed attachment is reported as a change of its mail. */
const isSilentlyChanged = (known: IndexedDocument, { facts, sha256 }: ReadDocument): boolean =>
  known.mail === null && known.settled && hasSameFacts(facts, known) && known.sha256 !== sha256;

const isSame = (known: IndexedDocument, read: ReadDocument, scan: FilesToPrepare): boolean =>
  !scan.rebuild &&
  known.sha256 === read.sha256 &&
  known.extractor === read.extractor &&
  known.attachments === read.attachments &&
  scan.descriptions.get(read.path)?.isNew !== true &&
  known.chunkSettings === scan.chunkSettings;

const toPortion = (draft: Draft, { source, chunkSettings }: FilesToPrepare): Portion => ({
  ...draft,
  source: source.name,
  chunkSettings,
  // Attachments were added directly behind their mail, which is not the order of paths.
  documents: draft.documents.toSorted(byPath),
});

const byPath = (a: { readonly path: string }, b: { readonly path: string }): number =>
  a.path < b.path ? -1 : a.path > b.path ? 1 : 0;
