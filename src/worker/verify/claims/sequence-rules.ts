import type { TextSpan } from "../../text/spans.ts";
import { OPPOSITES } from "../../text/opposites.ts";
import { foldWord } from "../../../shared/normalise-text.ts";
import { doubt, ruleOf } from "./cue-rules.ts";
import type { CueClass } from "./cues/cue-list.ts";
import type { Cue } from "./cues/find-cues.ts";
import { claimCues, wordsIn } from "./pair.ts";
import type { Finding, Met, Pair } from "./pair.ts";
import { isOnlyForExcept, isPlain, LEAST_OF_CLAIM } from "./polarity.ts";
import { segmentAt } from "./segments.ts";
import type { Term } from "./terms.ts";

const compareMoments = ruleOf(["before", "after", "first", "last", "instead"], "claim");
/** What opens the next step: "leave it for five hours at 24 °C, then put it into the fridge". */
const THEN: ReadonlySet<string> = new Set(
  "then|afterwards|subsequently|thereafter|dann|danach|anschliessend|daraufhin|puis|ensuite|luego|despues".split(
    "|",
  ),
);

const isOfTime = ({ name }: Cue): boolean => name === "before" || name === "after";

export const compareSequence = (pair: Pair): Finding | null =>
  compareMoments(pair) ?? compareSteps(pair);

/** Words of two steps, of which the claim makes one. */
function compareSteps(pair: Pair): Finding | null {
  const { unit, claim } = pair;
  if (unit.kind === "row" || claim.segments.length > 1) return null;
  if (claim.cues.some(isOfTime)) return null;
  const step = unit.cues().find(({ name, word }) => name === "after" && THEN.has(word));
  if (step === undefined) return null;
  const before = wordsIn({ start: 0, end: step.start }, pair);
  const behind = wordsIn({ start: step.end, end: unit.text.length }, pair);
  const isIn = (term: Term, words: ReadonlySet<Term>, others: ReadonlySet<Term>): boolean =>
    words.has(term) && !others.has(term) && !term.isLight;
  const own = claim.content.filter((term) => isIn(term, before, behind));
  const next = claim.content.filter((term) => isIn(term, behind, before));
  return own.length > 1 && next.length > 0 && (next[0]?.start ?? 0) > (own[0]?.start ?? 0)
    ? doubt(`"${step.word}" stands between them there`)
    : null;
}

/** One of two opposites stands in the claim, the other in the sentence. */
export function compareOpposites(pair: Pair): Finding | null {
  const { claim, unit } = pair;
  if (claim.language !== unit.language) return null;
  const opposites = OPPOSITES[claim.language ?? "english"];
  if (claim.language === "japanese") {
    for (const [one, others] of opposites) {
      if (!claim.text.includes(one) || unit.text.includes(one)) continue;
      const other = others.find((word) => unit.text.includes(word) && !claim.text.includes(word));
      if (other !== undefined) return doubt(`${one} against ${other}`);
    }
    return null;
  }
  const said = new Set(claim.terms.map(({ word }) => word));
  const held = new Set(unit.terms.map(({ word }) => word));
  const near = nearestWords(pair);
  for (const word of said) {
    if (near.has(word)) continue;
    const where = held.has(word) ? near : held;
    const other = opposites
      .get(word)
      ?.find((opposite) => where.has(opposite) && !said.has(opposite));
    if (other !== undefined && !isTurned(pair, word, other)) {
      const isHard =
        pair.share >= LEAST_OF_CLAIM &&
        !held.has(word) &&
        !unit.cues().some((cue) => cue.name === "not" && isPlain(cue)) &&
        !isOnlyForExcept(pair) &&
        !(comparesBy(word, claim.text) && comparesBy(other, unit.text));
      return {
        grade: isHard ? "unsupported" : "partly",
        reason: "cue",
        detail: `"${word}" against "${other}"`,
      };
    }
  }
  return null;
}

/** "Larger than": of two things that are compared either may come first. */
function comparesBy(word: string, text: string): boolean {
  const folded = foldWord(text);
  return ["than", "als", "que"].some((than) => folded.includes(`${word} ${than} `));
}

function isTurned(pair: Pair, word: string, other: string): boolean {
  const ofClaim = pair.claim.cues.find((cue) => cue.word === word && isOfTime(cue));
  const ofUnit = pair.unit.cues().find((cue) => cue.word === other && isOfTime(cue));
  return ofClaim !== undefined && ofUnit !== undefined && isToldFromTheEnd(pair, ofClaim, ofUnit);
}

/** "Y after X", where the sentence says "X before Y". */
function isToldFromTheEnd(pair: Pair, ofClaim: Cue, ofUnit: Cue): boolean {
  if (ofClaim.name === ofUnit.name) return false;
  const { inside, outside } = complements(pair, ofClaim, ofUnit);
  return outside > 0 && inside === 0;
}

