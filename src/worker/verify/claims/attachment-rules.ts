import type { Finding, Met, Pair } from "./pair.ts";
import { segmentAt } from "./segments.ts";
import type { Term } from "./terms.ts";
import { compareVoices } from "./voice.ts";

const rival = (detail: string): Finding => ({ grade: "partly", reason: "rival", detail });

/** What joins two nouns of which the second tells whose or which the first is. */
const OF =
  /^[ \u00A0](?:of|des|der|eines|einer|de|du|del|de la|de los|de las)[ \u00A0](?:the[ \u00A0])?$/iu;

/** A word of the claim that the unit holds once, with the word that is attached to it in each. */
type Attached = {
  readonly word: Term;
  readonly place: number;
  readonly ofClaim: Met;
  readonly ofUnit: Term;
};

/** @param joint what stands between a word and what is attached to it */
function attachedIn({ claim, unit, met }: Pair, joint: RegExp): Attached[] {
  const behind = (terms: readonly Term[], at: number, text: string): Term | undefined => {
    const one = terms[at];
    const other = terms.find((term, place) => place > at && term.isContent);
    return one !== undefined && other !== undefined && joint.test(text.slice(one.end, other.start))
      ? other
      : undefined;
  };
  return met.flatMap(({ term, places: [place, second] }): Attached[] => {
    if (place === undefined || second !== undefined) return [];
    const attached = behind(claim.terms, claim.terms.indexOf(term), claim.text);
    const ofClaim = met.find((one) => one.term === attached);
    const ofUnit = behind(unit.terms, place, unit.text);
    if (ofClaim === undefined || ofUnit === undefined || ofClaim.places.length === 0) return [];
    return [{ word: term, place, ofClaim, ofUnit }];
  });
}

/** "The right of way of the van", where the sentence says that of the cyclist, and names the van as well. */
export function compareOwners(pair: Pair): Finding | null {
  const { claim, unit } = pair;
  if (claim.language !== unit.language || claim.language === "japanese" || unit.kind === "row")
    return null;
  const other = attachedIn(pair, OF).find(
    ({ ofClaim, ofUnit }) => !ofClaim.places.some((at) => unit.terms[at] === ofUnit),
  );
  return other === undefined
    ? null
    : rival(`${other.word.word} of ${other.ofUnit.word}, and not of ${other.ofClaim.term.word}`);
}

/**
 * "Twisted his knee", where the sentence has sore knees, and a twisted ankle: behind a word of the claim stands another one than there, and its
 * own in another clause.
 */
export function compareObjects(pair: Pair): Finding | null {
  const { claim, unit, met } = pair;
  if (claim.language !== unit.language || unit.kind === "row") return null;
  if (VERB_LAST.has(claim.language ?? "english")) return null;
  const segments = unit.segments();
  const clauseOf = (place: number): number => segmentAt(segments, unit.terms[place]?.start ?? -1);
  const isSaid = (term: Term): boolean =>
    claim.terms.some(({ stem }) => stem === term.stem) ||
    met.some(({ places }) => places.some((at) => unit.terms[at] === term));
  const other = attachedIn(pair, IN_A_ROW).find(
    ({ word, place, ofClaim, ofUnit }) =>
      !word.isLight &&
      !isSaid(ofUnit) &&
      ofClaim.places.every((at) => clauseOf(at) !== clauseOf(place)),
  );
  return other === undefined
    ? null
    : rival(`${other.word.word} ${other.ofUnit.word}, and not ${other.ofClaim.term.word}`);
}

/** In these what stands behind a word need not be what it is about. */
const VERB_LAST: ReadonlySet<string> = new Set(["german", "japanese"]);
/** Blanks and one word between, such as an article. */
const IN_A_ROW = /^[ \u00A0](?:\p{L}{1,5}[ \u00A0])?$/u;

