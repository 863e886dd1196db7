import { overlapsAny } from "./figures.ts";
import type { Finding, Met, Pair } from "./pair.ts";
import type { ReadUnit } from "./pieces.ts";
import { segmentAt } from "./segments.ts";
import { detectLanguage } from "../../text/detect-language.ts";
import { compareVoices } from "./voice.ts";
import type { Term } from "./terms.ts";

/** Of the weight of a claim's words and figures, what the unit holds; of its words alone, what may be new. */
type Bounds = { readonly leastCarried: number; readonly mostNewWeight: number };
const OF_WORDS: Bounds = { leastCarried: 0.66, mostNewWeight: 0.3 };
/** A claim with a figure is pinned by it: good and bad ones part later. */
const WITH_FIGURES: Bounds = { leastCarried: 0.55, mostNewWeight: 0.45 };
const LEAST_MET = 0.15;
const MOST_NEW = 1;
const MOST_INVERTED = 0.4;

const boundsFor = ({ claim }: Pair): Bounds =>
  claim.language !== "japanese" && claim.figures.some(({ isSoft }) => !isSoft)
    ? WITH_FIGURES
    : OF_WORDS;

/** The unit holds most of the words. */
export function compareWords(pair: Pair): Finding | null {
  const { share, claim } = pair;
  if (share >= boundsFor(pair).leastCarried) {
    return isOnlyNamed(pair)
      ? {
          grade: "partly",
          reason: "words",
          detail: "It names and says nothing of what stands there.",
        }
      : null;
  }
  if (pair.met.length === 0 && /[\p{L}\p{N}]/u.test(claim.text)) {
    return { grade: "partly", reason: "words", detail: "It says nothing that could be measured." };
  }
  const detail = `${Math.round(share * 100)} % of its words stand there`;
  const holdsMore =
    claim.codes.length > 0 ||
    claim.figures.some(({ asks }) =>
      asks.some((one) => pair.cited.some(({ offers }) => offers().has(one))),
    );
  const isFar = share < LEAST_MET && !holdsMore && !mayBeTranslated(pair);
  return { grade: isFar ? "unsupported" : "partly", reason: "words", detail };
}

/** Whether the unit is in another language; one that says too little to tell is taken for the claim's own. */
function mayBeTranslated({ claim, unit }: Pair): boolean {
  if (claim.language === unit.language) return false;
  if (unit.language !== null && claim.language !== null) return true;
  const text = unit.block.text.slice(0, MOST_DETECTED_CHARS);
  return detectLanguage(text) !== null || isLatin(text) !== isLatin(claim.text);
}

const isLatin = (text: string): boolean =>
  2 * (text.match(/\p{Script=Latin}/gu)?.length ?? 0) >= (text.match(/\p{L}/gu)?.length ?? 0);

const MOST_DETECTED_CHARS = 3_000;

/** "Copy: Swantje Iversen" carries nothing that is said of her. */
function isOnlyNamed({ claim, unit, met }: Pair): boolean {
  if (unit.kind === "row" || claim.figures.length > 0 || claim.names.length === 0) return false;
  const said = met.filter(({ term }) => !term.isLight && !overlapsAny(term, claim.names));
  return said.length > 0 && said.every(({ places }) => places.length === 0);
}

/** At most one word stands nowhere in the unit. */
export function compareNewWords(pair: Pair): Finding | null {
  const { met } = pair;
  const fresh = met.filter(
    ({ isMinor, places, isLabel }) => !isMinor && places.length === 0 && !isLabel,
  );
  const alone = partOfNewWords(pair, fresh);
  if (alone !== null) return { grade: "partly", reason: "new_words", detail: `new: ${alone}` };
  const total = met.reduce((sum, { weight }) => sum + weight, 0);
  const weight = fresh.reduce((sum, one) => sum + one.weight, 0);
  if (fresh.length <= MOST_NEW && weight <= boundsFor(pair).mostNewWeight * total) return null;
  const words = fresh.slice(0, 5).map(({ term }) => term.word);
  return { grade: "partly", reason: "new_words", detail: `new: ${words.join(", ")}` };
}

