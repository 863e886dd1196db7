import { attachmentPlaces } from "../../shared/files/attachment-path.ts";
import type { FailureGrounds, KnownFailure } from "../../shared/store/index/document-failures.ts";
import type { FileFacts, IndexedDocument } from "../../shared/store/index/documents.ts";
import { isCurrentExtractor } from "../documents/formats/registry.ts";
import type { ListedFile } from "./list-files.ts";
import { append } from "../../shared/group-by.ts";

/** The attachments among the documents, by the path of their mail's file. */
export function attachmentsByMail(
  known: ReadonlyMap<string, IndexedDocument>,
): ReadonlyMap<string, readonly IndexedDocument[]> {
  return groupByFile(known.values(), ({ mail }) => mail);
}

/** Groups values by the path of their file, and leaves out those without one. */
function groupByFile<T>(
  all: Iterable<T>,
  fileOf: (one: T) => string | null,
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const file = fileOf(one);
    if (file !== null) append(groups, file, one);
  }
  return groups;
}

/** A failure that would occur again as long as its grounds hold. */
export type LastingFailure = { readonly path: string; readonly grounds: FailureGrounds };

/** A limit that a busy machine may cause counts as lasting after this many scans in a row have met it. */
const MOST_TRIES = 3;

const isLasting = ({ tries }: FailureGrounds): boolean => tries === null || tries >= MOST_TRIES;

/** The lasting failures, by the path of the file itself or of the file that holds the attachment. */
export function lastingFailuresByFile(
  failures: readonly KnownFailure[],
): ReadonlyMap<string, readonly LastingFailure[]> {
  const lasting = failures.flatMap(({ path, grounds }) =>
    grounds === undefined || !isLasting(grounds) ? [] : [{ path, grounds }],
  );
  return groupByFile(lasting, ({ grounds }) => grounds.file);
}

/** The facts that an attachment takes from its mail. The device is left out: its number can change at a restart. */
const TIMES = ["mtimeNs", "ctimeNs", "inode"] as const satisfies (keyof FileFacts)[];

/** What the index holds about a file: its document, its attachments, and the lasting failures of either. */
type KnownFile = {
  readonly document: IndexedDocument | undefined;
  readonly attachments: readonly IndexedDocument[];
  readonly failures: readonly LastingFailure[];
};

/** Fingerprints of the chunk settings, and of the extractors that turn files into text. */
type ScanSettings = { readonly chunkSettings: string; readonly reader: string };

/** How much of a document the index keeps. A document whose bytes are kept needs no text as well. */
export type Keep = "bytes" | "text" | "none";
export const isKeptAs = (keep: Keep, { kept }: Pick<IndexedDocument, "kept">): boolean =>
  kept === "bytes" || (kept === "text" && keep === "text");

/** Whether the content of a file, or of an attachment in it, should be kept and is not, and there is room for it. */
export const lacksContent = (
  { document, attachments }: Pick<KnownFile, "document" | "attachments">,
  { keep, room }: { readonly keep: Keep; readonly room: number },
): boolean =>
  [...(document === undefined ? [] : [document]), ...attachments].some(
    (one) => !isKeptAs(keep, one) && one.facts.bytes <= BigInt(room),
  );

/** Whether a file must be read to know if its documents and failures, with those of its attachments, are current. */
export function mayHaveChanged(
  { facts }: ListedFile,
  { document, attachments, failures }: KnownFile,
  { chunkSettings, reader }: ScanSettings,
): boolean {
  if (facts === undefined) return true;
  if (document === undefined && !failures.some(isOfFile)) return true;
  if (document !== undefined && facts.bytes !== document.facts.bytes) return true;
  const documents = document === undefined ? attachments : [document, ...attachments];
  const expected = documents.reduce((sum, one) => sum + one.attachments, 0);
  if (expected !== attachments.length + failures.filter(isOfAttachment).length) return true;
  return !(
    documents.every((one) => isCurrent(one, facts, chunkSettings)) &&
    failures.every(({ grounds }) => groundsHold(grounds, facts, reader))
  );
}

const isOfFile = ({ path, grounds }: LastingFailure): boolean => path === grounds.file;

/** The failure of one attachment. The failure for all attachments that a mail leaves out is of no single missing document. */
const isOfAttachment = (failure: LastingFailure): boolean =>
  !isOfFile(failure) && attachmentPlaces(failure.path).length > 0;

const isCurrent = (
  { path, extractor, facts: known, ...document }: IndexedDocument,
  facts: FileFacts,
  chunkSettings: string,
): boolean =>
  document.settled &&
  document.chunkSettings === chunkSettings &&
  isCurrentExtractor(path, extractor) &&
  TIMES.every((fact) => facts[fact] === known[fact]);

/** The number of the next failure in a row for the same file, from 1. */
export const nextTry = (
  failure: KnownFailure | undefined,
  facts: FileFacts,
  reader: string,
): number =>
  failure?.grounds !== undefined && groundsHold(failure.grounds, facts, reader)
    ? (failure.grounds.tries ?? 0) + 1
    : 1;

const groundsHold = (grounds: FailureGrounds, facts: FileFacts, reader: string): boolean =>
  grounds.settled && grounds.reader === reader && hasSameFacts(facts, grounds);

/** Whether a file still has the facts that it was indexed with. */
export const hasSameFacts = (
  facts: FileFacts,
  document: { readonly facts: Omit<FileFacts, "device"> },
): boolean =>
  facts.bytes === document.facts.bytes &&
  TIMES.every((fact) => facts[fact] === document.facts[fact]);
