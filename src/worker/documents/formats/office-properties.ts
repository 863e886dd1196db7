import type { Archive } from "../reader/archive.ts";
import { cleanPiece } from "../reader/text-builder.ts";
import { walkXml } from "../reader/walk-xml.ts";
import type { FileMetadata } from "../extraction.ts";

const NAMES: Readonly<Record<string, string>> = {
  title: "title",
  creator: "author",
  "initial-creator": "author",
  created: "created",
  "creation-date": "created",
  modified: "modified",
  date: "modified",
};
const MOST_CHARS = 300;

/** Reads the properties of a document from a part: title, author, and the days on which it was created and changed. */
export function readProperties(archive: Archive, part: string): FileMetadata {
  const xml = archive.text(part);
  if (xml === undefined) return {};
  const found: Record<string, string> = {};
  let name: string | undefined;
  walkXml(xml, {
    open(element) {
      name = NAMES[element];
    },
    close() {
      name = undefined;
    },
    text(text) {
      const value = cleanPiece(text).replaceAll(/\s+/g, " ").trim().slice(0, MOST_CHARS);
      if (name !== undefined && value !== "") found[name] ??= value;
    },
  });
  return found;
}
