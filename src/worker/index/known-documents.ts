import { attachmentPlaces } from "../../shared/files/attachment-path.ts";
import type { FailureGrounds, KnownFailure } from "../../shared/store/index/document-failures.ts";
import type { FileFacts, IndexedDocument } from "../../shared/store/index/documents.ts";
import { isCurrentExtractor } from "../documents/formats/registry.ts";
import type { ListedFile } from "./list-files.ts";
import { append } from "../../shared/group-by.ts";

/** The documents that lie in mails, by the path of the file of their mail. */
export function attachmentsByMail(
  known: ReadonlyMap<string, IndexedDocument>,
): ReadonlyMap<string, readonly IndexedDocument[]> {
  return groupByFile(known.values(), ({ mail }) => mail);
}

/** What has a file, by its path. */
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

/** A failure that is met again while what it rests on holds. */
export type LastingFailure = { readonly path: string; readonly grounds: FailureGrounds };

/** So many scans in a row meet a limit that a busy machine may have met, and it lasts. */
const MOST_TRIES = 3;

const isLasting = ({ tries }: FailureGrounds): boolean => tries === null || tries >= MOST_TRIES;

/** The failures that last, by the path of the file that they are of or lie in. */
export function lastingFailuresByFile(
  failures: readonly KnownFailure[],
): ReadonlyMap<string, readonly LastingFailure[]> {
  const lasting = failures.flatMap(({ path, grounds }) =>
    grounds === undefined || !isLasting(grounds) ? [] : [{ path, grounds }],
  );
  return groupByFile(lasting, ({ grounds }) => grounds.file);
}

/** What an attachment has of its mail. The device is left out: it can be another after a restart. */
const TIMES = ["mtimeNs", "ctimeNs", "inode"] as const satisfies (keyof FileFacts)[];

/** What the index has of a file: its document, those of what it holds, and what of it could not be read for good. */
type KnownFile = {
  readonly document: IndexedDocument | undefined;
  readonly attachments: readonly IndexedDocument[];
  readonly failures: readonly LastingFailure[];
};

/** Fingerprints of what makes chunks of a text, and of what makes texts of files. */
type ScanSettings = { readonly chunkSettings: string; readonly reader: string };

/** How the index keeps documents, and whether what is kept of one is that much: bytes do where texts are to be kept. */
export type Keep = "bytes" | "text" | "none";
export const isKeptAs = (keep: Keep, { kept }: Pick<IndexedDocument, "kept">): boolean =>
  kept === "bytes" || (kept === "text" && keep === "text");

/** Whether a file, or something that it holds, is missing among what is to be kept, and there is room for it. */
export const lacksContent = (
  { document, attachments }: Pick<KnownFile, "document" | "attachments">,
  { keep, room }: { readonly keep: Keep; readonly room: number },
): boolean =>
  [...(document === undefined ? [] : [document]), ...attachments].some(
    (one) => !isKeptAs(keep, one) && one.facts.bytes <= BigInt(room),
  );

/** Whether a file must be read to know if its documents and failures are current, those of all that it holds among them. */
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
    failures.every(({ grounds }) => holds(grounds, facts, reader))
  );
}

const isOfFile = ({ path, grounds }: LastingFailure): boolean => path === grounds.file;

/** And not of all that a mail leaves out, which is no document that is missing. */
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

/** What the next failure is in the row of those that the same file has met. */
export const nextTry = (
  failure: KnownFailure | undefined,
  facts: FileFacts,
  reader: string,
): number =>
  failure?.grounds !== undefined && holds(failure.grounds, facts, reader)
    ? (failure.grounds.tries ?? 0) + 1
    : 1;

const holds = (grounds: FailureGrounds, facts: FileFacts, reader: string): boolean =>
  grounds.settled && grounds.reader === reader && hasSameFacts(facts, grounds);

/** Whether a file's facts are those that it was indexed with. */
export const hasSameFacts = (
  facts: FileFacts,
  document: { readonly facts: Omit<FileFacts, "device"> },
): boolean =>
  facts.bytes === document.facts.bytes &&
  TIMES.every((fact) => facts[fact] === document.facts[fact]);
