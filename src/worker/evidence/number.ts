import type { Locator } from "../../shared/job/locator.ts";
import type { Citation, EvidenceSpan } from "../../shared/job/run-result.ts";
import { codePointOffsets, splitLines } from "../documents/lines.ts";
import type { Lines } from "../documents/lines.ts";
import { locateLines, locateSpan } from "../documents/places.ts";
import type { Places } from "../documents/places.ts";
import type { EvidenceBlock } from "../models/model.ts";
import { countLines } from "./piece.ts";
import { countCodePoints } from "../text/clean-text.ts";
import type { TextSpan } from "../text/spans.ts";
import type { AdmittedEvidence, Passage, Reading, ToolPrint } from "./types.ts";

/** A numbered piece of evidence, with all that a citation of its number records. */
export type CitableBlock = EvidenceBlock &
  Pick<Citation, "chunkKey" | "lineStart" | "lineEnd"> & {
    /** SHA-256 of the file's bytes, 64 hex. */
    readonly sha256: string;
    /** Range of its text in the file, in code points. */
    readonly startChar: number;
    readonly endChar: number;
    /** Null for text of the file itself; else the level of the summary that stands for it. */
    readonly summaryLevel: number | null;
    /** Output of a tool: its path is a label that we made, so no word of the path counts as evidence. */
    readonly isOutput?: true;
    /** For text that was read from a file: where its parts stand in the file; left out where its lines suffice. */
    readonly places?: Places;
    /** For a passage of the index: where it begins in its file; left out where its lines suffice. */
    readonly locator?: Locator;
  };

/**
 * Numbers the admitted evidence from 1: the files first, in reading order, then the passages in rank order, then what
 * tools printed.
 */
export function numberEvidence({ files, ...others }: AdmittedEvidence): CitableBlock[] {
  const ofFiles = files.map((file, index) => ({ ...fileBlock(file), number: index + 1 }));
  return [...ofFiles, ...numberBesideFiles(others, ofFiles.length + 1)];
}

/** The number of pieces, which is the highest number. */
export const countPieces = (evidence: readonly Pick<CitableBlock, "number">[]): number =>
  evidence.reduce((most, { number }) => Math.max(most, number), 0);

/** Passages as citable blocks, in rank order, and then what tools printed, numbered from `first` on. */
export const numberBesideFiles = (
  { passages, outputs = [] }: Pick<AdmittedEvidence, "passages" | "outputs">,
  first: number,
): CitableBlock[] =>
  [...passages.map(passageBlock), ...outputs.map(outputBlock)].map((block, index) => ({
    ...block,
    number: first + index,
  }));

/** Files that were added to the evidence later, numbered from `first` on. */
export const numberFilesFrom = (files: readonly Reading[], first: number): CitableBlock[] =>
  files.map((file, index) => ({ ...fileBlock(file), number: first + index }));

const fileBlock = ({
  path,
  text,
  sha256,
  charsReturned,
  truncated,
  places,
}: Reading): CitableBlock => ({
  ...(truncated ? {} : { isWhole: true }),
  number: 1,
  path,
  sha256,
  startChar: 0,
  endChar: charsReturned,
  summaryLevel: null,
  title: titleOf(text),
  headingPath: null,
  text,
  chunkKey: null,
  lineStart: 1,
  lineEnd: countLines(text),
  ...(places === undefined ? {} : { places }),
});

const passageBlock = (passage: Passage): CitableBlock => ({
  number: 1,
  path: passage.path,
  sha256: passage.sha256,
  startChar: passage.startChar,
  endChar: passage.endChar,
  summaryLevel: null,
  title: passage.title,
  headingPath: passage.headingPath,
  text: passage.text,
  chunkKey: passage.chunkKey,
  lineStart: passage.lineStart,
  lineEnd: passage.lineEnd,
  ...(passage.locator === null ? {} : { locator: passage.locator }),
  ...(passage.places === undefined ? {} : { places: passage.places }),
});

const outputBlock = ({ label, sha256, text }: ToolPrint): CitableBlock => ({
  number: 1,
  path: label,
  sha256,
  startChar: 0,
  endChar: countCodePoints(text),
  summaryLevel: null,
  title: null,
  headingPath: null,
  text,
  chunkKey: null,
  lineStart: 1,
  lineEnd: countLines(text),
  isOutput: true,
});

/** The names of a piece: path, title and headings. Output of a tool has none. */
export const labelsOf = ({
  path,
  title,
  headingPath,
  isOutput,
}: Pick<CitableBlock, "path" | "title" | "headingPath" | "isOutput">): readonly string[] =>
  isOutput === true ? [] : [path, title ?? "", headingPath ?? ""];

/** The first heading of a text, or null. */
export const titleOf = (text: string): string | null =>
  /^#{1,6}[ \t]+(\S[^\r\n]*)/m.exec(text)?.[1]?.trim() ?? null;

/** Maps a slice of the piece's text, in UTF-16 units, to its place in the file. */
export type PlaceInFile = (start: number, end: number) => EvidenceSpan;

/** A summary of a part of a file has one place for all of its words: that part. */
export function placesIn(block: CitableBlock): PlaceInFile {
  const { number, path, startChar, endChar, lineStart, lineEnd, text } = block;
  if (block.summaryLevel !== null) {
    return () => ({ number, path, startChar, endChar, lineStart, lineEnd });
  }
  const lines = splitLines(text);
  const toCodePoints = codePointOffsets(text);
  return (start, end) => {
    const locator = locateIn(block, lines, { start, end });
    return {
      number,
      path,
      startChar: startChar + toCodePoints(start),
      endChar: startChar + toCodePoints(end),
      lineStart: lineStart + lines.at(start),
      lineEnd: lineStart + lines.at(Math.max(start, end - 1)),
      ...(locator === null ? {} : { locator }),
    };
  };
}

/** The locator of the span's own lines where places are known line by line, else the locator of the whole passage. */
function locateIn(
  { places, locator, lineStart, lineEnd }: CitableBlock,
  lines: Lines,
  span: TextSpan,
): Locator | null {
  if (places !== undefined) return locateSpan(places, lines, span);
  if (locator === undefined) return null;
  return locateLines(locator, {
    first: lines.at(span.start),
    last: lines.at(Math.max(span.start, span.end - 1)),
    isOneLine: lineEnd === lineStart,
  });
}
