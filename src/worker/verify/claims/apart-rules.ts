import type { TextSpan } from "../../text/spans.ts";
import { comparePolarity } from "./polarity.ts";
import { findFigure, hardFigures, isLike } from "./figure-rules.ts";
import { overlapsAny } from "./figures.ts";
import type { ClaimFigure } from "./figures.ts";
import { wordsIn } from "./pair.ts";
import type { Finding, Met, Pair } from "./pair.ts";
import { segmentAt } from "./segments.ts";
import type { Term } from "./terms.ts";

const rival = (detail: string): Finding => ({ grade: "partly", reason: "rival", detail });

/** A word that the unit lacks stands in another sentence of the piece, and may be said of something else there. */
export function compareElsewhere({ claim, unit, met, piece }: Pair): Finding | null {
  if (claim.language !== unit.language) return null;
  const other = met.find(
    ({ term, isMinor, places, isLabel }) =>
      !isMinor &&
      !isLabel &&
      places.length === 0 &&
      term.word.length > 1 &&
      piece.relatedTo(term.stem).some((stem) => piece.holders.has(stem)),
  );
  return other === undefined
    ? null
    : { grade: "partly", reason: "place", detail: `${other.term.word} stands in another sentence` };
}

const isNextTo = (one: Term, next: Term, text: string): boolean =>
  next.start >= one.end && /^[ \u00A0]$/u.test(text.slice(one.end, next.start));

/**
 * "Odile proposed", where the sentence says that Tom proposed: another name stands before the same word. A name is written with
 * a capital, and in the piece never without.
 */
export function compareSubject({ claim, unit, piece, met }: Pair): Finding | null {
  if (claim.language === "german" || claim.language === "japanese") return null;
  if (claim.language !== unit.language || unit.kind === "row") return null;
  const isName = (term: Term, text: string): boolean =>
    term.isContent && /^\p{Lu}\p{Ll}/u.test(text.slice(term.start, term.end));
  const isAlsoCommon = ({ start, end }: Term, text: string): boolean =>
    piece.block.text.includes(` ${text.slice(start, end).toLowerCase()} `);
  for (const { term, places } of met) {
    const own = claim.terms.findLast((one) => one.end <= term.start);
    if (own === undefined || places.length === 0 || !isNextTo(own, term, claim.text)) continue;
    if (!isName(own, claim.text)) continue;
    const others = places.map((place) => {
      const [before, word] = [unit.terms[place - 1], unit.terms[place]];
      if (before === undefined || word === undefined || before.word === own.word) return null;
      return isNextTo(before, word, unit.text) && isName(before, unit.text) ? before : null;
    });
    const [other] = others;
    if (other === undefined || other === null || others.includes(null)) continue;
    if (isAlsoCommon(own, claim.text) || isAlsoCommon(other, unit.text)) continue;
    return rival(`${other.word} ${term.word}, and not ${own.word}`);
  }
  return null;
}

/** "A filter, £285, and a valve, £64": what the claim speaks of stands before another amount, and nothing of it before its own. */
export function compareListed(pair: Pair): Finding | null {
  const { claim, unit, met } = pair;
  if (unit.kind === "row") return null;
  const placed = met
    .filter(({ places, isMinor }) => places.length > 0 && !isMinor)
    .map(({ places }) => places.map((place) => unit.terms[place]?.start ?? -1));
  for (const figure of hardFigures(pair)) {
    const found = findFigure(figure, pair);
    const own = found.where === "unit" ? found.as : null;
    const other = unit.figures().findLast((one) => own !== null && isBefore(one, own));
    if (own === null || other === undefined || isAsked(other, claim.figures)) continue;
    const isBetween = (at: number): boolean => at >= other.end && at < own.start;
    const isOfOther = placed.some((starts) => starts.every((at) => at < other.start));
    const isOfOwn = placed.some(
      (starts) => starts.some(isBetween) && starts.every((at) => at < own.end),
    );
    const isAnother = newIn({ start: other.end, end: own.start }, pair).length > 0;
    if (isOfOther && !isOfOwn && isAnother)
      return rival(`${other.text.trim()} is what it is said of`);
  }
  return null;
}

const isBefore = (one: ClaimFigure, own: ClaimFigure): boolean =>
  one.end <= own.start && own.measure !== null && isLike(one, own);
const isAsked = ({ offers }: ClaimFigure, figures: readonly ClaimFigure[]): boolean =>
  figures.some(({ asks }) => asks.some((one) => offers.includes(one)));

