import type { CueClass } from "./cues/cue-list.ts";
import { OPPOSITES } from "../../text/opposites.ts";
import type { Cue } from "./cues/find-cues.ts";
import { alignedCues, claimCues, wordsIn } from "./pair.ts";
import { ratesIn } from "./figure-words.ts";
import type { ClaimFigure } from "./figures.ts";
import { measureAt } from "./measures.ts";
import type { Finding, Met, Pair } from "./pair.ts";
import { foldWord } from "../../../shared/normalise-text.ts";
import { isOnlyForExcept, isPlain, LEAST_OF_CLAIM } from "./polarity.ts";
import { segmentAt, STOPS } from "./segments.ts";
import type { Term } from "./terms.ts";
import type { TextSpan } from "../../text/spans.ts";

const doubt = (detail: string): Finding => ({ grade: "partly", reason: "cue", detail });

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

const ruleOf =
  (names: readonly CueClass[], side: Side, within: Within = "sentence") =>
  (pair: Pair): Finding | null => {
    const word = differing(pair, names, { side, within });
    return word === null ? null : doubt(`"${word}" stands on one side alone`);
  };

const compareQuantities = ruleOf(["all", "only", "most"], "either");

/** "Only 30 minutes", "three of each": beside a figure these say how much it is, and not of what. */
export const compareQuantifier = (pair: Pair): Finding | null =>
  everyNth(pair) ??
  everyDay(pair) ??
  otherDays(pair) ??
  nearlyAll(pair) ??
  shareOfNone(pair) ??
  compareQuantities(withoutMeasuring(pair));

const NEARLY =
  /(?<!\p{L})(?:almost|nearly|virtually|practically|fast|nahezu|beinahe|presque|quasiment|casi|prácticamente)[ \u00A0]$/iu;
const MOST_NEARLY_CHARS = 16;

/** "Almost all" is not all. */
function nearlyAll(pair: Pair): Finding | null {
  const isNearly = ({ text }: { readonly text: string }, { start }: Cue): boolean =>
    NEARLY.test(text.slice(Math.max(0, start - MOST_NEARLY_CHARS), start));
  const [said, held] = [claimCues(pair, "all"), alignedCues(pair, "all")];
  if (said.length === 0 || held.length === 0) return null;
  const isSaid = said.some((cue) => isNearly(pair.claim, cue));
  const isHeld = held.some((cue) => isNearly(pair.unit, cue));
  return isSaid === isHeld ? null : doubt('"almost all" stands on one side alone');
}

/** So much of a share it may be off: "about a third" is 3 of 10, too. */
const MOST_OFF = 0.02;
const MOST_OFF_ABOUT = 0.15;
/** Each is held against each other one. */
const MOST_NUMBERS = 100;
/** "A minute and a quarter" */
const AND_A = /(?<!\p{L})(?:and|und|et|y)[ \u00A0]$/iu;

/** "More than half", where no figure of the sentence is such a share, and no two of them make it. */
function shareOfNone({ claim, unit }: Pair): Finding | null {
  if (claim.language !== unit.language) return null;
  const numbers = unit
    .figures()
    .filter(({ kind, base }) => kind === "number" && base > 0)
    .slice(0, MOST_NUMBERS);
  const isLike = (share: number, wanted: number, precision: ClaimFigure["precision"]): boolean =>
    precision === "above"
      ? share > wanted
      : precision === "below"
        ? share < wanted
        : Math.abs(share - wanted) <= (precision === "about" ? MOST_OFF_ABOUT : MOST_OFF) * wanted;
  const missing = claim.figures.find(
    ({ isSoft, measure, base, precision, start }) =>
      isSoft &&
      !AND_A.test(claim.text.slice(0, start)) &&
      measure?.dimension === "percent" &&
      numbers.length > 0 &&
      !numbers.some((one) => one.measure?.dimension === "percent") &&
      !numbers.some((one) =>
        numbers.some(
          (other) =>
            other.base > one.base && isLike((100 * one.base) / other.base, base, precision),
        ),
      ),
  );
  return missing === undefined || unit.cues().some(({ name }) => name === "most" || name === "some")
    ? null
    : doubt(`"${missing.text}" stands on one side alone`);
}

/** "Every Sunday", where the sentence tells of one. */
function everyDay(pair: Pair): Finding | null {
  const { claim, unit } = pair;
  if (claim.language !== unit.language || unit.kind === "row") return null;
  const cue = claim.cues.find(
    ({ word, end }) =>
      SHARING.has(word) &&
      claim.figures.some(({ start, offers }) => start === end + 1 && offers.some(isDay)),
  );
  const isRegularThere =
    unit.cues().some(({ word }) => SHARING.has(word) || ALWAYS.has(word)) ||
    REGULAR_DAY.test(unit.text);
  const isHeld = unit.figures().some(({ offers }) => offers.some(isDay));
  return cue !== undefined && isHeld && !isRegularThere
    ? doubt(`"${cue.word}" stands on one side alone`)
    : null;
}
const ALWAYS: ReadonlySet<string> = new Set(["always", "immer", "toujours", "siempre"]);
/** "On Sundays", "montags", "le lundi", "los lunes" */
const REGULAR_DAY =
  /(?<!\p{L})(?:\p{L}+days|\p{L}+tags|mittwochs|les?[ \u00A0](?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)s?|los[ \u00A0]\p{L}+)(?!\p{L})/iu;

