import type { EvidenceSpan } from "../../../shared/run-result.ts";
import {
  compareAround,
  compareCases,
  compareObjects,
  compareOwners,
  compareParticles,
} from "./attachment-rules.ts";
import { compareTense } from "./tense-rules.ts";
import type { CitableBlock } from "../../evidence/number.ts";
import { foldSentence, readPiece } from "./pieces.ts";
import type { ReadPiece, ReadUnit } from "./pieces.ts";
import { MOST_CLAIM_CHARS, pairOf, readClaim, readClaimBeside } from "./pair.ts";
import type { Finding, FindingReason, Pair, ReadClaim } from "./pair.ts";
import {
  compareArithmetic,
  compareCorrected,
  compareCounted,
  compareFigurePlace,
  compareFigures,
  compareRate,
  compareRival,
  compareSwap,
  namedArithmetic,
} from "./figure-rules.ts";
import {
  compareAlike,
  compareDeniedWords,
  compareElsewhere,
  compareGapped,
  compareListed,
  compareLookalike,
  compareStatements,
  compareSubject,
} from "./apart-rules.ts";
import { compareColumn } from "./column-rules.ts";
import {
  compareAnchors,
  compareBinding,
  compareCodes,
  compareNamePlace,
  compareNameRival,
  compareNames,
} from "./name-rules.ts";
import {
  compareBound,
  compareCause,
  compareComparison,
  comparePlan,
  compareRestriction,
} from "./cue-rules.ts";
import { compareQuantifier } from "./quantity-rules.ts";
import { compareDirection, compareOpposites, compareSequence } from "./sequence-rules.ts";
import { findCues } from "./cues/find-cues.ts";
import { comparePolarity } from "./polarity.ts";
import { readTerms } from "./terms.ts";
import {
  compareDenied,
  compareLanguage,
  compareModifiers,
  compareNewWords,
  compareOrder,
  compareRow,
  compareWords,
} from "./word-rules.ts";

/** A statement of an answer, the numbers of the pieces that it cites, and the words of them that it quotes. */
export type Claim = {
  readonly text: string;
  readonly cites: readonly number[];
  readonly quote?: string | undefined;
};
export type ClaimGrade = "supported" | "partly" | "unsupported";
export type ClaimReason =
  "verbatim" | "carried" | "uncited" | "not_admitted" | "quote" | "entailment" | FindingReason;
export type ClaimCheck = {
  readonly rule: string;
  readonly verdict: "pass" | "fail" | "unknown";
  readonly detail: string;
};
export type Place = EvidenceSpan;
export type GradedClaim = {
  readonly grade: ClaimGrade;
  readonly reason: ClaimReason;
  /** How a figure was computed that stands nowhere: "310 - 85 = 225". */
  readonly arithmetic: string | null;
  readonly place: Place | null;
  /** The rules that speak against it, in order, or the one that settled it at once. */
  readonly checks: readonly ClaimCheck[];
};

/** The rules that look at a claim beside a unit, in the order in which their reasons count. */
const RULES = {
  figures: compareFigures,
  arithmetic: compareArithmetic,
  codes: compareCodes,
  names: compareNames,
  polarity: comparePolarity,
  opposites: compareOpposites,
  figure_place: compareFigurePlace,
  name_place: compareNamePlace,
  counted: compareCounted,
  rate: compareRate,
  corrected: compareCorrected,
  rival: compareRival,
  swap: compareSwap,
  column: compareColumn,
  name_rival: compareNameRival,
  binding: compareBinding,
  quantifier: compareQuantifier,
  restriction: compareRestriction,
  bound: compareBound,
  plan: comparePlan,
  cause: compareCause,
  comparison: compareComparison,
  sequence: compareSequence,
  direction: compareDirection,
  anchors: compareAnchors,
  denied: compareDenied,
  modifiers: compareModifiers,
  row: compareRow,
  subject: compareSubject,
  listed: compareListed,
  lookalike: compareLookalike,
  gapped: compareGapped,
  objects: compareObjects,
  statements: compareStatements,
  denied_words: compareDeniedWords,
  alike: compareAlike,
  elsewhere: compareElsewhere,
  order: compareOrder,
  around: compareAround,
  owners: compareOwners,
  cases: compareCases,
  particles: compareParticles,
  tense: compareTense,
  words: compareWords,
  new_words: compareNewWords,
  language: compareLanguage,
} satisfies Record<string, (pair: Pair) => Finding | null>;