/** "Students, pensioners and the unemployed": a part between commas of which nothing stands in the unit. */
function partOfNewWords({ claim, met }: Pair, fresh: readonly Met[]): string | null {
  if (claim.segments.length < 2) return null;
  const segment = claim.segments.find(({ start, end }) => {
    const within = met.filter(
      ({ term, isMinor }) => term.start >= start && term.start < end && !isMinor,
    );
    const hasFigure = claim.figures.some((one) => one.start >= start && one.start < end);
    return within.length > 0 && !hasFigure && within.every((one) => fresh.includes(one));
  });
  return segment === undefined ? null : claim.text.slice(segment.start, segment.end).trim();
}

/** A word that the unit lacks stands in another one, and is denied there: "sprayed" beside "No spraying." */
export function compareDenied({ claim, unit, met, cited }: Pair): Finding | null {
  if (claim.cues.some(({ name }) => name === "not") || claim.language !== unit.language)
    return null;
  for (const { term, places, isLabel } of met) {
    if (term.isLight || places.length > 0 || isLabel) continue;
    const denying = cited.some((piece) =>
      piece
        .relatedTo(term.stem)
        .flatMap((stem) => (piece.holders.get(stem) ?? []).map((at) => ({ stem, at })))
        .some(({ stem, at }) => isDenied(stem, piece.units[at])),
    );
    if (denying)
      return {
        grade: "partly",
        reason: "polarity",
        detail: `another sentence denies "${term.word}"`,
      };
  }
  return null;
}

function isDenied(stem: string, unit: ReadUnit | undefined): boolean {
  const not = unit?.cues().filter(({ name }) => name === "not") ?? [];
  if (unit === undefined || not.length === 0) return false;
  const segments = unit.segments();
  const denied = new Set(not.map(({ start }) => segmentAt(segments, start)));
  return (unit.stems.get(stem) ?? []).some((place) =>
    denied.has(segmentAt(segments, unit.terms[place]?.start ?? -1)),
  );
}

/** "The cooker circuit" is not the cellar circuit of the unit: before a word of both stands another one. */
export function compareModifiers({ claim, unit, met, cited }: Pair): Finding | null {
  if (claim.language === "japanese") return null;
  for (const { term, places } of met) {
    const before = met.find(
      (one) => one.places.length === 0 && isBefore(one.term, term, claim.text),
    );
    if (before === undefined || before.term.isLight || places.length === 0) continue;
    if (!cited.some(({ words }) => words.has(before.term.word))) continue;
    const others = places.map((place) => {
      const [own, other] = [unit.terms[place], unit.terms[place - 1]];
      const isOther =
        own !== undefined &&
        other?.isContent === true &&
        isBefore(other, own, unit.text) &&
        !claim.terms.some(({ stem }) => stem === other.stem);
      return isOther ? other.word : null;
    });
    if (others.every((other) => other !== null))
      return {
        grade: "partly",
        reason: "rival",
        detail: `${others[0] ?? ""} ${term.word}, and not ${before.term.word}`,
      };
  }
  return null;
}

/** The row of the claim: none of the words that it lacks names another row of the table. */
export function compareRow({ unit, met, piece }: Pair): Finding | null {
  if (unit.kind !== "row") return null;
  const names = piece.rowNames();
  const other = met.find(
    ({ term, places }) =>
      !term.isLight &&
      places.length === 0 &&
      piece
        .relatedTo(term.stem)
        .some((stem) => names.get(stem)?.some((at) => at !== unit.at) === true),
  );
  return other === undefined
    ? null
    : { grade: "partly", reason: "rival", detail: `${other.term.word} names another row` };
}