/** The words of the clause that holds most of the claim. */
function nearestWords(pair: Pair): ReadonlySet<string> {
  const { unit } = pair;
  const [best] = unit
    .segments()
    .map((segment) => ({ segment, count: wordsIn(segment, pair).size }))
    .sort((one, other) => other.count - one.count);
  const { start, end } = best?.segment ?? { start: 0, end: 0 };
  return new Set(
    unit.terms.filter((term) => term.start >= start && term.end <= end).map(({ word }) => word),
  );
}

/** Words of which what follows is the effect or the later; what follows the others is the cause or the earlier. */
const EFFECT_FOLLOWS: ReadonlySet<string> = new Set(
  "therefore|thus|hence|consequently|so|so we|so it|so they|so the|so he|so she|so that|why|led to|leads to|brought about|caused|causes|results|result|resulted|triggered|makes|made|make|explains|explained|responsible|deshalb|daher|darum|deswegen|dadurch|sodass|so dass|fuhrte|fuhrten|verursachte|verursacht|bewirkte|bewirkt|donc|c est pourquoi|si bien|entraine|entraina|provoque|provoqua|then|afterwards|subsequently|thereafter|dann|danach|anschliessend|daraufhin|nachher|puis|ensuite|luego|entonces|provoco|causo|origino|por eso|por ello|asi que|por lo que|por tanto|llevo a".split(
    "|",
  ),
);
const DIRECTED: readonly CueClass[] = ["cause", "before", "after", "instead", "than"];

/** What follows "because", "after" or "than" in the claim follows it in the sentence. */
export function compareDirection(pair: Pair): Finding | null {
  for (const name of DIRECTED) {
    for (const ofClaim of claimCues(pair, name)) {
      for (const ofUnit of pair.unit.cues()) {
        if (isBeforeNext(pair, ofClaim, ofUnit))
          return doubt(`what follows "${ofClaim.word}" does not follow "${ofUnit.word}"`);
        if (ofUnit.name !== name) continue;
        const isTurned = EFFECT_FOLLOWS.has(ofUnit.word) !== EFFECT_FOLLOWS.has(ofClaim.word);
        if (isTurned ? isRepeated(pair, ofClaim, ofUnit) : isInverted(pair, ofClaim, ofUnit))
          return doubt(`what follows "${ofClaim.word}" stands on the other side`);
      }
    }
  }
  return null;
}

/** "Before X" in the claim, and in the sentence "X, then Y": what comes later follows both. */
function isBeforeNext(pair: Pair, ofClaim: Cue, ofUnit: Cue): boolean {
  if (ofClaim.name !== "before" || ofUnit.name !== "after" || !THEN.has(ofUnit.word)) return false;
  const { inside, outside } = complements(pair, ofClaim, ofUnit);
  return outside > 0 && inside === 0;
}

/** None of what follows the cue of the claim follows that of the unit. */
function isInverted(pair: Pair, ofClaim: Cue, ofUnit: Cue): boolean {
  const { outside, inside } = complements(pair, ofClaim, ofUnit);
  return ofClaim.name === "cause" ? outside > inside : outside > 0 && inside === 0;
}

/** The cue of the one is followed by the effect, of the other by the cause, and the same words follow both. */
function isRepeated(pair: Pair, ofClaim: Cue, ofUnit: Cue): boolean {
  const { outside, inside } = complements(pair, ofClaim, ofUnit);
  return inside > 0 && outside === 0;
}

/** Of the words that follow the cue of the claim and stand in the unit, how many follow its cue, and how many don't. */
function complements(
  pair: Pair,
  ofClaim: Cue,
  ofUnit: Cue,
): { readonly inside: number; readonly outside: number } {
  const { claim, unit, met } = pair;
  const said = complementOf(ofClaim, claim.segments, claim.terms);
  const held = complementOf(ofUnit, unit.segments(), unit.terms);
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

/** What these govern ends before the verb. */
const PREPOSITIONS: ReadonlySet<string> = new Set(
  "due to|owing to|on account of|thanks to|wegen|aufgrund|infolge|dank|a cause de|en raison|grace|faute de|suite a|a causa|debido|gracias".split(
    "|",
  ),
);

/** From a cue to the end of its segment. */
function complementOf(
  { start, end, word }: Cue,
  segments: readonly TextSpan[],
  terms: readonly Term[],
): TextSpan {
  const own = segments[segmentAt(segments, start)];
  const next =
    own === undefined || end < own.end ? own : segments.find((segment) => segment.start >= end);
  const whole = { start: end, end: next?.end ?? end };
  const isFirst =
    own !== undefined &&
    !terms.some((term) => term.start >= own.start && term.end <= start && term.isContent);
  if (!PREPOSITIONS.has(word) || !isFirst) return whole;
  const verb = terms.find((term) => term.start >= end && term.end <= whole.end && term.isLight);
  return { start: end, end: verb?.start ?? whole.end };
}
