import { posix } from "node:path";
import type { Format } from "./format.ts";
import { JSON_TEXT } from "./json.ts";
import { MARKDOWN } from "./markdown.ts";
import { PLAIN } from "./plain.ts";

/** Every format that has endings of its own; any other text is plain. */
export const FORMATS: readonly Format[] = [MARKDOWN, JSON_TEXT];

/** The format of a file by the ending of its name, and by its text where the ending alone does not say. */
export function formatOf(path: string, text: string): Format {
  const extension = posix.extname(path).toLowerCase();
  const format = FORMATS.find(({ extensions }) => extensions.includes(extension));
  return format?.isOf(text, extension) === true ? format : PLAIN;
}
