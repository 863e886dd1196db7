import { holdsDenial } from "../../text/units/frames.ts";
import type { Cue } from "./find-cues.ts";
import { alignedCues, claimCues } from "./pair.ts";
import type { Finding, Pair } from "./pair.ts";
import { segmentAt } from "./segments.ts";

/** Where unit and labels hold this share of the claim's words, another polarity means the opposite. */
const LEAST_OF_CLAIM = 0.85;
const FEWEST_WORDS = 3;

/** Finds a denial on one side alone where both sides otherwise say the same. */
export function comparePolarity(pair: Pair): Finding | null {
  const { kind, detail } = polarityOf(pair);
  return kind === "opposite" ? { reason: "polarity", detail } : null;
}

type Polarity = { readonly kind: "alike" | "unlike" | "opposite"; readonly detail: string };

/** unlike: the denials differ, but both may mean the same. opposite: both say the same except for one denial. */
export function polarityOf(pair: Pair): Polarity {
  const claim = claimCues(pair, "not").length;
  const denials = withoutPartners(
    [...new Set([...alignedCues(pair, "not"), ...deniedDates(pair)])],
    pair,
  );
  // The frame "denied" means that its heading, or the line above its list, denies it once more.
  const unit = denials.length + (pair.unit.frame === "denied" ? 1 : 0);
  const detail = claim > unit ? "it denies what the sentence says" : "the sentence denies it";
  if (claim === unit || (claim > 0 && isDeniedAlike(pair, denials)))
    return { kind: "alike", detail };
  const isOdd = claim % 2 !== unit % 2;
  const isHard =
    isOdd &&
    !isOtherWord(pair, denials) &&
    !isOnlyForExcept(pair) &&
    !(claim > unit && isDeniedAbove(pair)) &&
    pair.met.length >= FEWEST_WORDS &&
    pair.share >= LEAST_OF_CLAIM &&
    pair.claim.language === pair.unit.language;
  return { kind: isHard ? "opposite" : "unlike", detail };
}

/** Whether the nearest heading denies: "Not collected", above a list of items that were found. */
const isDeniedAbove = ({ unit: { headings, language } }: Pair): boolean =>
  language !== null && holdsDenial(headings.at(-1) ?? "", language);

/** Whether the claim denies only by a word such as "unavailable", for which the sentence may use another word ("closed"). */
const isOtherWord = (pair: Pair, denials: readonly Cue[]): boolean =>
  denials.length === 0 && claimCues(pair, "not").some((cue) => !isPlain(cue));

/** "Only allowed on Sundays" may mean the same as "forbidden except on Sundays". */
const isOnlyForExcept = (pair: Pair): boolean =>
  (claimCues(pair, "only").length > 0 && alignedCues(pair, "except").length > 0) ||
  (claimCues(pair, "except").length > 0 && alignedCues(pair, "only").length > 0);

/** Words that deny anything that follows. The other denials mean one verb: "fails", "declined". */
const PLAIN_DENIALS: ReadonlySet<string> = new Set([
  ...`not no none never nobody nothing neither nor cannot without isn aren wasn weren doesn didn hasn haven hadn wouldn couldn shouldn mustn
  nicht kein keine keinen keinem keiner keines nie niemals niemand nichts weder ohne
  pas jamais aucun aucune ni sans personne rien non nunca jamas ningun ninguna ninguno nadie nada sin tampoco`
    .trim()
    .split(/\s+/),
  "can t",
  "don t",
  "won t",
]);
const isPlain = ({ word }: Cue): boolean => PLAIN_DENIALS.has(word);

/** Whether both use equally many plain denials, or the sentence's further denials are not about the claim. */
function isDeniedAlike(pair: Pair, denials: readonly Cue[]): boolean {
  const own = claimCues(pair, "not");
  const plain = denials.filter(isPlain).length;
  if (plain > 0 && plain === own.filter(isPlain).length) return true;
  return (
    denials.length > own.length &&
    denials.filter((cue) => isOfClaim(cue, pair)).length === own.length
  );
}

/** Words between a denial and the day that it denies: "but not on Monday". */
const TO_DATE =
  /^[ \u00A0](?:(?:on|in|at|during|am|im|an|um|le|la|les|en|au|à|el|los|las|a)[ \u00A0])?$/iu;

/** Denials of a day or time that the claim names, in any clause: a clause may hold nothing else than the day. */
function deniedDates({ claim, unit }: Pair): readonly Cue[] {
  const dates = claim.figures.filter(({ kind }) => kind === "date");
  if (dates.length === 0) return [];
  const held = unit
    .figures()
    .filter(({ offers }) => dates.some(({ asks }) => asks.some((one) => offers.includes(one))));
  return unit
    .cues()
    .filter(
      (cue) =>
        cue.name === "not" &&
        isPlain(cue) &&
        held.some(({ start }) => start >= cue.end && TO_DATE.test(unit.text.slice(cue.end, start))),
    );
}

/** "Neither … nor" denies two things once each: for a claim about one of them it is one denial. */
function withoutPartners(denials: readonly Cue[], { unit, met }: Pair): readonly Cue[] {
  const opener = denials.find(({ word }) => word === "neither" || word === "ni");
  const partner = denials.find(
    ({ word, start }) =>
      opener !== undefined && start > opener.start && (word === "nor" || word === "ni"),
  );
  if (opener === undefined || partner === undefined) return denials;
  const isMetWithin = (from: number, to: number): boolean =>
    met.some(
      ({ isMinor, places }) =>
        !isMinor &&
        places.some((place) => {
          const at = unit.terms[place]?.start ?? -1;
          return at >= from && at < to;
        }),
    );
  const isOfBoth =
    isMetWithin(opener.end, partner.start) && isMetWithin(partner.end, unit.text.length);
  return isOfBoth ? denials : denials.filter((cue) => cue !== partner);
}

/** The number of content words behind a denial that show what it denies. */
const DENIED_WORDS = 2;

/** "... has not been confirmed" does not matter to a claim without "confirm". A denial at the end of its clause always counts. */
function isOfClaim(cue: Cue, { unit, met }: Pair): boolean {
  const segment = unit.segments()[segmentAt(unit.segments(), cue.start)];
  const denied = unit.terms
    .filter(
      ({ start, end, isContent }) =>
        isContent && start >= cue.end && end <= (segment?.end ?? unit.text.length),
    )
    .slice(0, DENIED_WORDS);
  if (denied.length === 0) return true;
  const places = new Set(met.flatMap((one) => one.places));
  return denied.some((term) => places.has(unit.terms.indexOf(term)));
}
