import type { ClaimFigure } from "../../text/figures/read-figures.ts";
import { isRounded } from "../claims/figure-rules.ts";
import type { ReadClaim } from "../claims/pair.ts";
import { relatedWords } from "../claims/pair.ts";
import type { ReadPiece, ReadUnit } from "../claims/pieces.ts";
import type { CueClass } from "../claims/find-cues.ts";
import { areRelated, readTerms } from "../claims/terms.ts";

/** A sentence with the same or another figure of the thing that a claim is about. */
export type Counterpart = {
  readonly unit: ReadUnit;
  readonly own: ClaimFigure;
  readonly other: ClaimFigure;
  readonly says: "same" | "another";
  /** Whether both are certainly about one thing; else a model or a person must look. */
  readonly isCertain: boolean;
};

/** The least part of the claim's words in the sentence, and of the sentence's words in claim or carrier. */
const LEAST_HELD = 0.75;
const LEAST_SHARED = 0.6;
const FEWEST_WORDS = 2;
/** Cues that both sides must share: a plan, a possibility, an exception or the past is another statement. */
const QUALIFIERS: readonly CueClass[] = [
  ...(["not", "plan", "maybe", "condition", "except", "instead", "before", "after"] as const),
  ...(["over", "under", "at_least", "at_most", "than", "only"] as const),
];
const PAST =
  /(?<!\p{L})(?:was|were|had|used to|formerly|war|waren|hatte|früher|était|étaient|avait|era|eran|fue|tenía|antes)(?!\p{L})/iu;

/**
 * Finds the first sentence of a piece that states a figure or date of the same thing as the claim; different figures come
 * before equal ones. It prefers precision: names, dates and qualifiers must agree, and each side has exactly one figure of the
 * kind.
 *
 * @param carrier the words that support the claim, which may name its subject in other words
 * @param isOneDocument whether both are versions of one document: then they need no common name
 */
export function findCounterpart(
  claim: ReadClaim,
  carrier: ReadClaim,
  piece: ReadPiece,
  isOneDocument: boolean,
): Counterpart | null {
  const found = piece.units
    .filter(({ kind }) => kind !== "heading")
    .flatMap((unit) => compareUnit(claim, carrier, { unit, piece, isOneDocument }) ?? []);
  return found.find(({ says }) => says === "another") ?? found[0] ?? null;
}

type CarrierPlace = {
  readonly unit: ReadUnit;
  readonly piece: ReadPiece;
  readonly isOneDocument: boolean;
};

function compareUnit(
  claim: ReadClaim,
  carrier: ReadClaim,
  place: CarrierPlace,
): Counterpart | null {
  const { unit, piece, isOneDocument } = place;
  if (isTranslated(claim, unit)) return null;
  const [own, other] = onlyLike(claim.figures, unit.figures());
  if (own === undefined || other === undefined) return null;
  const words = claim.content.filter(({ isLight, word }) => !isLight && word !== own.counted);
  const held = words.filter(({ stem }) =>
    relatedWords(stem, claim.language, piece).some((one) => unit.stems.has(one)),
  );
  const isHeld = words.length >= FEWEST_WORDS && held.length >= LEAST_HELD * words.length;
  const shared = sharedWords(claim, carrier, unit);
  if (!isHeld || shared < LEAST_SHARED) return null;
  if (
    QUALIFIERS.some((name) => hasCue(claim, name) !== unit.cues().some((cue) => cue.name === name))
  )
    return null;
  if (PAST.test(claim.text) !== PAST.test(unit.text)) return null;
  if (!otherFiguresAgree(claim, unit, { own, other }) || !namesAgree(claim, carrier, unit))
    return null;
  const isSame = own.asks.some((one) => other.offers.includes(one));
  const isNear = isRounded(own, other) || isRounded(other, own);
  if (!isSame && (isNear || own.precision !== "exact" || other.precision !== "exact")) return null;
  const anchors = [...claim.names.filter(({ isWeak }) => !isWeak), ...claim.codes];
  const isWhole = held.length === words.length && shared === 1;
  return {
    ...{ unit, own, other },
    says: isSame ? "same" : "another",
    isCertain: isWhole && (anchors.length > 0 || isOneDocument),
  };
}

