import { findArithmetic } from "./arithmetic.ts";
import { isYear } from "./arithmetic-of-many.ts";
import { roundsTo } from "./figures.ts";
import type { ClaimFigure } from "./figures.ts";
import { ratesIn } from "./figure-words.ts";
import { measureAt } from "./measures.ts";
import { wordsIn } from "./pair.ts";
import type { Finding, Pair } from "./pair.ts";
import type { ReadPiece, ReadUnit } from "./pieces.ts";
import { foldWord } from "../../../shared/normalise-text.ts";
import { areRelated } from "./terms.ts";
import type { Term } from "./terms.ts";
import { segmentAt } from "./segments.ts";

/** Where a figure of a claim stands. */
export type FigureFound =
  | { readonly where: "unit"; readonly as: ClaimFigure | null }
  | { readonly where: "piece" }
  | { readonly where: "computed"; readonly sum: string; readonly isNamed: boolean }
  | { readonly where: "nowhere" };

const lookedUp = new WeakMap<Pair, Map<ClaimFigure, FigureFound>>();

/** Looks a figure up, once for all rules. */
export function findFigure(figure: ClaimFigure, pair: Pair): FigureFound {
  const known = lookedUp.get(pair) ?? new Map<ClaimFigure, FigureFound>();
  lookedUp.set(pair, known);
  const found = known.get(figure) ?? lookUp(figure, pair);
  known.set(figure, found);
  return found;
}

/** In the unit and its labels, in the cited pieces, rounded, and as the result of a computation. */
function lookUp(figure: ClaimFigure, pair: Pair): FigureFound {
  const { unit, cited, question } = pair;
  const inUnit = nearestSame(figure, unit);
  if (inUnit !== undefined) {
    return isOfOtherUnit(figure, inUnit, unit)
      ? { where: "nowhere" }
      : { where: "unit", as: inUnit };
  }
  const round = unit.figures().find((other) => isRounded(figure, other));
  if (round !== undefined) return { where: "unit", as: round };
  if (isNumberOfName(figure, pair)) return { where: "unit", as: null };
  const isRivalled = hasRival(figure, unit);
  const isElsewhere = cited.some(
    ({ offers, units, labelFigures }) =>
      figure.asks.some((one) => offers().has(one)) &&
      (labelFigures().some((one) => isSame(figure, one)) ||
        units.some((other) =>
          other
            .figures()
            .some(
              (one) =>
                isSame(figure, one) &&
                !isOfOtherUnit(figure, one, other) &&
                !(isRivalled && one.measure === null && other.kind === "sentence"),
            ),
        )),
  );
  const isAsked = question.figures.some((other) => isSame(figure, other));
  if (isElsewhere || isAsked || (figure.precision !== "exact" && isRoundedIn(figure, cited)))
    return { where: "piece" };
  const sum = findArithmetic(figure, pair);
  return sum === null ? { where: "nowhere" } : { where: "computed", ...sum };
}

/** A label's figure stands in where nothing nearer has one of its kind: the sentence, then its headings, then path and title. */
function nearestSame(figure: ClaimFigure, unit: ReadUnit): ClaimFigure | undefined {
  for (const figures of [unit.figures(), ...unit.labelFigures()]) {
    const same = figures.find((other) => isSame(figure, other));
    if (same !== undefined || figures.some((other) => isOfKind(figure, other))) return same;
  }
  return undefined;
}

/** Years are dates; a day without one is none beside a year. */
function isOfKind(figure: ClaimFigure, other: ClaimFigure): boolean {
  if (kindOf(figure) !== kindOf(other)) return false;
  return figure.kind === "date" || other.kind === "number" || yearOf(other) !== undefined;
}

function kindOf({ kind, base, measure, offers }: ClaimFigure): string {
  if (kind === "date") return offers.every((offer) => offer.startsWith("t:")) ? "time" : "date";
  return measure?.dimension ?? (isYear({ value: base, dimension: "" }) ? "date" : "");
}

/** What a number counts nothing of: "freezer 2", of a piece whose path or words have "freezer-2". */
const NUMBERED = /(?<word>\p{L}{2,40})[ \u00A0-]$/u;
const numberedBy = (text: string, start: number): string | undefined =>
  NUMBERED.exec(text.slice(Math.max(0, start - 41), start))?.groups?.["word"]?.toLowerCase();

