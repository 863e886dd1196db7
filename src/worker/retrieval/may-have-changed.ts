import type { FileFacts, IndexedDocument } from "../../shared/store/index/documents.ts";
import type { ListedFile } from "./list-files.ts";

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
  return !hasSameFacts(facts, document);
}

/** Whether a file's facts are those that it was indexed with. */
export const hasSameFacts = (facts: FileFacts, document: IndexedDocument): boolean =>
  COMPARED.every((fact) => facts[fact] === document.facts[fact]);
