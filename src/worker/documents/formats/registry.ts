import { hash } from "node:crypto";
import { posix } from "node:path";
import type { Attachment, Extractor, ExtractText, ReadInChild } from "../extraction.ts";
import type { ReaderLimits } from "../reader/reader.ts";
import { CSV } from "./csv.ts";
import { DOCX } from "./docx.ts";
import type { Format } from "./format.ts";
import { HTML } from "./html.ts";
import { JSON_TEXT } from "./json.ts";
import { EML, MBOX } from "./mail.ts";
import { MARKDOWN } from "./markdown.ts";
import { ODT } from "./odt.ts";
import { PDF } from "./pdf.ts";
import { PLAIN } from "./plain.ts";
import { XLSX } from "./xlsx.ts";
import { YAML } from "./yaml.ts";

/** Every format that has endings of its own; any other text is plain. */
export const FORMATS: readonly Format[] = [
  MARKDOWN,
  JSON_TEXT,
  YAML,
  CSV,
  HTML,
  DOCX,
  EML,
  MBOX,
  ODT,
  PDF,
  XLSX,
];

/** The format of a file by the ending of its name, and by its text where the ending alone does not say. */
export function formatOf(path: string, text: string): Format {
  const extension = extensionOf(path);
  const format = findFormat(extension);
  return format?.isOf(text, extension) === true ? format : PLAIN;
}

/** What makes the text of a file, by the ending of its name. */
const extractorOf = (path: string): Extractor => (findFormat(extensionOf(path)) ?? PLAIN).extractor;

/** Whether a text that an extractor of this version made is what the file would be read as now. */
export function isCurrentExtractor(path: string, version: string): boolean {
  const extractor = extractorOf(path);
  return extractor.version === version || extractor.others?.includes(version) === true;
}

/** A fingerprint of what decides whether a file can be read: with another one, a file that could not may be. */
export function readerFingerprint(limits: ReaderLimits): string {
  const versions = [...FORMATS, PLAIN].map(({ extractor }) => extractor.version);
  return hash("sha256", JSON.stringify([versions, limits]), "hex").slice(0, 32);
}

/**
 * For whoever reads files: the sandbox, and the scan of the index.
 * @param read does what is dangerous in a process of its own
 */
export const extractTextBy =
  (read: ReadInChild): ExtractText =>
  async (path, bytes) => {
    const extractor = extractorOf(path);
    const extracted = await extractor.extract(bytes, read);
    if (extracted.kind === "unreadable") return extracted;
    const { attachments = [] } = extracted;
    return {
      ...extracted,
      extractor: extracted.extractor ?? extractor.version,
      ...(attachments.length === 0 ? {} : { attachments: attachments.filter(isReadAttachment) }),
    };
  };

/** Of a picture or a program nothing is read but its name, in its mail. */
const isReadAttachment = ({ name }: Attachment): boolean => {
  const extension = extensionOf(name);
  return extension === ".txt" || findFormat(extension) !== undefined;
};

const extensionOf = (path: string): string => posix.extname(path).toLowerCase();

const findFormat = (extension: string): Format | undefined =>
  FORMATS.find(({ extensions }) => extensions.includes(extension));
