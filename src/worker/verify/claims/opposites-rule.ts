import type { TextSpan } from "../../text/spans.ts";
import { oppositesIn } from "../../text/opposites.ts";
import type { Cue } from "./find-cues.ts";
import { wordsIn } from "./pair.ts";
import type { Finding, Met, Pair } from "./pair.ts";
import { segmentAt } from "./segments.ts";

const isOfTime = ({ name }: Cue): boolean => name === "before" || name === "after";

/** Finds two opposites, one in the claim and the other in the sentence. */
export function compareOpposites(pair: Pair): Finding | null {
  const { claim, unit } = pair;
  if (claim.language !== unit.language) return null;
  const opposites = oppositesIn(claim.language ?? "english");
  if (claim.language === "japanese") {
    for (const [one, others] of opposites) {
      if (!claim.text.includes(one) || unit.text.includes(one)) continue;
      const other = others.find((word) => unit.text.includes(word) && !claim.text.includes(word));
      if (other !== undefined) return { reason: "opposite", detail: `${one} against ${other}` };
    }
    return null;
  }
  const said = new Set(claim.terms.map(({ word }) => word));
  const held = new Set(unit.terms.map(({ word }) => word));
  for (const word of said) {
    if (held.has(word)) continue;
    const other = opposites
      .get(word)
      ?.find((opposite) => held.has(opposite) && !said.has(opposite));
    if (other !== undefined && !isSameInReverse(pair, word, other)) {
      return { reason: "opposite", detail: `"${word}" against "${other}"` };
    }
  }
  return null;
}

function isSameInReverse(pair: Pair, word: string, other: string): boolean {
  const ofClaim = pair.claim.cues.find((cue) => cue.word === word && isOfTime(cue));
  const ofUnit = pair.unit.cues().find((cue) => cue.word === other && isOfTime(cue));
  return ofClaim !== undefined && ofUnit !== undefined && isReversed(pair, ofClaim, ofUnit);
}

/** Whether the claim says "Y after X" and the sentence "X before Y", which agree. */
function isReversed(pair: Pair, ofClaim: Cue, ofUnit: Cue): boolean {
  if (ofClaim.name === ofUnit.name) return false;
  const { inside, outside } = countComplements(pair, ofClaim, ofUnit);
  return outside > 0 && inside === 0;
}

/** Of the claim's words behind its cue that the unit holds: how many are behind the unit's cue, and how many are not. */
function countComplements(
  pair: Pair,
  ofClaim: Cue,
  ofUnit: Cue,
): { readonly inside: number; readonly outside: number } {
  const { claim, unit, met } = pair;
  const said = complementOf(ofClaim, claim.segments);
  const held = complementOf(ofUnit, unit.segments());
  const places = met.filter(
    ({ term, places: all }) => all.length > 0 && term.start >= said.start && term.start < said.end,
  );
  const isWithin = ({ places: all }: Met): boolean =>
    all.some((place) => {
      const at = unit.terms[place]?.start ?? -1;
      return at >= held.start && at < held.end;
    });
  const inside = places.filter(isWithin).length;
  const isEmpty = wordsIn(held, pair).size === 0;
  return { inside, outside: isEmpty ? 0 : places.length - inside };
}

/** The span from a cue to the end of its segment. */
function complementOf({ start, end }: Cue, segments: readonly TextSpan[]): TextSpan {
  const own = segments[segmentAt(segments, start)];
  const next =
    own === undefined || end < own.end ? own : segments.find((segment) => segment.start >= end);
  return { start: end, end: next?.end ?? end };
}
