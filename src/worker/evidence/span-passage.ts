import { codePointOffsets, splitLines } from "../documents/lines.ts";
import { titleOf } from "./number.ts";
import { locatePassage, placesWithin } from "../documents/places.ts";
import type { Passage, Reading } from "./types.ts";

/**
 * A stretch of a file as a passage: evidence where only that part of the file was looked at.
 *
 * @param start offset of its first character in the text, in UTF-16 units
 * @param end offset behind its last
 */
export function spanPassage(reading: Reading, start: number, end: number): Passage {
  const { path, sha256, extractor, charsFull, places, leftOut, text } = reading;
  const toCodePoints = codePointOffsets(text);
  const lines = splitLines(text);
  const startChar = toCodePoints(start);
  const endChar = toCodePoints(end);
  return {
    chunkKey: `span:${sha256.slice(0, 16)}:${startChar}-${endChar}`,
    source: null,
    path,
    sha256,
    extractor,
    docChars: charsFull,
    truncated: endChar - startChar < charsFull,
    headingPath: null,
    locator: places === undefined ? null : locatePassage(places, lines, { start, end }),
    ...(places === undefined ? {} : { places: placesWithin(places, { start, end }) }),
    leftOut,
    title: titleOf(text),
    startChar,
    endChar,
    lineStart: lines.at(start) + 1,
    lineEnd: lines.at(Math.max(start, end - 1)) + 1,
    text: text.slice(start, end),
    score: 0,
    lexicalScore: null,
  };
}