export type ClaimRule = "citation" | "verbatim" | keyof typeof RULES;
export const CLAIM_RULES: readonly ClaimRule[] = [
  "citation",
  "verbatim",
  ...(Object.keys(RULES) as (keyof typeof RULES)[]),
];

/**
 * Grades each claim against the pieces that it cites, in order. supported: the place is given, and the reason is verbatim,
 * carried or arithmetic. No model is asked; pieces are read once. Near linear.
 *
 * @param rules those that are asked: all of them, but for a bench that shows what each brings
 */
export function gradeClaims(
  claims: readonly Claim[],
  evidence: readonly CitableBlock[],
  { question }: { readonly question: string },
  rules: ReadonlySet<ClaimRule> = new Set(CLAIM_RULES),
): readonly GradedClaim[] {
  const byNumber = new Map(evidence.map((block) => [block.number, block]));
  const asked = readClaim(question, null);
  // A model that goes round in circles says the same thousands of times.
  const known = new Map<string, GradedClaim>();
  return claims.map((claim) => {
    const key = JSON.stringify([claim.text, claim.cites, claim.quote]);
    const graded = known.get(key) ?? gradeOne(claim);
    known.set(key, graded);
    return graded;
  });

  function gradeOne(claim: Claim): GradedClaim {
    const cited = rules.has("citation")
      ? [...new Set(claim.cites)].flatMap((number) => byNumber.get(number) ?? [])
      : evidence;
    if (cited.length > 0) return gradeClaim(claim, { cited: cited.map(readPiece), asked, rules });
    return claim.cites.length === 0
      ? refused("uncited", "It cites nothing.")
      : refused("not_admitted", "It cites no piece that was admitted.");
  }
}

/**
 * Where a piece says most of a claim: the whole sentence, or the unit that holds most of its words and figures. Null where
 * that is less than a good part of it.
 */
export function nearestPlace(claim: string, block: CitableBlock): Place | null {
  const text = claim.replace(VERDICT, "");
  const piece = readPiece(block);
  const whole = findVerbatim(text, [piece]);
  if (whole !== null) return whole.place;
  const read = readClaim(text, piece.units[0]?.language ?? null);
  const weightOf = weigher([piece]);
  const pairs = findWindows(read, [piece], weightOf).map(({ unit }) =>
    pairOf(read, { unit, piece, cited: [piece], question: read, weightOf }),
  );
  const [best] = pairs.sort((one, other) => other.share - one.share);
  if (best === undefined || best.share < LEAST_NEAR) return null;
  return piece.placeOf(best.unit.start, best.unit.end);
}

/** A claim that two pieces carry together has about a half of its words in each. */
const LEAST_NEAR = 0.3;

const refused = (reason: ClaimReason, detail: string): GradedClaim => ({
  grade: "unsupported",
  reason,
  arithmetic: null,
  place: null,
  checks: [{ rule: "citation", verdict: "fail", detail }],
});

type Against = {
  readonly cited: readonly ReadPiece[];
  readonly asked: ReadClaim;
  readonly rules: ReadonlySet<ClaimRule>;
};

/** What an answer to a yes-or-no question opens with, where a statement follows. */
const VERDICT =
  /^(?:yes|no|never|certainly not|by no means|on no account|ja|nein|auf (?:gar )?keinen fall|keinesfalls|oui|non|en aucun cas|sí|de ninguna manera|en ningún caso|はい|いいえ)(?:[,:;.!–—-][ \u00A0]?|[ \u00A0][–—-][ \u00A0]|[、。])(?=\S)/iu;

/** A quote that is found pins the claim to the units that hold it; one that is not is told, and counts for nothing. */
function gradeClaim({ text, quote = "" }: Claim, against: Against): GradedClaim {
  const folded = foldSentence(quote.slice(0, MOST_VERBATIM_CHARS));
  if (folded.length < SHORTEST_QUOTE) return gradeText(text, null, against);
  const pinned = unitsWith(folded, against.cited);
  if (pinned.length > 0) return gradeText(text, pinned, against);
  const graded = gradeText(text, null, against);
  return { ...graded, checks: [...graded.checks, QUOTE_NOT_FOUND] };
}

