import { segmentAt, cutSegments } from "./segments.ts";
import { findCodes } from "../../text/figures/codes.ts";
import type { Code } from "../../text/figures/codes.ts";
import type { CueClass } from "./find-cues.ts";
import { findCues } from "./find-cues.ts";
import type { Cue } from "./find-cues.ts";
import { overlapsAny, readFigures } from "../../text/figures/read-figures.ts";
import type { ClaimFigure } from "../../text/figures/read-figures.ts";
import { findNames } from "./names.ts";
import type { Name } from "./names.ts";
import { foldSpaces } from "./pieces.ts";
import type { ReadPiece, ReadUnit } from "./pieces.ts";
import { compoundPlaces } from "./compounds.ts";
import { byLanguage } from "../../text/word-forms.ts";
import { wordFile } from "../../../shared/text/word-lists.ts";
import { otherForms } from "./other-forms.ts";
import { readTerms } from "./terms.ts";
import type { ClaimLanguage, Term } from "./terms.ts";
import type { TextSpan } from "../../text/spans.ts";
import { withoutSpans } from "../../text/clean-text.ts";
import { languageOf } from "../../text/detect-language.ts";

/** A claim as the rules read it. */
export type ReadClaim = {
  readonly text: string;
  readonly language: ClaimLanguage | null;
  readonly terms: readonly Term[];
  /** Content words, each stem once, without the words of figures and codes. */
  readonly content: readonly Term[];
  readonly figures: readonly ClaimFigure[];
  readonly codes: readonly Code[];
  readonly names: readonly Name[];
  readonly cues: readonly Cue[];
  readonly segments: readonly TextSpan[];
};

/** Words for a document and its writer, which need not be in the unit. */
const documentWords = byLanguage(
  (language: ClaimLanguage) => new Set(wordFile(language).of_document),
);

/** A longer claim is read up to this length, and never supported. */
export const MOST_CLAIM_CHARS = 2_000;

export function readClaim(whole: string, around: ClaimLanguage | null): ReadClaim {
  const text = whole.slice(0, MOST_CLAIM_CHARS);
  const language = languageOf(text, around);
  const terms = readTerms(text, language);
  const figures = readFigures(text, language);
  const codes = findCodes(withoutSpans(text, figures));
  const taken = [...figures, ...codes];
  const seen = new Set<string>();
  const content = terms.filter((term) => {
    if (!term.isContent || seen.has(term.stem)) return false;
    if (overlapsAny(term, taken)) return false;
    seen.add(term.stem);
    return true;
  });
  return {
    text,
    language,
    terms,
    content,
    figures,
    codes,
    names: findNames(text, terms, language).filter((name) => !overlapsAny(name, taken)),
    cues: findCues(text, terms, language).filter((cue) => !isOfFigure(cue, figures)),
    segments: cutSegments(text),
  };
}

/** A name with a number, before the rest of a number that is grouped by spaces: "Delta 60 449". */
const NUMBERED = /\p{Lu}[\p{L}\p{N}]{1,24}[ \u00A0]\d{1,3}(?=[ \u00A0\u202F]\d{3}(?!\d))/gu;

/**
 * Reads a claim beside the pieces that it cites. "Delta 60 449 €" holds two numbers, 60 and 449, where no piece states 60 449
 * and one piece names a Delta 60.
 */
export function readClaimBeside(
  pieces: readonly ReadPiece[],
  text: string,
  around: ClaimLanguage | null,
): ReadClaim {
  const claim = readClaim(text, around);
  const cut = [...claim.text.matchAll(NUMBERED)].find(({ 0: name, index }) => {
    const end = index + name.length;
    const whole = claim.figures.find((figure) => figure.start < end && figure.end > end + 1);
    return (
      whole !== undefined &&
      !whole.asks.some((one) => pieces.some((piece) => piece.offers().has(one))) &&
      pieces.some((piece) => holdsName(piece.folded(), name))
    );
  });
  if (cut === undefined) return claim;
  const end = cut.index + cut[0].length;
  return readClaim(`${text.slice(0, end)},${text.slice(end)}`, around);
}

/** Whether a text holds a name without further digits behind it. */
function holdsName(folded: string, name: string): boolean {
  const sought = foldSpaces(name);
  for (let at = folded.indexOf(sought); at >= 0; at = folded.indexOf(sought, at + 1)) {
    if (!/^[.,]?\d|^ \d{3}/.test(folded.slice(at + sought.length))) return true;
  }
  return false;
}

/** "just under 40": the words before a figure say how exact it is, and are no cue of the clause. */
const MOST_BEFORE = 14;
const isOfFigure = (cue: Cue, figures: readonly ClaimFigure[]): boolean =>
  figures.some(
    ({ start, end, precision }) =>
      (precision !== "exact" && cue.end <= start && cue.start >= start - MOST_BEFORE) ||
      (cue.start >= start && cue.end <= end),
  );

/** A content word of the claim, and where the unit holds it. */
export type Met = {
  readonly term: Term;
  readonly weight: number;
  /** Whether it says little, or is a cue, which other rules compare: then its absence does not count. */
  readonly isMinor: boolean;
  /** Its places among the terms of the unit; empty where only a label holds it, or nothing does. */
  readonly places: readonly number[];
  /** Whether the unit or a label holds it. */
  readonly isFound: boolean;
};

