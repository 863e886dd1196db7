import { hash } from "node:crypto";
import type { EvidencePiece } from "../../shared/job/run-result.ts";
import { UTF8 } from "../documents/formats/utf8.ts";
import { cleanText, countCodePoints, firstCodePoints } from "../text/clean-text.ts";
import type { Passage, Reading, ToolPrint } from "./types.ts";

type Verdict = Pick<EvidencePiece, "admitted" | "rejectedReason">;

export const ADMITTED: Verdict = { admitted: true, rejectedReason: null };
export const rejected = (reason: string): Verdict => ({ admitted: false, rejectedReason: reason });

/** The record of a file that was read, or of a web page. */
export function filePiece(reading: Reading, verdict: Verdict, previewChars: number): EvidencePiece {
  return {
    kind: reading.page === undefined ? "file" : "web",
    ...verdict,
    path: cleanText(reading.path),
    source: null,
    sha256: reading.sha256,
    textSha256: hash("sha256", reading.text),
    extractor: reading.extractor,
    charsFull: reading.charsFull,
    charsReturned: reading.charsReturned,
    truncated: reading.truncated,
    chunkKey: null,
    headingPath: null,
    locator: reading.locator,
    leftOut: reading.leftOut,
    startChar: 0,
    endChar: reading.charsReturned,
    lineStart: 1,
    lineEnd: countLines(reading.text),
    score: null,
    preview: previewOf(reading.text, previewChars),
    ...pageOf(reading),
  };
}

function pageOf({ page }: Reading): Pick<EvidencePiece, "page"> {
  if (page === undefined) return {};
  return { page: { ...page, title: page.title === null ? null : cleanText(page.title) } };
}

/** The record of a chunk of the index. */
export function chunkPiece(
  passage: Passage,
  verdict: Verdict,
  previewChars: number,
): EvidencePiece {
  const { path, source, sha256, chunkKey, startChar, endChar, lineStart, lineEnd } = passage;
  return {
    kind: "chunk",
    ...verdict,
    path: cleanText(path),
    source,
    sha256,
    textSha256: hash("sha256", passage.text),
    extractor: passage.extractor,
    charsFull: passage.docChars,
    charsReturned: endChar - startChar,
    truncated: passage.truncated,
    chunkKey,
    headingPath: passage.headingPath === null ? null : cleanText(passage.headingPath),
    locator: passage.locator,
    leftOut: passage.leftOut,
    startChar,
    endChar,
    lineStart,
    lineEnd,
    score: passage.score,
    preview: previewOf(passage.text, previewChars),
  };
}

/** The record of what a tool printed. */
export function outputPiece(
  { label, sha256, charsFull, text }: ToolPrint,
  verdict: Verdict,
  previewChars: number,
): EvidencePiece {
  const charsReturned = countCodePoints(text);
  return {
    kind: "output",
    ...verdict,
    path: label,
    source: null,
    sha256,
    textSha256: hash("sha256", text),
    extractor: UTF8.version,
    charsFull,
    charsReturned,
    truncated: charsReturned < charsFull,
    chunkKey: null,
    headingPath: null,
    locator: null,
    startChar: 0,
    endChar: charsReturned,
    lineStart: 1,
    lineEnd: countLines(text),
    score: null,
    preview: previewOf(text, previewChars),
  };
}

/** Lines of a text; a line feed at its very end opens no further one. */
export function countLines(text: string): number {
  const breaks = text.match(/\r\n|\n|\r/g)?.length ?? 0;
  return Math.max(1, /[\r\n]$/.test(text) ? breaks : breaks + 1);
}

const previewOf = (text: string, chars: number): string => cleanText(firstCodePoints(text, chars));
