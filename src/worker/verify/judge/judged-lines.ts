import type { ClaimRecord } from "../../../shared/job/run-result.ts";
import type { CitableBlock } from "../../evidence/number.ts";
import type { AskedStatement, JudgeLine } from "../../evidence/types.ts";
import type { PureWork } from "../../offload/offload.ts";
import { readClaim } from "../claims/pair.ts";
import { readPiece } from "../claims/pieces.ts";
import { readTerms } from "../claims/terms.ts";
import { languageOf } from "../../text/detect-language.ts";
import type { ReadPiece, ReadUnit } from "../claims/pieces.ts";
import { findWindows, firstUnits, weigher } from "../claims/windows.ts";

/** Pieces up to this length are shown whole; of longer ones the lines nearest to the statement, with their neighbours. */
const MOST_WHOLE_CHARS = 2_000;
const MOST_NEAREST = 3;
/** Limit of lines for one statement. */
export const MOST_LINES = 40;

type Judged = {
  readonly claims: readonly Pick<ClaimRecord, "text" | "cites" | "span">[];
  readonly evidence: readonly CitableBlock[];
};

/** Finds the lines for each statement. In a thread, because cutting megabytes takes seconds. */
export const BESIDE_LINES: PureWork<Judged, readonly AskedStatement[]> = {
  home: import.meta.url,
  run: besideLines,
};

export function besideLines({ claims, evidence }: Judged): readonly AskedStatement[] {
  return claims.map((claim) => ({
    text: claim.text,
    lines: linesFor(claim.text, piecesOf(claim, evidence)),
  }));
}

/** The pieces that a claim cites; the nearest piece for a claim without citations, where these are not required. */
function piecesOf(
  { cites, span }: Judged["claims"][number],
  evidence: readonly CitableBlock[],
): readonly CitableBlock[] {
  const cited = evidence.filter(({ number }) => cites.includes(number));
  return cited.length > 0 ? cited : evidence.filter(({ number }) => number === span?.number);
}

/** The lines of the cited pieces for a statement, in order. Near linear. */
export function linesFor(text: string, cited: readonly CitableBlock[]): readonly JudgeLine[] {
  const pieces = cited.map(readPiece);
  const chars = cited.reduce((sum, block) => sum + block.text.length, 0);
  if (chars <= MOST_WHOLE_CHARS) {
    const lines = pieces.flatMap((piece) => linesAt(piece, piece.units.keys()));
    if (lines.length <= MOST_LINES) return lines;
  }
  return nearestLines(text, pieces);
}

function nearestLines(text: string, pieces: readonly ReadPiece[]): readonly JudgeLine[] {
  const claim = readClaim(text, pieces[0]?.units[0]?.language ?? null);
  const found = findWindows(claim, pieces, weigher(pieces)).slice(0, MOST_NEAREST);
  const nearest = found.length > 0 ? found : firstUnits(pieces).slice(0, MOST_NEAREST);
  return pieces.flatMap((piece) => {
    const places = nearest.flatMap(({ unit, piece: of }) =>
      of === piece ? sentencesOf(unit, piece) : [],
    );
    return linesAt(piece, new Set(places.flatMap((at) => [at - 1, at, at + 1])));
  });
}

/** The indexes of a unit's sentences in its piece: two for a pair. */
const sentencesOf = (unit: ReadUnit, { units }: ReadPiece): readonly number[] =>
  unit.kind === "pair"
    ? units.flatMap(({ at, kind, start, end }) =>
        kind !== "pair" && start >= unit.start && end <= unit.end ? [at] : [],
      )
    : [unit.at];

/** The lines at some places, without pairs, whose sentences are lines themselves, and headings, which `source` names. */
const linesAt = ({ units, block }: ReadPiece, places: Iterable<number>): JudgeLine[] =>
  [...places]
    .sort((one, other) => one - other)
    .flatMap((at) => {
      const unit = units[at];
      if (unit === undefined || unit.kind === "pair" || unit.kind === "heading") return [];
      return [lineOf(unit, block)];
    });

/** A line with the names of its file and headings. */
export function lineOf({ headings, text }: ReadUnit, block: CitableBlock): JudgeLine {
  const names = headings.length > 0 ? headings : [block.headingPath ?? ""];
  const source = [block.path, ...names].filter((name) => name !== "").join(" > ");
  // A long unit may be cut within a character.
  return { source, text: text.toWellFormed() };
}

/** The `most` lines that share most words and figures with a statement, in their order. */
export function nearestOf(
  text: string,
  lines: readonly JudgeLine[],
  most: number,
): readonly JudgeLine[] {
  const stems = stemsOf(text);
  const shareOf = ({ text: words }: JudgeLine): number =>
    [...stemsOf(words)].filter((stem) => stems.has(stem)).length;
  const byShare = lines.map((line) => ({ line, share: shareOf(line) }));
  byShare.sort((one, other) => other.share - one.share);
  const nearest = new Set(byShare.slice(0, most).map(({ line }) => line));
  return lines.filter((line) => nearest.has(line));
}

const stemsOf = (text: string): ReadonlySet<string> =>
  new Set([
    ...(text.match(/\p{N}+/gu) ?? []),
    ...readTerms(text, languageOf(text, null)).flatMap(({ stem, isContent }) =>
      isContent ? [stem] : [],
    ),
  ]);