/** Fewer characters stand in many sentences. */
const SHORTEST_QUOTE = 12;
const QUOTE_NOT_FOUND: ClaimCheck = {
  rule: "claim_quote",
  verdict: "unknown",
  detail: "The quote that it gives stands in no piece that it cites.",
};

/** The units in which a folded quote stands, or which are part of it. */
const unitsWith = (quote: string, pieces: readonly ReadPiece[]): Window[] =>
  pieces.flatMap((piece) =>
    [...piece.sentences].flatMap(([sentence, unit]) => {
      const holds = ` ${sentence} `.includes(` ${quote} `);
      const isPart = sentence.length >= SHORTEST_QUOTE && ` ${quote} `.includes(` ${sentence} `);
      return holds || isPart ? [{ unit, piece }] : [];
    }),
  );

/** @param pinned the units against which the claim is held; null where any of the pieces may carry it */
function gradeText(said: string, pinned: readonly Window[] | null, against: Against): GradedClaim {
  const text = said.replace(VERDICT, "");
  const whole = against.rules.has("verbatim") ? findVerbatim(text, against.cited) : null;
  if (whole !== null) return whole;
  const ofEvidence = against.cited[0]?.units[0]?.language ?? null;
  const claim = readClaimBeside(against.cited, text, against.asked.language ?? ofEvidence);
  const weightOf = weigher(against.cited);
  const found = pinned?.slice(0, MOST_WINDOWS) ?? findWindows(claim, against.cited, weightOf);
  const windows = found.length > 0 ? found : firstUnits(against.cited);
  const { cited, asked: question, rules } = against;
  const pairs = windows
    .map(({ unit, piece }) => pairOf(claim, { unit, piece, cited, question, weightOf }))
    .sort((one, other) => other.share - one.share);
  const best = pairs.find((pair) => isCarried(pair, rules)) ?? pairs[0];
  if (best === undefined) return refused("words", "The cited pieces are empty.");
  const findings = compareAll(best, rules);
  return gradeOf(best, text.length > MOST_CLAIM_CHARS ? [...findings, TOO_LONG] : findings);
}

type RuleFinding = Finding & { readonly rule: string };
const TOO_LONG: RuleFinding = {
  rule: "words",
  grade: "partly",
  reason: "words",
  detail: "It is longer than what is read of a claim.",
};

/** The rules by which most windows fall come first: the others are not asked of them. */
const BY_YIELD: readonly (readonly [string, (pair: Pair) => Finding | null])[] = [
  ["words", RULES.words],
  ["new_words", RULES.new_words],
  ...Object.entries(RULES),
];

const isCarried = (pair: Pair, rules: ReadonlySet<ClaimRule>): boolean =>
  BY_YIELD.every(([rule, compare]) => !rules.has(rule as ClaimRule) || compare(pair) === null);

const compareAll = (pair: Pair, rules: ReadonlySet<ClaimRule>): RuleFinding[] =>
  Object.entries(RULES).flatMap(([rule, compare]) => {
    const finding = rules.has(rule as ClaimRule) ? compare(pair) : null;
    return finding === null ? [] : [{ ...finding, rule }];
  });

/** What differs from its sentence in more than a denial may say the same in other words. */
const isHard = ({ grade, rule }: RuleFinding, of: readonly RuleFinding[]): boolean =>
  grade === "unsupported" &&
  (rule !== "polarity" || of.every((one) => one.rule === rule || OF_PLACE.has(one.rule)));

/** These say where the words of a claim stand, and not that other words say the same. */
const OF_PLACE: ReadonlySet<string> = new Set<ClaimRule>([
  ...([
    "subject",
    "listed",
    "lookalike",
    "gapped",
    "objects",
    "statements",
    "denied_words",
    "alike",
    "elsewhere",
  ] as const),
]);