/** A claim beside a unit that may support it, with the pieces that it cites. */
export type Pair = {
  readonly claim: ReadClaim;
  readonly unit: ReadUnit;
  readonly piece: ReadPiece;
  readonly cited: readonly ReadPiece[];
  readonly met: readonly Met[];
  /** The part of the weight of the claim's words that unit and labels hold; 0 where the claim has no words. */
  readonly share: number;
  /** Clauses of the unit that the claim is about. */
  readonly aligned: ReadonlySet<number>;
  readonly question: ReadClaim;
};

/** The objection of a rule to a claim, with a detail that names both sides. */
export type Finding = {
  readonly reason:
    "figure" | "name" | "polarity" | "opposite" | "anchor" | "subject" | "frame" | "label";
  readonly detail: string;
};

export function pairOf(
  claim: ReadClaim,
  {
    unit,
    piece,
    cited,
    question,
    weightOf,
  }: Omit<Pair, "claim" | "met" | "share" | "aligned"> & {
    readonly weightOf: (stem: string) => number;
  },
): Pair {
  const met = claim.content.map((term): Met => {
    const related = relatedWords(term.stem, claim.language, piece);
    const whole = [...new Set(related)].flatMap((stem) => unit.stems.get(stem) ?? []);
    const isGerman =
      claim.language === "german" && unit.language === "german" && whole.length === 0;
    const places = isGerman ? compoundPlaces(term.stem, unit) : whole;
    const isFound =
      places.length > 0 ||
      isInLabels(term.stem, related, piece) ||
      documentWords(claim.language ?? "english").has(term.word);
    const isMinor = term.isLight || (!isFound && overlapsAny(term, claim.cues));
    const weight = isMinor ? 0 : 1 + weightOf(term.stem) / 2;
    return { term, weight, isMinor, places, isFound };
  });
  const figures = claim.figures.filter(({ isSoft }) => !isSoft);
  const stated = figures.filter(({ asks }) =>
    unit.figures().some(({ offers }) => asks.some((one) => offers.includes(one))),
  );
  const total = met.reduce((sum, { weight }) => sum + weight, figures.length);
  const held = met.reduce(
    (sum, { weight, isFound }) => sum + (isFound ? weight : 0),
    stated.length,
  );
  const share = total === 0 ? 0 : held / total;
  return { claim, unit, piece, cited, met, share, question, aligned: alignedClauses(met, unit) };
}

/** The forms of a word that the piece holds, by inflection and by common stems. */
export const relatedWords = (
  stem: string,
  language: ClaimLanguage | null,
  { relatedTo }: ReadPiece,
): readonly string[] => [
  ...new Set([stem, ...otherForms(stem, language)].flatMap((one) => [one, ...relatedTo(one)])),
];

/** Whether labels hold a word. Where the piece's text holds the word itself, its other forms in labels do not count. */
function isInLabels(
  stem: string,
  related: readonly string[],
  { labels, holders, relatedTo }: ReadPiece,
): boolean {
  const own = [stem, ...relatedTo(stem)];
  const isHeld = own.some((other) => holders.has(other));
  return (isHeld ? own : related).some((other) => labels.has(other));
}

/** The claim is about a clause where it holds this part of the clause's words, or where the clause holds most of the claim. */
const LEAST_ALIGNED = 0.4;

function alignedClauses(met: readonly Met[], unit: ReadUnit): ReadonlySet<number> {
  const segments = unit.segments();
  const own = segments.map(() => 0);
  unit.terms.forEach(({ start, isContent }) => {
    const at = isContent ? segmentAt(segments, start) : -1;
    if (at >= 0) own[at] = (own[at] ?? 0) + 1;
  });
  const held = segments.map(() => new Set<Term>());
  for (const { term, places } of met) {
    for (const place of places)
      held[segmentAt(segments, unit.terms[place]?.start ?? -1)]?.add(term);
  }
  const most = Math.max(1, ...held.map(({ size }) => size));
  return new Set(
    segments.flatMap((_, at) => {
      const words = held[at] ?? new Set<Term>();
      const isAligned = words.size === most || words.size >= LEAST_ALIGNED * (own[at] ?? 1);
      return words.size > 0 && isAligned && !isWithinOther(words, held) ? [at] : [];
    }),
  );
}

/** Whether another clause holds all of these words and more: then the claim is about that one. */
const isWithinOther = (words: ReadonlySet<Term>, all: readonly ReadonlySet<Term>[]): boolean =>
  all.some((other) => other.size > words.size && [...words].every((term) => other.has(term)));

/** The cues of a class in the clauses of the unit that the claim is about. */
export const alignedCues = ({ unit, aligned }: Pair, name: CueClass): readonly Cue[] =>
  unit
    .cues()
    .filter((cue) => cue.name === name && aligned.has(segmentAt(unit.segments(), cue.start)));

export const claimCues = ({ claim }: Pair, name: CueClass): readonly Cue[] =>
  claim.cues.filter((cue) => cue.name === name);

/** The words of the claim in a part of the unit. */
export const wordsIn = (part: TextSpan | undefined, { met, unit }: Pair): ReadonlySet<Term> =>
  new Set(
    met.flatMap(({ term, places }) =>
      part !== undefined &&
      places.some((place) => {
        const at = unit.terms[place]?.start ?? -1;
        return at >= part.start && at < part.end;
      })
        ? [term]
        : [],
    ),
  );
