import type { FileFacts, IndexedDocument } from "../../shared/store/index/documents.ts";
import { isCurrentExtractor } from "../documents/formats/registry.ts";
import type { ListedFile } from "./list-files.ts";

/** The documents that lie in mails, by the path of the file of their mail. */
export function attachmentsByMail(
  known: ReadonlyMap<string, IndexedDocument>,
): ReadonlyMap<string, readonly IndexedDocument[]> {
  const attachments = new Map<string, IndexedDocument[]>();
  for (const document of known.values()) {
    if (document.mail === null) continue;
    const others = attachments.get(document.mail);
    if (others === undefined) attachments.set(document.mail, [document]);
    else others.push(document);
  }
  return attachments;
}

/** What an attachment has of its mail. The device is left out: it can be another after a restart. */
const TIMES = ["mtimeNs", "ctimeNs", "inode"] as const satisfies (keyof FileFacts)[];

/** What the index has of a file: its document, and those of what it holds. */
type KnownFile = {
  readonly document: IndexedDocument | undefined;
  readonly attachments: readonly IndexedDocument[];
};

/** Whether a file must be read to know if its documents are current, all that it holds among them. */
export function mayHaveChanged(
  { facts }: ListedFile,
  { document, attachments }: KnownFile,
  chunkSettings: string,
): boolean {
  if (facts === undefined || document === undefined) return true;
  const all = [document, ...attachments];
  const expected = all.reduce((sum, one) => sum + one.attachments, 0);
  if (expected !== attachments.length || facts.bytes !== document.facts.bytes) return true;
  return !all.every((one) => isCurrent(one, facts, chunkSettings));
}

const isCurrent = (
  { path, extractor, facts: known, ...document }: IndexedDocument,
  facts: FileFacts,
  chunkSettings: string,
): boolean =>
  document.settled &&
  document.chunkSettings === chunkSettings &&
  isCurrentExtractor(path, extractor) &&
  TIMES.every((fact) => facts[fact] === known[fact]);

/** Whether a file's facts are those that it was indexed with. */
export const hasSameFacts = (facts: FileFacts, document: IndexedDocument): boolean =>
  facts.bytes === document.facts.bytes &&
  TIMES.every((fact) => facts[fact] === document.facts[fact]);
