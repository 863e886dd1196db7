import { posix } from "node:path";
import type { Extractor, ExtractText, Format } from "./format.ts";
import { JSON_TEXT } from "./json.ts";
import { MARKDOWN } from "./markdown.ts";
import { PLAIN } from "./plain.ts";

/** Every format that has endings of its own; any other text is plain. */
export const FORMATS: readonly Format[] = [MARKDOWN, JSON_TEXT];

/** The format of a file by the ending of its name, and by its text where the ending alone does not say. */
export function formatOf(path: string, text: string): Format {
  const extension = extensionOf(path);
  const format = findFormat(extension);
  return format?.isOf(text, extension) === true ? format : PLAIN;
}

/** What makes the text of a file, by the ending of its name. */
export const extractorOf = (path: string): Extractor =>
  (findFormat(extensionOf(path)) ?? PLAIN).extractor;

/** For whoever reads files: the sandbox, and the scan of the index. */
export const extractText: ExtractText = async (path, bytes) => {
  const extractor = extractorOf(path);
  return { ...(await extractor.extract(bytes)), extractor: extractor.version };
};

const extensionOf = (path: string): string => posix.extname(path).toLowerCase();

const findFormat = (extension: string): Format | undefined =>
  FORMATS.find(({ extensions }) => extensions.includes(extension));