/** "Lindau", where the sentence has "Lindach": a German word with a capital that differs from one there by more than its ending. */
export function compareLookalike({ claim, unit, met, cited }: Pair): Finding | null {
  if (claim.language !== "german" || unit.language !== "german") return null;
  const said = new Set(claim.terms.map(({ word }) => word));
  const others = unit.terms.filter((one) => isCapital(one, unit.text) && !said.has(one.word));
  for (const { term, places, isLabel } of met) {
    if (isLabel || !isCapital(term, claim.text)) continue;
    if (cited.some(({ words }) => words.has(term.word))) continue;
    const like = others.find(({ word }) => isLookalike(term.word, word));
    const isElsewhere = places.some((place) => unit.terms[place] !== like);
    if (like !== undefined && !isElsewhere)
      return {
        grade: "partly",
        reason: "name",
        detail: `${term.word}, where the sentence has ${like.word}`,
      };
  }
  return null;
}

const isCapital = ({ start }: Term, text: string): boolean =>
  /^\p{Lu}/u.test(text.slice(start, start + 2));

const LEAST_SHARED = 4;
const GERMAN_ENDING = /^(?:e|en|em|er|es|n|s|ern|in|innen|ung|ungen|heit|keit|lich|schaft)?$/u;

function isLookalike(one: string, other: string): boolean {
  let shared = 0;
  while (shared < one.length && one[shared] === other[shared]) shared += 1;
  const rests = [one.slice(shared), other.slice(shared)];
  return (
    shared >= LEAST_SHARED &&
    rests.every(({ length }) => length < shared && length <= 3) &&
    rests.some((rest) => !GERMAN_ENDING.test(rest))
  );
}

/** "The front disc is fine; the rear one is worn": what one clause of the claim joins stands in two statements. */
export function compareStatements(pair: Pair): Finding | null {
  const { claim, unit } = pair;
  const other = toldOfRelative(pair);
  if (other !== null) return rival(`it is said of ${other}`);
  const statements = unit.kind === "row" ? [] : statementsOf(unit.text);
  if (statements.length < 2) return null;
  const held = statements.map((statement) => wordsIn(statement, pair));
  const isJoined = clausesOf(claim).some(({ start, end }) => {
    const own = (term: Term): boolean => term.start >= start && term.end <= end;
    const said = held.map((words) => [...words].filter(own));
    const all = new Set(said.flat());
    return said.every(({ length }) => length < all.size);
  });
  return isJoined ? rival("it joins words of two statements") : null;
}

const RELATIVE =
  /[.!?][ \u00A0\n]+(?:(?:her|his|their|ihre?|seine?|son|sa|ses|leurs?|sus?)[ \u00A0])(?=\p{L})/iu;

/** "Ines is the treasurer. Her cousin Luca runs the youth section": whom the second sentence names does what it says. */
function toldOfRelative(pair: Pair): string | null {
  const { claim, unit, met } = pair;
  const opening = unit.kind === "row" ? null : RELATIVE.exec(unit.text);
  if (opening === null) return null;
  const from = opening.index + opening[0].length;
  const start = ({ places }: Met): number =>
    Math.min(...places.map((place) => unit.terms[place]?.start ?? -1));
  const placed = met.filter(({ places }) => places.length > 0);
  const ofSecond = placed.filter((one) => start(one) >= from).map(start);
  if (ofSecond.length === 0 || ofSecond.length === placed.length) return null;
  const firstOfSecond = Math.min(...ofSecond);
  const name = unit.terms.findLast(
    (term, at) =>
      term.start >= from &&
      term.start < firstOfSecond &&
      isCapital(term, unit.text) &&
      (unit.language !== "german" || isCapital(unit.terms[at - 1] ?? term, unit.text)),
  );
  return name === undefined || claim.terms.some(({ word }) => word === name.word)
    ? null
    : unit.text.slice(name.start, name.end);
}

/** Clauses; "reads" of "reads and writes were rejected" is none of its own. */
function clausesOf({ segments, content, text }: Pair["claim"]): readonly TextSpan[] {
  const [first, second, ...others] = segments;
  if (first === undefined || second === undefined) return segments;
  const words = content.filter(({ end }) => end <= first.end);
  return words.length === 1 && AND.test(text.slice(second.start, second.start + 4))
    ? [{ start: first.start, end: second.end }, ...others]
    : segments;
}
const AND = /^(?:and|und|et|y|e)[ \u00A0]/iu;

const statementsOf = (text: string): TextSpan[] => {
  const found: TextSpan[] = [];
  let start = 0;
  for (const { index } of text.matchAll(/[;；](?=\s)/gu)) {
    found.push({ start, end: index });
    start = index + 1;
  }
  return [...found, { start, end: text.length }];
};