const isBefore = (one: Term, next: Term, text: string): boolean =>
  next.start === one.end + 1 && /[ -]/.test(text.slice(one.end, next.start));

/** The words of a clause stand in the order of the sentence, unless one of both says it in the passive. */
export function compareOrder(pair: Pair): Finding | null {
  const voices = compareVoices(pair);
  if (voices === "same") return null;
  if (voices === "swapped") return inOtherOrder("who does it stands where it is done to");
  const { met, claim } = pair;
  const found = met.flatMap(({ term, places: [place, second] }) =>
    place === undefined || second !== undefined
      ? []
      : [{ place, segment: segmentAt(claim.segments, term.start) }],
  );
  const pairs = found.slice(1).flatMap(({ place, segment }, at) => {
    const before = found[at];
    return before?.segment === segment ? [place < before.place] : [];
  });
  const inverted = pairs.filter(Boolean).length;
  const exchanged = exchangedWords(pair) ?? laterWords(pair);
  if (exchanged !== null) return inOtherOrder(exchanged);
  if (pairs.length < 3 || inverted / pairs.length <= MOST_INVERTED) return null;
  return inOtherOrder(`${inverted} of ${pairs.length} words stand in another order`);
}

/** The words of the claim that stand in the unit once, in its order; of several that are related the same one counts. */
const placedWords = ({ met, unit }: Pair): { readonly term: Term; readonly place: number }[] =>
  met
    .flatMap(({ term, places }) => {
      const same = places.filter((place) => unit.terms[place]?.word === term.word);
      const [place, second] = same.length === 1 ? same : places;
      return place === undefined || second !== undefined ? [] : [{ term, place }];
    })
    .sort((one, other) => one.term.start - other.term.start);

/** "The tenant pays the repairs and the owner the fees", where it is the other way round: two words alone stand in each other's place. */
function exchangedWords(pair: Pair): string | null {
  const { claim, unit, met } = pair;
  if (unit.kind === "row" || claim.language !== unit.language) return null;
  const words = placedWords(pair);
  if (words.length < LEAST_IN_ORDER || words.length < met.length) return null;
  const inUnit = words.toSorted((one, other) => one.place - other.place);
  const moved = words.flatMap((word, at) => (word === inUnit[at] ? [] : [at]));
  const [first = 0, second = 0, more] = moved;
  if (moved.length !== 2 || more !== undefined || second === first + 1) return null;
  return `${words[first]?.term.word ?? ""} and ${words[second]?.term.word ?? ""} stand in each other's place`;
}
const LEAST_IN_ORDER = 5;

/** Of two things that are told one after the other, the second happened later. */
const LATER =
  /(?<!\p{L})(?:later|afterwards|subsequently|danach|später|anschließend|daraufhin|plus tard|ensuite|puis|después|más tarde|luego)(?!\p{L})/iu;

/** "Dropped the jib and reefed the main twenty minutes later", where the main was reefed first. */
function laterWords(pair: Pair): string | null {
  const { claim, unit } = pair;
  if (unit.kind === "row" || !LATER.test(claim.text) || !LATER.test(unit.text)) return null;
  const words = placedWords(pair);
  const at = words.findIndex(({ place }, index) => place < (words[index - 1]?.place ?? place));
  const isTurned =
    at >= 2 &&
    words.length - at >= 2 &&
    words.slice(0, at).some(({ place }) => place > (words[at + 1]?.place ?? place));
  return isTurned ? "what is told first is told later there" : null;
}

const inOtherOrder = (detail: string): Finding => ({ grade: "partly", reason: "order", detail });

/** Claim and unit are of one language. */
export function compareLanguage({ claim, unit }: Pair): Finding | null {
  if (claim.language === unit.language || claim.language === null || unit.language === null)
    return null;
  return {
    grade: "partly",
    reason: "language",
    detail: `${claim.language} against ${unit.language}`,
  };
}
