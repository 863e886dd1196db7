import type { TextSpan } from "../../text/spans.ts";
import type { CueClass } from "./cues/cue-list.ts";
import type { Cue } from "./cues/find-cues.ts";
import type { ClaimFigure } from "./figures.ts";
import { alignedCues, claimCues, wordsIn } from "./pair.ts";
import type { Finding, Pair } from "./pair.ts";
import { isOnlyForExcept, isPlain } from "./polarity.ts";
import { STOPS } from "./segments.ts";
import { laterVerb } from "./tense-rules.ts";

export const doubt = (detail: string): Finding => ({ grade: "partly", reason: "cue", detail });

/** Whether a cue of the claim may stand anywhere in the sentence. */
type Within = "clause" | "sentence";
/** A cue that only the claim has, or only the sentence. */
type Side = "claim" | "unit" | "either";
type Differing = { readonly side: Side; readonly within: Within };

function differing(
  pair: Pair,
  names: readonly CueClass[],
  { side, within }: Differing,
): string | null {
  for (const name of names) {
    const ofClaim = claimCues(pair, name);
    const ofUnit = alignedCues(pair, name);
    const inUnit =
      within === "clause" ? ofUnit : pair.unit.cues().filter((cue) => cue.name === name);
    if (side !== "unit" && ofClaim.length > 0 && inUnit.length === 0)
      return ofClaim[0]?.word ?? name;
    if (side !== "claim" && ofUnit.length > 0 && ofClaim.length === 0)
      return ofUnit[0]?.word ?? name;
  }
  return null;
}

export const ruleOf =
  (names: readonly CueClass[], side: Side, within: Within = "sentence") =>
  (pair: Pair): Finding | null => {
    const word = differing(pair, names, { side, within });
    return word === null ? null : doubt(`"${word}" stands on one side alone`);
  };

const compareRestricted = ruleOf(["some", "often", "except", "condition"], "either");
const IF = /^(?:if|unless|provided|wenn|falls|sofern|si|s il|es sei denn|a moins|a menos)$/u;

/** A restriction stands on both sides; so does a condition, which is a clause of its own. */
export function compareRestriction(pair: Pair): Finding | null {
  const unlike = toldApart(pair);
  if (unlike !== null) return unlike;
  const condition = cuesAbout(pair, "condition").find(({ word }) => IF.test(word));
  if (isOnlyIf(pair)) return null;
  if (condition !== undefined && claimCues(pair, "condition").length === 0) {
    return doubt(`"${condition.word}" stands on one side alone`);
  }
  const group = grantedGroup(pair);
  if (group !== null) return doubt(`"${group}" stands on one side alone`);
  const exception = cuesAbout(pair, "except")[0];
  if (exception !== undefined && claimCues(pair, "except").length === 0 && !isOnlyForExcept(pair)) {
    return doubt(`"${exception.word}" stands on one side alone`);
  }
  return compareRestricted(pair);
}

/** What is granted, and behind it to whom: "free for members", "gratuite pour les moins de 12 ans". */
const GRANTED =
  /(?<!\p{L})(?:free(?: of charge)?|gratis|kostenlos|kostenfrei|frei|gratuite?s?|gratuit[oa]s?|allowed|permitted|erlaubt|gestattet|autorisée?s?|permitid[oa]s?)[ \u00A0](?<group>(?:for|to|für|pour|aux|para)[ \u00A0][^,.;:()]{2,60})/iu;