/** "Gesine booked the rooms, Malte the tickets": a name stands in a clause with none of what is said of it. */
export function compareGapped(pair: Pair): Finding | null {
  const { claim, unit, met } = pair;
  if (unit.kind === "row" || claim.segments.length > 1 || claim.language === "japanese")
    return null;
  const segments = unit.segments();
  if (segments.length < 2) return null;
  const placed = met.filter(({ places }) => places.length > 0);
  // A word that stands in several clauses tells none of them.
  const [first, second, ...more] = placed.filter((one) => onlySegment(one, pair, segments));
  if (more.length === 0 && isParted(first, second, pair))
    return rival(`${second?.term.word ?? ""} stands in another clause`);
  for (const one of placed) {
    if (!/^\p{Lu}/u.test(claim.text.slice(one.term.start, one.term.end))) continue;
    const own = onlySegment(one, pair, segments);
    if (own === undefined) continue;
    const others = placed.filter((other) => other !== one);
    if (others.length < 2 || others.some((other) => isIn(other, own, pair))) continue;
    const rest = segments.find(
      (segment) => segment !== own && others.every((other) => isIn(other, segment, pair)),
    );
    if (rest === undefined || !hasOther(own, pair) || !hasOtherName(rest, pair)) continue;
    return rival(`${one.term.word} stands in another clause`);
  }
  return null;
}

/** "The impeller is of brass, the seal of Viton": each of two words stands in a clause that says something else of it. */
function isParted(one: Met | undefined, other: Met | undefined, pair: Pair): boolean {
  if (one === undefined || other === undefined) return false;
  const segments = pair.unit.segments();
  const [own, rest] = [one, other].map((each) => onlySegment(each, pair, segments));
  if (own === undefined || rest === undefined || own === rest) return false;
  return hasOther(own, pair) && hasOther(rest, pair);
}

function onlySegment(
  { places }: Met,
  { unit }: Pair,
  segments: readonly TextSpan[],
): TextSpan | undefined {
  const at = new Set(places.map((place) => segmentAt(segments, unit.terms[place]?.start ?? -1)));
  return at.size === 1 ? segments[[...at][0] ?? -1] : undefined;
}

const isIn = ({ places }: Met, { start, end }: TextSpan, { unit }: Pair): boolean =>
  places.some((place) => {
    const at = unit.terms[place]?.start ?? -1;
    return at >= start && at < end;
  });

const newIn = ({ start, end }: TextSpan, { claim, unit }: Pair): Term[] =>
  unit.terms.filter(
    (term) =>
      term.isContent &&
      term.start >= start &&
      term.end <= end &&
      !claim.terms.some(({ stem }) => stem === term.stem),
  );
const hasOther = (part: TextSpan, pair: Pair): boolean => newIn(part, pair).length > 0;
const hasOtherName = (part: TextSpan, pair: Pair): boolean =>
  newIn(part, pair).some(
    (term) =>
      /^\p{Lu}/u.test(pair.unit.text.slice(term.start, term.end)) &&
      !overlapsAny(term, pair.unit.figures()),
  );

/** "The insurance paid", where the sentence says that it did not pay: the word behind a denial is not denied in the claim. */
export function compareDeniedWords(pair: Pair): Finding | null {
  const { claim, unit, met } = pair;
  if (claim.language !== unit.language || claim.language === "japanese") return null;
  const denials = unit.cues().filter(({ name }) => name === "not");
  if (denials.length === 0) return null;
  const segments = unit.segments();
  const deniedClauses = new Set(denials.map(({ start }) => segmentAt(segments, start)));
  const deniedTerms = new Set(
    denials.map(({ end }) => unit.terms.find((term) => term.isContent && term.start >= end)),
  );
  const ofClaim = claim.cues.filter(({ name }) => name === "not");
  const denyingClauses = new Set(ofClaim.map(({ start }) => segmentAt(claim.segments, start)));
  const denied = met.find(
    ({ term, places }) =>
      !term.isLight &&
      !denyingClauses.has(segmentAt(claim.segments, term.start)) &&
      places.some((place) => deniedTerms.has(unit.terms[place])) &&
      places.every((place) =>
        deniedClauses.has(segmentAt(segments, unit.terms[place]?.start ?? -1)),
      ),
  );
  if (denied === undefined || comparePolarity(pair) !== null) return null;
  return { grade: "partly", reason: "polarity", detail: `"${denied.term.word}" is denied there` };
}

const HAN_WORD = /[\p{Script=Han}々]{2,4}(?=[がはをのにもとで、。])/gu;

/** 湯川 where the sentence has 湯浅: a word that stands nowhere begins as one that the claim lacks. */
export function compareAlike({ claim, unit, cited }: Pair): Finding | null {
  if (claim.language !== "japanese" || unit.language !== "japanese") return null;
  const held = [...unit.text.matchAll(HAN_WORD)].map(([word]) => word);
  for (const [word] of claim.text.matchAll(HAN_WORD)) {
    if (cited.some((piece) => piece.block.text.includes(word))) continue;
    const other = held.find(
      (one) => one.length === word.length && one[0] === word[0] && !claim.text.includes(one),
    );
    if (other !== undefined)
      return { grade: "partly", reason: "name", detail: `${word}, ${other}` };
  }
  return null;
}