function gradeOf(pair: Pair, all: readonly RuleFinding[]): GradedClaim {
  const findings = all.map((one) =>
    isHard(one, all) ? one : { ...one, grade: "partly" as const },
  );
  const worst = findings.find(({ grade }) => grade === "unsupported") ?? findings[0];
  const unnamed = findings.find(({ rule }) => rule === "arithmetic")?.detail;
  const arithmetic = unnamed ?? namedArithmetic(pair);
  const { piece, unit } = pair;
  return {
    grade: worst?.grade ?? "supported",
    reason: worst?.reason ?? (arithmetic === null ? "carried" : "arithmetic"),
    arithmetic,
    place: piece.placeOf(unit.start, unit.end),
    checks: findings.map(({ rule, detail }) => ({ rule, verdict: "fail", detail })),
  };
}

const MOST_VERBATIM_CHARS = 4_000;

function findVerbatim(text: string, pieces: readonly ReadPiece[]): GradedClaim | null {
  const folded = text.length > MOST_VERBATIM_CHARS ? "" : foldSentence(text);
  for (const { sentences, placeOf } of pieces) {
    const unit = sentences.get(folded);
    if (unit === undefined || hasOtherCues(text, unit)) continue;
    const check = { rule: "verbatim", verdict: "pass", detail: "a whole sentence" } as const;
    const place = placeOf(unit.start, unit.end);
    return { grade: "supported", reason: "verbatim", arithmetic: null, place, checks: [check] };
  }
  return null;
}

/** "Die Pumpe wurde ersetzt", where the sentence says "würde": folded they are one. */
const hasOtherCues = (text: string, { block, start, end, language }: ReadUnit): boolean =>
  cuesIn(text, language) !== cuesIn(block.text.slice(start, end), language);

const cuesIn = (text: string, language: ReadUnit["language"]): string =>
  findCues(text, readTerms(text, language), language)
    .map(({ name, word }) => `${name} ${word}`)
    .join();

/** Units that are looked at closely. */
const MOST_WINDOWS = 8;

/** How much a word says: the less, the more units hold it. */
function weigher(pieces: readonly ReadPiece[]): (stem: string) => number {
  const units = pieces.reduce((sum, piece) => sum + piece.units.length, 0);
  const known = new Map<string, number>();
  return (stem) => {
    const weight = known.get(stem) ?? Math.log(1 + units / (1 + countHolders(stem, pieces)));
    known.set(stem, weight);
    return weight;
  };
}

const countHolders = (stem: string, pieces: readonly ReadPiece[]): number =>
  pieces.reduce(
    (sum, piece) =>
      sum +
      piece.relatedTo(stem).reduce((of, other) => of + (piece.holders.get(other)?.length ?? 0), 0),
    0,
  );

/** Where nothing of a claim stands, its figures and names are still looked for in the pieces. */
const firstUnits = (pieces: readonly ReadPiece[]): Window[] =>
  pieces.flatMap((piece) => piece.units.slice(0, 1).map((unit) => ({ unit, piece })));

type Window = { readonly unit: ReadUnit; readonly piece: ReadPiece };

/** The units that hold most of a claim, by its words and figures. */
function findWindows(
  { content, figures }: ReadClaim,
  pieces: readonly ReadPiece[],
  weightOf: (stem: string) => number,
): Window[] {
  const scored = pieces.flatMap((piece) => {
    const sums = new Map<number, number>();
    const touch = (at: number, weight: number): void => {
      if (at >= 0) sums.set(at, (sums.get(at) ?? 0) + weight);
    };
    for (const { stem } of content) {
      const held = new Set(
        piece.relatedTo(stem).flatMap((other) => piece.holders.get(other) ?? []),
      );
      for (const at of held) touch(at, weightOf(stem));
    }
    for (const { asks } of figures) {
      const held = new Set(asks.slice(0, 4).flatMap((one) => piece.offers().get(one) ?? []));
      for (const at of held) touch(at, FIGURE_WEIGHT);
    }
    return [...sums].flatMap(([at, score]) => {
      const unit = piece.units[at];
      return unit === undefined ? [] : [{ unit, piece, score }];
    });
  });
  return scored
    .sort((one, other) => other.score - one.score || one.unit.at - other.unit.at)
    .slice(0, MOST_WINDOWS);
}

const FIGURE_WEIGHT = 2;