/** The group that the claim leaves out, though it says what is granted; null where it names somebody of it. */
function grantedGroup(pair: Pair): string | null {
  const { unit, claim } = pair;
  const match = GRANTED.exec(unit.text);
  const group = match?.groups?.["group"];
  if (match === null || group === undefined) return null;
  const end = match.index + match[0].length;
  const granted = { start: match.index, end: end - group.length };
  const whom = { start: granted.end, end };
  const isWithin = ({ start }: TextSpan, part: TextSpan): boolean =>
    start >= part.start && start < part.end;
  const isMet = (part: TextSpan): boolean =>
    wordsIn(part, pair).size > 0 ||
    unit
      .figures()
      .some((one) => isWithin(one, part) && claim.figures.some(({ base }) => base === one.base));
  const names = unit.terms.some((term) => term.isContent && isWithin(term, whom));
  return names && isMet(granted) && !isMet(whom) ? group.trim() : null;
}

const UNLIKE =
  /(?<!\p{L})(?:unlike|in contrast to|anders als|im gegensatz zu[mr]?|contrairement (?:à|au|aux)|à la différence d(?:e|u|es)|a diferencia de(?:l)?)(?!\p{L})/iu;

/** "Unlike the ferry, the bus runs on Sundays": what is told of the bus is not told of the ferry. */
function toldApart({ unit, claim, met }: Pair): Finding | null {
  const match = UNLIKE.exec(unit.text);
  if (match === null || UNLIKE.test(claim.text)) return null;
  const at = unit.terms.findIndex(
    ({ start, isContent }) => isContent && start >= match.index + match[0].length,
  );
  const other = unit.terms[at];
  return other !== undefined && met.some(({ places }) => places.includes(at))
    ? doubt(`${other.word} is told apart there`)
    : null;
}

/** "Only if you take a course", where the sentence says "for courses only". */
const isOnlyIf = (pair: Pair): boolean =>
  alignedCues(pair, "only").length > 0 &&
  claimCues(pair, "only").some(({ end }) =>
    claimCues(pair, "condition").some(({ start }) => start === end + 1),
  );

const BOUNDS: readonly CueClass[] = ["atLeast", "atMost", "over", "under"];
const READ_AS: Readonly<Partial<Record<CueClass, ClaimFigure["precision"]>>> = {
  over: "above",
  under: "below",
};
/** Bounds that are ones without a figure, too: "at least half". */
const LOOSE =
  /^(?:at least|at most|no (?:more|less|fewer) than|mindestens|wenigstens|hochstens|au moins|au plus|al menos|por lo menos|como (?:maximo|minimo))$/u;
/** "A grant from the county" */
const PLACING: ReadonlySet<string> = new Set(["from", "within", "ab", "a partir", "desde"]);
const MOST_CHARS_TO_FIGURE = 12;

/** "Over 18" is no "18": a bound beside a figure of the claim stands on both sides. */
export function compareBound(pair: Pair): Finding | null {
  const { claim, unit } = pair;
  const stated = claim.figures.filter(({ isSoft }) => !isSoft);
  const same = unit
    .figures()
    .filter(({ offers }) => stated.some(({ asks }) => asks.some((one) => offers.includes(one))));
  const ofClaim = boundsAt(claim.cues, stated, claim.text);
  const ofUnit = boundsAt(unit.cues(), same, unit.text);
  const loose = claim.cues.find(
    ({ name, word }) =>
      LOOSE.test(word) &&
      BOUNDS.includes(name) &&
      !ofClaim.some((cue) => cue.name === name) &&
      !unit.cues().some((cue) => cue.name === name && !PLACING.has(cue.word)),
  );
  if (loose !== undefined) return doubt(`"${loose.word}" stands on one side alone`);
  const word = BOUNDS.flatMap((name) => {
    const one = ofClaim.find((cue) => cue.name === name);
    const other = ofUnit.find((cue) => cue.name === name);
    if ((one === undefined) === (other === undefined)) return [];
    // "Over 60" is read with its figure.
    if (one === undefined && stated.some(({ precision }) => precision === READ_AS[name])) return [];
    const isApart =
      one === undefined
        ? claim.cues.some((cue) => cue.name === name && !PLACING.has(cue.word))
        : alignedCues(pair, name).some((cue) => !PLACING.has(cue.word));
    return isApart ? [] : [(one ?? other)?.word ?? name];
  })[0];
  return word === undefined ? boundOfWord(pair) : doubt(`"${word}" stands on one side alone`);
}

