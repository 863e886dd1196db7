import type { ExtractedText, Unreadable } from "../../../../src/worker/documents/extraction.ts";
import { locate } from "../../../../src/worker/documents/places.ts";
import { NoText } from "../../../../src/worker/documents/reader/text-builder.ts";
import { READER_LIMITS } from "../../../support/read-documents.ts";
import type { TextLimits } from "../../../../src/worker/documents/reader/text-builder.ts";

type Read = (bytes: Buffer, limits: TextLimits) => unknown;

/** What a reader makes of bytes, in this process. */
export async function readWith(
  read: Read,
  bytes: Buffer | string,
  limits: Partial<TextLimits> = {},
): Promise<ExtractedText> {
  const found = await read(Buffer.from(bytes), { ...READER_LIMITS.text, ...limits });
  return found as ExtractedText;
}

/** Why it makes nothing of them. */
export async function refusalOf(
  read: Read,
  bytes: Buffer | string,
  limits: Partial<TextLimits> = {},
): Promise<Pick<Unreadable, "code" | "why">> {
  try {
    await readWith(read, bytes, limits);
  } catch (error) {
    if (error instanceof NoText) return { code: error.code, why: error.message };
    throw error;
  }
  throw new Error("it was read");
}

/** Each line of a text with the place in its file. */
export function linesWithPlaces({ text, places }: ExtractedText): [string, unknown][] {
  let start = 0;
  return text.split("\n").flatMap((line): [string, unknown][] => {
    const place = locate(places, start);
    start += line.length + 1;
    return line === "" ? [] : [[line, place]];
  });
}
