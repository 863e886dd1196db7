import { hash } from "node:crypto";
import { posix } from "node:path";
import { DEEPEST_ATTACHMENT } from "../../shared/files/attachment-path.ts";
import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type {
  DocumentFailure,
  FailureGrounds,
  KnownFailure,
} from "../../shared/store/index/document-failures.ts";
import type { FileFacts, IndexedDocument } from "../../shared/store/index/documents.ts";
import { packText } from "../../shared/store/index/contents.ts";
import type { FileDescription } from "../../shared/store/index/remote-files.ts";
import { attachedBytes } from "../documents/extraction.ts";
import type { Attachment, FileMetadata } from "../documents/extraction.ts";
import type { ReadDocument } from "../documents/prepare-document.ts";
import { quotePath } from "../sandbox/names.ts";
import { nextTry } from "./known-documents.ts";
import type { Keep } from "./known-documents.ts";
import { factsOf, hasInvalidUtf8 } from "./list-files.ts";
import type { ListedFile } from "./list-files.ts";
import { isTooLong, storablePath } from "./sources.ts";
import type { IndexSource } from "./sources.ts";

/** `path` names the refused file or attachment; `grounds` is set when the same bytes would be refused again. */
type RefusedDocument = Refusal & Pick<DocumentFailure, "path" | "grounds">;

/** The document that was read, or why it was not. */
type ReadOutcome = ReadDocument | RefusedDocument;

export type FilesToRead = {
  readonly source: IndexSource;
  readonly files: readonly ListedFile[];
  readonly known: ReadonlyMap<string, IndexedDocument>;
  /** The attachments among `known`, by the path of their mail's file. */
  readonly attachments: ReadonlyMap<string, readonly IndexedDocument[]>;
  /** By the path of the file or attachment that failed. */
  readonly failures: ReadonlyMap<string, KnownFailure>;
  /** For the files of a mirror: the descriptions that the remote place gives, by path. */
  readonly descriptions: ReadonlyMap<string, FileDescription>;
  /** Fingerprint of the extractors and of their limits. */
  readonly reader: string;
  /** How much of each document is passed on to be kept. */
  readonly keep: Keep;
  /** Called before each file is read. */
  readonly onFile: (path: string) => void;
};

/** The result of a read, and the document that was indexed before; `isFile` is false for an attachment. */
export type Outcome = {
  readonly kind: "read";
  readonly read: ReadOutcome;
  readonly known: IndexedDocument | undefined;
  readonly isFile: boolean;
};

/** Indexed attachments that were not found in their file now: it holds them no longer, or can't be read and has no document itself. */
export type Lost = { readonly kind: "lost"; readonly documents: readonly IndexedDocument[] };

/** Reads files and their attachments, one after the other. */
export async function* readFiles(scan: FilesToRead): AsyncGenerator<Outcome | Lost> {
  const { source, files, known, attachments, onFile } = scan;
  for (const file of files) {
    onFile(file.relativePath);
    const path = posix.join(source.label, file.relativePath);
    const before = new Map(attachments.get(path)?.map((document) => [document.path, document]));
    let isFile = true;
    for await (const read of readDocuments(scan, file)) {
      yield { kind: "read", read, known: known.get(read.path), isFile };
      before.delete(read.path);
      isFile = false;
    }
    if (before.size > 0) yield { kind: "lost", documents: [...before.values()] };
  }
}

/** The coarsest clock of a file system in use: two writes within this time may leave equal timestamps. */
const CLOCK_STEP_MS = 2_000;

/** Explains why a listed file is not found: its name is not UTF-8, and the decoded name does not open it. */
const explainInvalidUtf8 = (refusal: Refusal, path: string): Refusal =>
  refusal.code === "FILE_NOT_FOUND" && hasInvalidUtf8(path)
    ? refuse("PATH_DENIED", `${quotePath(path)} has a name that is not UTF-8: rename the file.`)
    : refusal;

type Reading = Pick<FilesToRead, "source" | "reader" | "failures" | "keep" | "descriptions">;

/** Reads one listed file through the sandbox, and then the attachments that it holds. */
async function* readDocuments(
  scan: Reading,
  { relativePath }: ListedFile,
): AsyncGenerator<ReadOutcome> {
  const { source } = scan;
  const path = posix.join(source.label, relativePath);
  const readAt = Date.now();
  const file = isTooLong(path) ? refuseTooLong(path) : await source.read(relativePath);
  if (file.kind === "refused") {
    yield { ...explainInvalidUtf8(file, path), path };
    return;
  }
  // A link may lead out of the source and still stay in the same allowed root.
  if (source.label !== "" && !file.path.startsWith(`${source.label}/`)) {
    const message = `"${path}" is a link that leads out of source "${source.name}".`;
    yield { ...refuse("PATH_DENIED", message), path };
    return;
  }
  yield* readContent(scan, {
    path,
    bytes: file.bytes,
    facts: factsOf(file.stat),
    // Every write sets ctime, and no program can set it back.
    settled: Number(file.stat.ctimeNs / 1_000_000n) < readAt - CLOCK_STEP_MS,
    mail: null,
    depth: 0,
  });
}