/** "Members over 60", of which the claim says "members": a bound behind a word narrows it down. */
function boundOfWord(pair: Pair): Finding | null {
  const { unit, claim, met } = pair;
  const places = new Set(met.flatMap((one) => one.places));
  const narrowed = [...alignedCues(pair, "over"), ...alignedCues(pair, "under")].find((cue) => {
    const before = unit.terms.findLastIndex(({ end }) => end < cue.start);
    const figure = unit.figures().find(({ start }) => start > cue.end && start <= cue.end + 2);
    return (
      figure !== undefined &&
      places.has(before) &&
      /^[ \u00A0]$/u.test(unit.text.slice(unit.terms[before]?.end ?? 0, cue.start)) &&
      !claim.figures.some(({ base }) => base === figure.base)
    );
  });
  return narrowed === undefined ? null : doubt(`"${narrowed.word}" stands on one side alone`);
}

/** The bounds beside figures, with nothing between that parts clauses; the "from" of a range is none. */
const boundsAt = (
  cues: readonly Cue[],
  figures: readonly TextSpan[],
  text: string,
): readonly Cue[] =>
  cues.filter(
    ({ name, start, end, word }) =>
      BOUNDS.includes(name) &&
      figures.some(
        (figure) =>
          (isBeside(text.slice(end, figure.start)) &&
            end <= figure.start &&
            !isRange(text, figure) &&
            !(PLACING.has(word) && CHANGE.test(text.slice(figure.end, figure.end + 60)))) ||
          (isBeside(text.slice(figure.end, start)) &&
            start >= figure.end &&
            !PLACING.has(word) &&
            !isBeforeOnly(name, word)),
      ),
  );

/** "18 trees under a condition": these bound what follows them. */
const isBeforeOnly = (name: CueClass, word: string): boolean =>
  (name === "over" || name === "under") && !word.includes(" ");

const isBeside = (between: string): boolean =>
  between.length < MOST_CHARS_TO_FIGURE && !/[;|.\d]|, /.test(between);