/** "The van hit the lorry", where the lorry hit the van: all that stands before a word stands behind it there, and the other way round. */
export function compareAround(pair: Pair): Finding | null {
  const { claim, unit, met } = pair;
  if (claim.language !== unit.language || unit.kind === "row") return null;
  if (claim.language === "japanese" || claim.language === "german") return null;
  if (compareVoices(pair) !== null) return null;
  const words = met
    .filter(({ places, term }) => places.length === 1 && !term.isLight)
    .map(({ term, places }: Met) => ({ term, place: places[0] ?? -1 }))
    .sort((one, other) => one.term.start - other.term.start);
  if (words.length < LEAST_AROUND || words.length < met.length) return null;
  const pivot = words.find(({ place }, at) => {
    const before = words.slice(0, at).map((word) => word.place);
    const behind = words.slice(at + 1).map((word) => word.place);
    const nearest = Math.min(...before);
    return (
      before.length > 0 &&
      before.every((other) => other > place) &&
      behind.some((other) => other < place) &&
      behind.every((other) => other < nearest)
    );
  });
  return pivot === undefined
    ? null
    : {
        grade: "partly",
        reason: "order",
        detail: `what stands around ${pivot.term.word} is exchanged`,
      };
}
const LEAST_AROUND = 4;

/** German articles of who does something, and of whom or what it is done to. */
const DOES: ReadonlySet<string> = new Set(["der", "die", "das", "ein", "eine"]);
const IS_DONE_TO: ReadonlySet<string> = new Set(["dem", "den", "einem", "einen"]);
const OF_FEMALE: ReadonlyMap<string, string> = new Map([
  ["der", "die"],
  ["einer", "eine"],
]);

/** "Der Hausmeister gab der Mieterin den Schlüssel", where it says "Die Mieterin gab dem Hausmeister den Schlüssel": two words change their cases. */
export function compareCases(pair: Pair): Finding | null {
  const { claim, unit, met } = pair;
  if (claim.language !== "german" || unit.language !== "german" || unit.kind === "row") return null;
  if (compareVoices(pair) !== null) return null;
  const articles = met.flatMap(({ term, places: [place, second] }) => {
    if (place === undefined || second !== undefined) return [];
    const ofClaim = claim.terms[claim.terms.indexOf(term) - 1]?.word ?? "";
    const ofUnit = unit.terms[place - 1]?.word ?? "";
    return unit.terms[place]?.word === term.word ? [{ word: term.word, ofClaim, ofUnit }] : [];
  });
  const doer = articles.find((one) => DOES.has(one.ofClaim) && IS_DONE_TO.has(one.ofUnit));
  const other = articles.find(
    ({ ofClaim, ofUnit }) =>
      DOES.has(ofUnit) && (IS_DONE_TO.has(ofClaim) || OF_FEMALE.get(ofClaim) === ofUnit),
  );
  return doer === undefined || other === undefined
    ? null
    : {
        grade: "partly",
        reason: "order",
        detail: `${doer.word} and ${other.word} stand in each other's case`,
      };
}

/** A noun, and the particle that says whether it does it or has it done to it. */
const MARKED =
  /(?<who>[\p{Script=Han}\p{Script=Katakana}ー々]{2,12}?)(?:さん|氏|様)?(?<particle>が|は|に|を|から)/gu;

/** 村井が佐伯に教えた, where it says 佐伯が村井に教えた: two nouns change their particles. */
export function compareParticles({ claim, unit }: Pair): Finding | null {
  if (claim.language !== "japanese" || unit.language !== "japanese") return null;
  const held = particlesIn(unit.text);
  const said = [...particlesIn(claim.text)].flatMap(([who, particle]) => {
    const other = held.get(who);
    return other === undefined ? [] : [{ who, doesIt: isDoer(particle), didIt: isDoer(other) }];
  });
  const doer = said.find(({ doesIt, didIt }) => doesIt && !didIt);
  const other = said.find(({ doesIt, didIt }) => !doesIt && didIt);
  return doer === undefined || other === undefined
    ? null
    : {
        grade: "partly",
        reason: "order",
        detail: `${other.who} does it, and not ${doer.who}`,
      };
}

const isDoer = (particle: string): boolean => particle === "が" || particle === "は";
const particlesIn = (text: string): ReadonlyMap<string, string> =>
  new Map(
    [...text.matchAll(MARKED)].map(({ groups }) => [
      groups?.["who"] ?? "",
      groups?.["particle"] ?? "",
    ]),
  );