const isTranslated = ({ language }: ReadClaim, unit: ReadUnit): boolean =>
  language !== null && unit.language !== null && language !== unit.language;

const hasCue = ({ cues }: ReadClaim, name: CueClass): boolean =>
  cues.some((cue) => cue.name === name);

/** The two figures of a kind of which each side states exactly one. */
function onlyLike(
  claim: readonly ClaimFigure[],
  unit: readonly ClaimFigure[],
): readonly [ClaimFigure?, ClaimFigure?] {
  const hard = claim.filter(({ isSoft, asks }) => !isSoft && asks.length > 0);
  for (const own of hard.toSorted((one, next) => rankOf(one) - rankOf(next))) {
    const like = unit.filter((other) => !other.isSoft && isLike(own, other));
    const [other, second] = like;
    const isAlone = hard.filter((one) => isLike(own, one)).length === 1;
    if (other !== undefined && second === undefined && isAlone) return [own, other];
  }
  return [];
}

/** A measured figure comes first: it is the statement, and a date beside it says when. */
const rankOf = ({ measure, kind }: ClaimFigure): number =>
  measure !== null ? 0 : kind === "number" ? 1 : 2;

const isLike = (one: ClaimFigure, other: ClaimFigure): boolean =>
  one.kind === other.kind &&
  (one.measure?.dimension ?? null) === (other.measure?.dimension ?? null) &&
  one.rate === other.rate &&
  (one.per === null || other.per === null || areRelated(one.per, other.per)) &&
  (one.counted === other.counted ||
    (one.counted !== null && other.counted !== null && areRelated(one.counted, other.counted))) &&
  one.label === other.label &&
  (one.kind === "number" || grainOf(one) === grainOf(other));

const grainOf = ({ offers: [offer = ""] }: ClaimFigure): string => offer.charAt(0);

/** Whether both sides state the same years, days and numbers beside the compared figures. */
function otherFiguresAgree(
  claim: ReadClaim,
  unit: ReadUnit,
  { own, other }: Pick<Counterpart, "own" | "other">,
): boolean {
  const ofClaim = claim.figures.filter((one) => one !== own && !one.isSoft);
  const ofUnit = unit.figures().filter((one) => one !== other && !one.isSoft);
  const meets = (one: ClaimFigure, all: readonly ClaimFigure[]): boolean =>
    all.some(({ offers }) => one.asks.some((ask) => offers.includes(ask)));
  return ofClaim.every((one) => meets(one, ofUnit)) && ofUnit.every((one) => meets(one, ofClaim));
}

/** The part of the sentence's words that claim or carrier hold too: with "for members" it would be another fee. */
function sharedWords(claim: ReadClaim, carrier: ReadClaim, unit: ReadUnit): number {
  const known = [...claim.terms, ...carrier.terms];
  const figures = unit.figures();
  const own = unit.terms.filter(
    ({ isContent, isLight, start, end }) =>
      isContent && !isLight && !figures.some((one) => one.start <= start && end <= one.end),
  );
  const shared = own.filter(({ stem }) => known.some((term) => areRelated(term.stem, stem)));
  return own.length === 0 ? 0 : shared.length / own.length;
}

/** Whether the sentence holds all names of the claim, and no other name. */
function namesAgree(claim: ReadClaim, carrier: ReadClaim, unit: ReadUnit): boolean {
  const words = new Set(unit.terms.map(({ word }) => word));
  const isThere = claim.names.every(
    ({ words: own, isWeak }) => isWeak || own.every((word) => words.has(word)),
  );
  const text = unit.text.toLowerCase();
  const known = new Set([...claim.terms, ...carrier.terms].map(({ word }) => word));
  const strange = capitalWords(unit).filter((word) => !known.has(word));
  return isThere && claim.codes.every((code) => text.includes(code.text)) && strange.length === 0;
}

/** Words with a capital letter inside a sentence. In German these are all nouns, and a new noun is another thing, too. */
const capitalWords = ({ text, language }: ReadUnit): string[] =>
  readTerms(text, language)
    .slice(1)
    .filter(
      ({ isContent, isLight, start }) =>
        isContent && !isLight && /^\p{Lu}/u.test(text.slice(start, start + 2)),
    )
    .map(({ word }) => word);