function isNumberOfName(
  { text, start, measure }: ClaimFigure,
  { claim, piece, unit }: Pair,
): boolean {
  if (measure !== null || !/^\d{1,4}$/.test(text)) return false;
  const word = numberedBy(claim.text, start);
  if (word === undefined) return false;
  if (unit.figures().some((other) => numberedBy(unit.text, other.start) === word)) return false;
  const folded = piece.folded();
  const name = `${word}-${text}`;
  for (let at = folded.indexOf(name); at >= 0; at = folded.indexOf(name, at + 1)) {
    if (!/[\p{L}\p{N}]/u.test(folded.charAt(at - 1) + folded.charAt(at + name.length))) return true;
  }
  return false;
}

/** "9 EUR", where the unit has 5 EUR: a bare 9 of another sentence does not stand for it. */
const hasRival = ({ measure }: ClaimFigure, unit: ReadUnit): boolean =>
  measure !== null &&
  unit.figures().some((other) => other.measure?.dimension === measure.dimension);

const isRoundedIn = (figure: ClaimFigure, pieces: readonly ReadPiece[]): boolean =>
  pieces.some(({ units }) =>
    units.some((unit) => unit.figures().some((other) => isRounded(figure, other))),
  );

/** "11 days" is not the 11 of a row that counts hours. */
function isOfOtherUnit({ measure }: ClaimFigure, other: ClaimFigure, { terms }: ReadUnit): boolean {
  if (measure === null || other.measure !== null || other.kind === "date") return false;
  const named = terms.flatMap(({ word }) => (word.length > 2 ? (measureAt(word) ?? []) : []));
  const like = named.filter(
    ({ dimension }) =>
      dimension === measure.dimension || (isMoney(dimension) && isMoney(measure.dimension)),
  );
  return (
    like.length > 0 &&
    !like.some(
      ({ dimension, factor }) => dimension === measure.dimension && factor === measure.factor,
    )
  );
}

const isMoney = (dimension: string): boolean => /^[A-Z]{3}$/.test(dimension);

function isSame(figure: ClaimFigure, other: ClaimFigure): boolean {
  if (!figure.asks.some((one) => other.offers.includes(one))) return false;
  if (figure.kind === "date") return !hasOtherYear(figure, other);
  return figure.rate === null || other.rate === null || figure.rate === other.rate;
}

const yearOf = ({ offers }: ClaimFigure): string | undefined =>
  offers.find((offer) => /^[dy]:/.test(offer))?.slice(2, 6);

function hasOtherYear(one: ClaimFigure, other: ClaimFigure): boolean {
  const [first, second] = [yearOf(one), yearOf(other)];
  return first !== undefined && second !== undefined && first !== second;
}

/** Whether a figure that says that it is rounded is another one rounded, with fewer digits, in the direction that it says. */
export function isRounded(figure: ClaimFigure, { base, measure, kind }: ClaimFigure): boolean {
  if (figure.precision === "exact" || figure.kind === "date" || kind === "date") return false;
  if ((figure.measure?.dimension ?? null) !== (measure?.dimension ?? null)) return false;
  // In its own unit: "four hours" is rounder than 260 minutes.
  const factor = figure.measure?.factor ?? 1;
  if (digitsOf(figure.base / factor) >= digitsOf(base / factor)) return false;
  if (figure.precision === "below" && base > figure.base) return false;
  if (figure.precision === "above" && base < figure.base) return false;
  return roundsTo(figure, base);
}

const digitsOf = (value: number): number =>
  String(Math.abs(value))
    .replace(".", "")
    .replace(/^0+|0+$/g, "").length;

/** Figures of a claim that must stand somewhere. */
export const hardFigures = ({ claim }: Pair): readonly ClaimFigure[] =>
  claim.figures.filter(({ isSoft, asks }) => !isSoft && asks.length > 0);

/** Value and unit of each figure stand in the cited pieces. */
export function compareFigures(pair: Pair): Finding | null {
  const missing = missingFigures(pair).find((figure) => !isCount(figure));
  return missing === undefined ? null : { ...notThere(missing), grade: "unsupported" };
}

const missingFigures = (pair: Pair): readonly ClaimFigure[] =>
  hardFigures(pair).filter((figure) => findFigure(figure, pair).where === "nowhere");