const isDay = (offer: string): boolean => /^w:\d$/.test(offer);

/** "Every day", where the sentence names Tuesday and Thursday. */
function otherDays({ claim, unit }: Pair): Finding | null {
  const group = claim.figures.find(({ offers: [first] }) => /^w:\D/.test(first ?? ""));
  const held = new Set(unit.figures().flatMap(({ offers }) => offers.filter(isDay)));
  if (group === undefined || held.size === 0) return null;
  const missing = group.offers.filter(isDay).some((day) => !held.has(day));
  return missing ? doubt(`the sentence does not name all days of "${group.text}"`) : null;
}

/** "Every fiftieth page" is not each page. */
function everyNth({ unit, claim }: Pair): Finding | null {
  const counted = unit.cues().flatMap(({ name, end }) => {
    const next = name === "all" ? unit.figures().find(({ start }) => start === end + 1) : undefined;
    return next?.isSoft === true && next.measure === null ? [next] : [];
  });
  const other = counted.find(({ base }) => !claim.figures.some((one) => one.base === base));
  return other === undefined ? null : doubt(`only every ${other.text.trim()} is meant`);
}
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

/** Endings of the future in Spanish and French, without accents. */
const FUTURE = {
  spanish: /(?:[aei]r|dr|br)(?:a|an|emos)$/u,
  french: /(?:[ei]r|dr|tr|vr|ur)(?:a|ont|ons)$/u,
} as const;

/** "Ha cambiado", where the sentence says "cambiará": the same verb, in the future there alone. */
function laterVerb({ claim, unit, met }: Pair): string | null {
  if (claim.language !== unit.language) return null;
  if (claim.language !== "spanish" && claim.language !== "french") return null;
  const future = FUTURE[claim.language];
  for (const { term, places } of met) {
    if (future.test(term.word)) continue;
    const words = places.map((place) => unit.terms[place]?.word ?? "");
    const [later] = words;
    if (later !== undefined && words.every((word) => future.test(word))) return later;
  }
  return null;
}

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
const compareMoments = ruleOf(["before", "after", "first", "last", "instead"], "claim");
/** What opens the next step: "leave it for five hours at 24 °C, then put it into the fridge". */
const THEN: ReadonlySet<string> = new Set(
  "then|afterwards|subsequently|thereafter|dann|danach|anschliessend|daraufhin|puis|ensuite|luego|despues".split(
    "|",
  ),
);

export const compareSequence = (pair: Pair): Finding | null =>
  compareMoments(pair) ?? compareSteps(pair);

/** Words of two steps, of which the claim makes one. */
function compareSteps(pair: Pair): Finding | null {
  const { unit, claim } = pair;
  if (unit.kind === "row" || claim.segments.length > 1) return null;
  if (claim.cues.some(({ name }) => name === "after" || name === "before")) return null;
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

const isOfTime = ({ name }: Cue): boolean => name === "before" || name === "after";

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

const wordsOf = (words: string): ReadonlySet<string> => new Set(words.split(" "));
const MEASURING = wordsOf("only just nur lediglich seulement solo solamente");
const SHARING = wordsOf("each every je jede jeder jedes jeden chaque chacun chacune cada");

function withoutMeasuring(pair: Pair): Pair {
  const { claim, unit } = pair;
  const ofUnit = unit.cues().filter((cue) => !isMeasuring(cue, unit.figures(), unit.text));
  const isAlone = !ofUnit.some(({ name }) => name === "all");
  return {
    ...pair,
    claim: {
      ...claim,
      cues: claim.cues.filter(
        (cue) =>
          !isMeasuring(cue, claim.figures, claim.text) &&
          !(isAlone && isRegular(cue, claim.text, unit.text)),
      ),
    },
    unit: { ...unit, cues: () => ofUnit },
  };
}

const NIGHT = /^(?:night|nacht|nuit|noche)$/iu;
const WEEKDAY =
  /^(?:\p{L}+day|\p{L}+tag|mittwoch|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo)$/iu;
const NIGHTLY = /(?<!\p{L})(?:nightly|nächtlich)/iu;

/** "Every month", where the sentence says "monthly". */
function isRegular({ word, end }: Cue, text: string, held: string): boolean {
  if (!SHARING.has(word)) return false;
  const [, period = ""] = /^[ \u00A0](\p{L}{3,12})/u.exec(text.slice(end, end + 16)) ?? [];
  if (NIGHT.test(period)) return NIGHTLY.test(held);
  if (WEEKDAY.test(period)) return REGULAR_DAY.test(held);
  const measure = measureAt(period);
  return measure !== null && ratesIn(held).has(`${measure.dimension}:${measure.factor}`);
}

const isMeasuring = (
  { word, start, end }: Cue,
  figures: readonly ClaimFigure[],
  text: string,
): boolean =>
  (MEASURING.has(word) || SHARING.has(word)) &&
  figures.some(
    (figure) =>
      !figure.isSoft &&
      figure.kind === "number" &&
      ((end <= figure.start && /^[ \u00A0(€£$~]{0,3}$/u.test(text.slice(end, figure.start))) ||
        (SHARING.has(word) &&
          figure.end <= start &&
          /^[ \u00A0]?$/u.test(text.slice(figure.end, start)))),
  );
