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

/** A piece of so many characters is shown whole; of a longer one the lines that say most of the statement, and those beside them. */
const MOST_WHOLE_CHARS = 2_000;
const MOST_NEAREST = 3;
/** Of one statement. */
export const MOST_LINES = 40;

type Judged = {
  readonly claims: readonly Pick<ClaimRecord, "text" | "cites" | "span">[];
  readonly evidence: readonly CitableBlock[];
};

/** Each statement with the lines of its pieces. Pieces of any length are cut for it, which takes seconds for megabytes. */
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

/** The pieces that it cites; of one that cites none, where none need be cited, the one that comes nearest. */
function piecesOf(
  { cites, span }: Judged["claims"][number],
  evidence: readonly CitableBlock[],
): readonly CitableBlock[] {
  const cited = evidence.filter(({ number }) => cites.includes(number));
  return cited.length > 0 ? cited : evidence.filter(({ number }) => number === span?.number);
}

/** The lines of the pieces that a statement cites, in their order. Near linear. */
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

/** Where a unit stands among those of its piece; pairs stand behind all others. */
const sentencesOf = (unit: ReadUnit, { units }: ReadPiece): readonly number[] =>
  unit.kind === "pair"
    ? units.flatMap(({ at, kind, start, end }) =>
        kind !== "pair" && start >= unit.start && end <= unit.end ? [at] : [],
      )
    : [unit.at];

/** Two sentences together are told one by one; headings stand above what they are of. */
const linesAt = ({ units, block }: ReadPiece, places: Iterable<number>): JudgeLine[] =>
  [...places]
    .sort((one, other) => one - other)
    .flatMap((at) => {
      const unit = units[at];
      if (unit === undefined || unit.kind === "pair" || unit.kind === "heading") return [];
      return [lineOf(unit, block)];
    });

/** A line below its file and its headings. */
export function lineOf({ headings, text }: ReadUnit, block: CitableBlock): JudgeLine {
  const names = headings.length > 0 ? headings : [block.headingPath ?? ""];
  return { source: [block.path, ...names].filter((name) => name !== "").join(" > "), text };
}

/** Of the lines of a statement so many that share most of its words and figures, in their order. */
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