const notThere = ({ text }: ClaimFigure): Finding => ({
  grade: "partly",
  reason: "figure",
  detail: `${text.trim()} stands nowhere in what is cited`,
});

const MOST_COUNTED = 4;

/** "The three legs": so few in words are often counted by the writer. */
const isCount = ({ base, measure, counted, text }: ClaimFigure): boolean =>
  measure === null && counted !== null && base <= MOST_COUNTED && !/\d/.test(text);

/** What is computed out of figures of the unit alone is carried in part. */
export function compareArithmetic(pair: Pair): Finding | null {
  for (const figure of hardFigures(pair)) {
    const found = findFigure(figure, pair);
    if (found.where === "computed" && !found.isNamed)
      return { grade: "partly", reason: "arithmetic", detail: found.sum };
  }
  return null;
}

/** How the figures of a claim come about that names all that they are computed from; null where none is computed. */
export function namedArithmetic(pair: Pair): string | null {
  const sums = hardFigures(pair).flatMap((figure) => {
    const found = findFigure(figure, pair);
    if (found.where === "computed") return found.isNamed ? [found.sum] : [];
    return weekdayOf(figure, found, pair) ?? [];
  });
  return sums.length === 0 ? null : sums.join("; ");
}

/** "1 January 2026, a Thursday", where the unit gives the date alone. */
function weekdayOf(figure: ClaimFigure, found: FigureFound, { claim }: Pair): string | null {
  const [weekday] = figure.asks;
  if (weekday?.startsWith("w:") !== true || found.where !== "unit") return null;
  const date = found.as;
  const day = date?.offers.find((offer) => offer.startsWith("d:"));
  if (date === null || day === undefined || date.text.includes(figure.text)) return null;
  const isNamed = claim.figures.some((one) => one !== figure && one.offers.includes(day));
  return isNamed ? `${date.text} is a ${figure.text}` : null;
}

/** Figures stand in the unit itself. */
export function compareFigurePlace(pair: Pair): Finding | null {
  const ordinal = otherOrdinal(pair);
  if (ordinal !== null) {
    return { grade: "partly", reason: "place", detail: `it is another than the ${ordinal}` };
  }
  const apart = hardFigures(pair).find((figure) => findFigure(figure, pair).where === "piece");
  if (apart !== undefined) {
    const detail = `${apart.text.trim()} stands in another sentence`;
    return { grade: "partly", reason: "place", detail };
  }
  const counted = missingFigures(pair).find(isCount);
  return counted === undefined ? null : notThere(counted);
}

/** "The first", where the sentence counts another one. */
function otherOrdinal({ claim, unit }: Pair): string | null {
  const isOrdinal = ({ isSoft, measure }: ClaimFigure): boolean => isSoft && measure === null;
  const said = claim.figures.filter(isOrdinal);
  const held = unit.figures().filter(isOrdinal);
  const isHeld = ({ base }: ClaimFigure): boolean => held.some((other) => other.base === base);
  const other = said.find((figure) => !isHeld(figure));
  const isOther = held.some(({ base }) => !said.some((figure) => figure.base === base));
  return other !== undefined && isOther ? other.text.trim() : null;
}

/** "1,136 books" are not the 1,136 photographs of the unit: what a figure counts stands there, or nothing is counted. */
export function compareCounted(pair: Pair): Finding | null {
  const { claim, unit, met } = pair;
  if (claim.language === "japanese" || claim.language !== unit.language) return null;
  for (const figure of hardFigures(pair)) {
    const found = findFigure(figure, pair);
    const own = found.where === "unit" ? found.as : null;
    if (figure.counted === null || own?.counted == null) continue;
    const { counted } = figure;
    const term = met.find((one) => one.term.word === counted);
    const isThere = term === undefined || term.places.length > 0 || term.isLabel;
    const isSaid = claim.terms.some(({ word }) => word === own.counted);
    if (!isThere && !isSaid && !term.term.isLight)
      return {
        grade: "partly",
        reason: "place",
        detail: `${own.text.trim()} counts ${own.counted}`,
      };
  }
  return null;
}

/** "For each day", where the sentence says "for each week". */
function otherRate({ claim, unit }: Pair): string | null {
  const [said, held] = [ratesIn(claim.text), ratesIn(unit.text)];
  const isTime = (rate: string): boolean => /^(?:time|month):/.test(rate);
  const other = [...said].find((rate) => isTime(rate) && !held.has(rate));
  return other !== undefined && ![...said].some((rate) => held.has(rate))
    ? ([...held].find(isTime) ?? null)
    : null;
}

