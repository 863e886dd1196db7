import type { EvidenceSpan } from "../../../shared/run-result.ts";
import { codePointOffsets } from "../../retrieval/chunk/code-point-offsets.ts";
import { splitLines } from "../../retrieval/chunk/lines.ts";
import type { CitableBlock } from "../number-evidence.ts";

/** Where a slice of the piece's text, in UTF-16 units, stands in its file. */
export type PlaceInFile = (start: number, end: number) => EvidenceSpan;

/** A summary that stands for a part of its file has one place for all of its words: that part. */
export function placesIn(block: CitableBlock): PlaceInFile {
  const { number, path, startChar, endChar, lineStart, lineEnd, text } = block;
  if (block.summaryLevel !== null) {
    return () => ({ number, path, startChar, endChar, lineStart, lineEnd });
  }
  const lines = splitLines(text);
  const toCodePoints = codePointOffsets(text);
  return (start, end) => ({
    number,
    path,
    startChar: startChar + toCodePoints(start),
    endChar: startChar + toCodePoints(end),
    lineStart: lineStart + lines.at(start),
    lineEnd: lineStart + lines.at(Math.max(start, end - 1)),
  });
}