const refuseTooLong = (path: string): Refusal =>
  refuse("FILE_READ_ERROR", `"${storablePath(path)}" is too long a path: 2,000 bytes fit.`);

type Content = {
  readonly path: string;
  readonly bytes: Buffer;
  /** Facts of the file, or of the file that holds this attachment. */
  readonly facts: FileFacts;
  readonly settled: boolean;
  readonly mail: string | null;
  readonly mailDate?: string | undefined;
  /** The number of mails around it: 0 for a file. */
  readonly depth: number;
};

async function* readContent(scan: Reading, content: Content): AsyncGenerator<ReadOutcome> {
  const { source } = scan;
  const { path, bytes, facts, depth, ...held } = content;
  const extracted = await source.extractText(path, bytes);
  const grounds = groundsOf(scan, content);
  if (extracted.kind === "unreadable") {
    const { code, why, lasts } = extracted;
    const tries = lasts === "perhaps" ? nextTry(scan.failures.get(path), facts, scan.reader) : null;
    const rests = lasts === "never" ? {} : { grounds: { ...grounds, tries } };
    yield { ...refuse(code, `"${path}" ${why}`), path, ...rests };
    return;
  }
  const { text, extractor, places, attachments: all = [] } = extracted;
  const metadata = describedMetadata(extracted.metadata, scan.descriptions.get(path));
  const { attachmentsLeftOut = 0, leftOut = {} } = extracted;
  const isTooDeep = all.length > 0 && depth === DEEPEST_ATTACHMENT;
  const attachments = isTooDeep ? [] : all;
  yield {
    kind: "document",
    source: source.name,
    path,
    text,
    extractor,
    places,
    ...(metadata === undefined ? {} : { metadata }),
    sha256: hash("sha256", bytes, "hex"),
    ...held,
    facts: { ...facts, bytes: BigInt(bytes.length) },
    attachments: attachments.length,
    leftOut,
    ...(scan.keep === "bytes" ? { content: bytes } : {}),
    ...(scan.keep === "text" ? { content: keptTextOf({ text, places, leftOut }) } : {}),
  };
  for (const attachment of attachments) {
    yield* readAttachment(scan, { ...content, depth: depth + 1 }, attachment);
  }
  if (isTooDeep) {
    yield { ...refuseAttachments(path, "lie in too many mails to be read"), grounds };
  }
  if (attachmentsLeftOut > 0) {
    const why = `exceed the limits for one file, and ${attachmentsLeftOut} of them are left out`;
    yield { ...refuseAttachments(path, why), grounds };
  }
}

const keptTextOf = ({
  places,
  ...rest
}: Pick<ReadDocument, "text" | "places" | "leftOut">): Buffer =>
  packText({ ...rest, places: { numbers: [...places.numbers], sheets: [...places.sheets] } });

/** The description that the remote place gives has precedence over the metadata inside the file. */
function describedMetadata(
  metadata: FileMetadata | undefined,
  described: FileDescription | undefined,
): FileMetadata | undefined {
  if (described === undefined) return metadata;
  const said = Object.entries(described.description).filter(
    (entry): entry is [string, string | readonly string[]] =>
      (typeof entry[1] === "string" && entry[1] !== "") || Array.isArray(entry[1]),
  );
  return { ...metadata, ...Object.fromEntries(said) };
}

const groundsOf = (
  { reader }: Reading,
  { path, mail, facts, settled }: Content,
): FailureGrounds => ({ file: mail ?? path, facts, settled, reader, tries: null });

async function* readAttachment(
  scan: Reading,
  { path: of, mail, mailDate, ...content }: Content,
  attachment: Attachment,
): AsyncGenerator<ReadOutcome> {
  const { name, date = mailDate } = attachment;
  const path = `${of}/${name}`;
  if (isTooLong(path)) {
    const grounds = groundsOf(scan, { ...content, path, mail: mail ?? of });
    yield { ...refuseTooLong(path), path, grounds };
  } else {
    yield* readContent(scan, {
      ...content,
      path,
      bytes: attachedBytes(attachment),
      mail: mail ?? of,
      mailDate: date,
    });
  }
}

function refuseAttachments(of: string, why: string): RefusedDocument {
  const path = `${of}/attachments`;
  const message = `The attachments of "${of}" ${why}: save those that are needed as files.`;
  return { ...refuse("FILE_TOO_LARGE", message), path };
}