/** What a figure is per stands in its segment, too. */
export function compareRate(pair: Pair): Finding | null {
  if (hardFigures(pair).length > 0 && otherRate(pair) !== null)
    return { grade: "partly", reason: "cue", detail: "the sentence says it per another time" };
  for (const figure of hardFigures(pair)) {
    const found = findFigure(figure, pair);
    if (figure.per === null || found.where !== "unit" || found.as === null) continue;
    const { per } = figure;
    const own = found.as;
    const segment = pair.unit
      .segments()
      .find(({ start, end }) => start <= own.start && own.start < end);
    const part = segment === undefined ? "" : pair.unit.text.slice(segment.start, segment.end);
    const said = foldWord(part);
    const isSaid =
      own.rate !== null
        ? own.rate === figure.rate
        : own.per !== null
          ? areRelated(stemAlike(own.per), stemAlike(per))
          : said.includes(per.slice(0, 4)) ||
            (figure.rate !== null && ratesIn(part).has(figure.rate));
    if (!isSaid)
      return { grade: "partly", reason: "cue", detail: `${own.text.trim()} is not per ${per}` };
  }
  return null;
}

const stemAlike = (word: string): string => word.replace(/(?:en|es|s|n|e)$/u, "");

/** Figures of a unit that are looked at; no honest sentence or row states more. */
const MOST_RIVALS = 100;
/** Figures of a claim that may have changed places; each is held against each other one. */
const MOST_SWAPPED = 20;

/** What takes back the figure before it. */
const CORRECTION =
  /(?<!\p{L})(?:sorry|typo|correction|i meant|make that|scratch that|korrektur|tippfehler|ich meinte|berichtigung|corrección|perdón|quise decir|fe de erratas|pardon|rectification|erratum|je voulais dire|erreur de ma part|mein fehler|my mistake|error mío)(?!\p{L})|訂正|正しくは/iu;
const MOST_TO_CORRECTION = 60;
const MOST_IN_CORRECTION = 100;

/** "40 crates. Sorry, typo, 14 crates": the figure of the claim is taken back behind it. */
export function compareCorrected(pair: Pair): Finding | null {
  const { unit, piece, claim } = pair;
  for (const figure of hardFigures(pair)) {
    const found = findFigure(figure, pair);
    const own = found.where === "unit" ? found.as : null;
    if (own === null || !unit.figures().includes(own)) continue;
    const next = piece.units[unit.at + 1];
    const corrected =
      figureCorrecting(own, { text: unit.text, figures: unit.figures(), from: own.end }) ??
      (next === undefined
        ? undefined
        : figureCorrecting(own, { text: next.text, figures: next.figures(), from: 0 }));
    if (corrected === undefined) continue;
    if (claim.figures.some(({ base }) => base === corrected.base)) continue;
    return {
      grade: "partly",
      reason: "rival",
      detail: `${own.text.trim()} is corrected to ${corrected.text.trim()}`,
    };
  }
  return null;
}

type Behind = {
  readonly text: string;
  readonly figures: readonly ClaimFigure[];
  readonly from: number;
};

function figureCorrecting(
  own: ClaimFigure,
  { text, figures, from }: Behind,
): ClaimFigure | undefined {
  const mark = CORRECTION.exec(text.slice(from, from + MOST_TO_CORRECTION));
  if (mark === null) return undefined;
  const start = from + mark.index;
  return figures.find(
    (one) =>
      one.start > start &&
      one.start < start + MOST_IN_CORRECTION &&
      one.kind === own.kind &&
      one.measure?.dimension === own.measure?.dimension &&
      one.text !== own.text,
  );
}