/** "From 41.2 in 2024 to 38.6" */
const CHANGE = /^[^.;]{0,30}\s(?:to|bis|auf|à|a|hasta)\s[^.;]{0,25}\d/u;
const RANGE =
  /^[ \u00A0]?(?:–|-|—|to|until|till|through|bis|à|au|jusqu|a|al|hasta)[ \u00A0'’].{0,12}\d/u;
const isRange = (text: string, { end }: TextSpan): boolean => RANGE.test(text.slice(end, end + 30));

/** The cues of a kind in the statements of the unit that the claim is about, and what stands before a colon, for all of them. */
function cuesAbout({ unit, aligned }: Pair, name: CueClass): readonly Cue[] {
  const cues = unit.cues().filter((cue) => cue.name === name);
  if (cues.length === 0) return cues;
  const stops = [...unit.text.matchAll(STOPS)].map(({ index }) => index);
  const statementAt = (offset: number): number => stops.filter((stop) => stop < offset).length;
  const about = new Set(
    unit.segments().flatMap(({ start }, at) => (aligned.has(at) ? [statementAt(start + 1)] : [])),
  );
  return cues.filter(
    ({ start, end }) => about.has(statementAt(start)) || unit.text.slice(end).includes(":"),
  );
}

/** A plan stays one: what the whole sentence says of it counts, also behind a colon. */
export function comparePlan(pair: Pair): Finding | null {
  for (const name of ["plan", "maybe"] as const) {
    const [ofClaim] = claimCues(pair, name);
    const [ofUnit] = cuesAbout(pair, name);
    if ((ofClaim === undefined) === (ofUnit === undefined)) continue;
    if (isPermitted(ofClaim, pair.unit.cues()) || isPermitted(ofUnit, pair.claim.cues)) continue;
    if (ofClaim !== undefined && isForbidden(ofClaim, pair)) continue;
    return doubt(`"${(ofClaim ?? ofUnit)?.word ?? ""}" stands on one side alone`);
  }
  const planned = claimCues(pair, "plan");
  const certain = planned.find(({ word }) => CERTAIN.has(word));
  if (certain !== undefined && !planned.some(({ word }) => SUGGESTED.has(word))) {
    const suggested = cuesAbout(pair, "plan").find(({ word }) => SUGGESTED.has(word));
    if (suggested !== undefined) return doubt(`"${suggested.word}" is no "${certain.word}"`);
  }
  const later = planned.length === 0 ? laterVerb(pair) : null;
  return later === null ? null : doubt(`"${later}" is still to come`);
}

/** Cues of what somebody would like, and of what will be. */
const SUGGESTED: ReadonlySet<string> = new Set(
  "proposes|proposed|propose|suggests|suggested|proposal|considering|hopes|hoped|would like|wants|vorschlag|vorgeschlagen|mochte|mochten|erwagt|hofft|proposee|proposition|envisage|souhaite|souhaitent|espere|voudrait|propone|proponen|propuesta|propuesto|quiere|quieren|espera|esperan".split(
    "|",
  ),
);
const CERTAIN: ReadonlySet<string> = new Set(
  "will|is to|are to|to be|scheduled|planned|wird|geplant|vorgesehen|sera|seront|fera|feront|aura|auront|prevu|prevue|hara|seran|tendra|previsto|prevista|va a|van a".split(
    "|",
  ),
);

/** "May" permits, where the other side permits, asks for or forbids. */
const isPermitted = (cue: Cue | undefined, others: readonly Cue[]): boolean =>
  cue?.word === "may" &&
  others.some(
    ({ name, word }) =>
      name === "can" || name === "must" || name === "atMost" || FORBIDDEN.has(word),
  );
/** "Should not be announced", where the sentence says "do not announce": it is no plan. */
const isForbidden = ({ word }: Cue, pair: Pair): boolean =>
  OBLIGING.has(word) &&
  claimCues(pair, "not").some(isPlain) &&
  alignedCues(pair, "not").some(isPlain);
const OBLIGING: ReadonlySet<string> = new Set(
  "should|is to|are to|soll|sollte|sollten|sollen".split("|"),
);
const FORBIDDEN: ReadonlySet<string> = new Set(["forbidden", "prohibited", "banned"]);

export const compareCause = ruleOf(["cause"], "claim", "clause");
const compareCompared = ruleOf(["than", "extreme"], "claim");

/** "Warmer than 8 °C" is a bound, and compares nothing. */
export function compareComparison(pair: Pair): Finding | null {
  const { claim } = pair;
  const cues = claim.cues.filter(
    ({ name, end }) =>
      name !== "than" || !claim.figures.some(({ start }) => start >= end && start <= end + 3),
  );
  return compareCompared({ ...pair, claim: { ...claim, cues } }) ?? compareAmount(pair);
}

/** These set two amounts beside each other, and do not say which is more. */
const BESIDE: ReadonlySet<string> = new Set(
  "compared|comparison|gegenuber|verglichen|im vergleich|contre|compare|comparaison|rapport|comparacion|comparado|frente|respecto|比べ|対して".split(
    "|",
  ),
);

/** "More than last year", where the sentence says "14, against 22". */
function compareAmount(pair: Pair): Finding | null {
  const said = claimCues(pair, "than").find(({ word }) => !BESIDE.has(word));
  const held = pair.unit.cues().filter(({ name }) => name === "than");
  if (said === undefined || held.length === 0 || held.some(({ word }) => !BESIDE.has(word)))
    return null;
  return doubt(`"${said.word}", where the sentence has "${held[0]?.word ?? ""}" alone`);
}
