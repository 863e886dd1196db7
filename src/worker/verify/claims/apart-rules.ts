import { polarityOf } from "./polarity.ts";
import type { Finding, Pair } from "./pair.ts";
import { segmentAt } from "./segments.ts";
import type { Term } from "./terms.ts";

const isNextTo = (one: Term, next: Term, text: string): boolean =>
  next.start >= one.end && /^[ \u00A0]$/u.test(text.slice(one.end, next.start));

/**
 * Finds "Odile proposed" where the sentence says "Tom proposed": another name stands before the same word. A name begins with a
 * capital letter, and the piece never writes it without one.
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
    return { reason: "subject", detail: `${other.word} ${term.word}, and not ${own.word}` };
  }
  return null;
}

/** Finds "The insurance paid" where the sentence says that it did not pay: the claim does not deny the denied word. */
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
  if (denied === undefined || polarityOf(pair).kind !== "alike") return null;
  return { reason: "polarity", detail: `"${denied.term.word}" is denied there` };
}