/** No figure of like unit stands nearer to the words of the claim. */
export function compareRival(pair: Pair): Finding | null {
  const { unit, piece, claim } = pair;
  const segments = unit.segments();
  const figures = unit.figures().slice(0, MOST_RIVALS);
  const asked = new Set(claim.figures.flatMap(({ asks }) => asks));
  const rivals = figures.filter(({ offers }) => !offers.some((offer) => asked.has(offer)));
  if (rivals.length === 0) return null;
  for (const figure of hardFigures(pair)) {
    const found = findFigure(figure, pair);
    const own = found.where === "unit" ? found.as : null;
    if (own === null || !figures.includes(own)) continue;
    const ownSegment = segmentAt(segments, own.start);
    const held = wordsIn(segments[ownSegment], pair);
    const isCounted = (other: ClaimFigure): boolean =>
      isCountedAlike({ figure, own: other }, piece);
    const others = rivals.filter(
      (other) => other !== own && isLike(own, other) && !(other.isSoft && isCounted(own)),
    );
    const before = wordBefore(claim.text, figure);
    const isBehindOther = before !== null && before !== wordBefore(unit.text, own);
    const rival = others.find((other) => {
      if (isCounted(other) && !isCounted(own)) return true;
      const segment = segmentAt(segments, other.start);
      if (segment === ownSegment) return isBehindOther && wordBefore(unit.text, other) === before;
      const near = wordsIn(segments[segment], pair);
      return [...near].some((term) => !term.isLight && !held.has(term));
    });
    if (rival !== undefined) {
      return {
        grade: "partly",
        reason: "rival",
        detail: `${rival.text.trim()} stands nearer than ${own.text.trim()}`,
      };
    }
  }
  return null;
}

/** "To 8.9", where the sentence says "from 8.9 to 7.1": what stands before a figure is what tells it from one like it. */
const wordBefore = (text: string, { start }: ClaimFigure): string | null =>
  /(?<word>\p{L}+)[ \u00A0][€$£]?$/u
    .exec(text.slice(Math.max(0, start - 24), start))
    ?.groups?.["word"]?.toLowerCase() ?? null;

/** Two figures of the claim are not exchanged: in one part of the unit they stand in its order, and else beside their words. */
export function compareSwap(pair: Pair): Finding | null {
  const { claim, unit, piece } = pair;
  const parts = unit.segments();
  const placed = hardFigures(pair)
    .slice(0, MOST_SWAPPED)
    .flatMap((figure) => {
      const found = findFigure(figure, pair);
      const own = found.where === "unit" ? found.as : null;
      const at = own === null || !unit.figures().includes(own) ? -1 : segmentAt(parts, own.start);
      return own === null || at === -1 ? [] : [{ figure, own, at }];
    });
  for (const one of placed) {
    const segment = claim.segments[segmentAt(claim.segments, one.figure.start)];
    if (segment === undefined) continue;
    const wordsOfPart = (at: number): Term[] =>
      [...wordsIn(parts[at], pair)].filter(
        (term) => !term.isLight && term.start >= segment.start && term.end <= segment.end,
      );
    const held = wordsOfPart(one.at);
    const other = placed.find(({ figure, own, at }) => {
      if (at === one.at && kindOf(one.own) === kindOf(own) && isOther(own, one.own)) {
        const isTurned = figure.start < one.figure.start !== own.start < one.own.start;
        return isTurned && ![one, { figure, own }].some((each) => isCountedAlike(each, piece));
      }
      const isTogether = segment.start <= figure.start && figure.start < segment.end;
      if (at === one.at || isTogether || !isLike(one.own, own)) return false;
      const near = wordsOfPart(at);
      return near.length > held.length && held.every((term) => near.includes(term));
    });
    if (other !== undefined)
      return {
        grade: "partly",
        reason: "rival",
        detail: `${other.own.text.trim()} stands nearer than ${one.own.text.trim()}`,
      };
  }
  return null;
}

const isOther = (one: ClaimFigure, other: ClaimFigure): boolean =>
  one !== other && one.base !== other.base;

type Placed = { readonly figure: ClaimFigure; readonly own: ClaimFigure };

const isCountedAlike = ({ figure: { counted }, own }: Placed, piece: ReadPiece): boolean =>
  counted !== null &&
  own.counted !== null &&
  (counted.slice(0, 4) === own.counted.slice(0, 4) ||
    piece.relatedTo(counted).includes(own.counted));

export const isLike = (one: ClaimFigure, other: ClaimFigure): boolean =>
  one.kind === other.kind &&
  (one.kind === "date"
    ? grainOf(one) === grainOf(other)
    : (one.measure?.dimension ?? null) === (other.measure?.dimension ?? null));

/** A day of a year and a day without one are alike. */
const grainOf = ({ offers: [offer = ""] }: ClaimFigure): string =>
  offer.startsWith("d:") ? "m" : offer.charAt(0);
