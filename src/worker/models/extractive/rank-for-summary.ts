import type { Candidate } from "./candidates.ts";
import { overlap, showSpans } from "./pick-sentences.ts";
import { contentStems } from "../../text/content-words.ts";
import { countHolders } from "../../text/word-vectors.ts";

/** The part of a word's weight that is left when a picked sentence already has the word. */
const SEEN_SHARE = 0.4;
/** An exponent between 0.5, which favours long sentences, and 1, which favours short ones. */
const LENGTH_EXPONENT = 0.6;
/** What a sentence directly beside a picked one loses; half as much at half a share of the text away. */
const CLOSENESS_LOSS = 0.5;
/** Factor for a sentence in a section from which one was picked already. */
const SAME_SECTION_FACTOR = 0.6;
const MOST_OVERLAP = 0.6;
/** Factor for a sentence that needs another: it takes the place of two, and is seldom worth both. */
const LEAD_IN_FACTOR = 0.6;

type Scored = {
  readonly candidate: Candidate;
  readonly words: ReadonlySet<string>;
  /** The words that distinguish sentences of this text. */
  readonly telling: ReadonlySet<string>;
  readonly weight: number;
  /** Distance in sentences to the nearest picked one. */
  distance: number;
};

/**
 * Picks sentences that summarize a text, in its order: each adds most of the words that the text repeats, scores higher where
 * it opens the text or a section, and lower near a picked one. A sentence is shown with the earlier sentences that it needs;
 * it is skipped if these can't be shown, or if it opens a turn with a pronoun.
 *
 * Greedy coverage of weighted words, as in Filatova and Hatzivassiloglou, 2004.
 *
 * @param most the most sentences, including those that they need
 */
export function rankForSummary(
  candidates: readonly Candidate[],
  title: string,
  most: number,
): Candidate[] {
  const said = candidates.filter(isStatement);
  const understood = said.filter(isUnderstood);
  const usable = [understood, said, candidates].find(({ length }) => length > 0) ?? [];
  const weights = subjectWeights(candidates);
  const share = usable.length / most;
  let left = scoreAll(usable, weights, title);
  const picked: Candidate[] = [];
  const seen = new Set<string>();
  let room = most;
  while (room > 0) {
    const fitting = left.filter(({ candidate }) => candidate.sentences <= room);
    const best = bestOf(
      fitting,
      (one) => gainOf(one, weights, seen) * distanceFactor(one, share) * sectionFactor(one, picked),
    );
    if (best === null) break;
    picked.push(best.candidate);
    room -= best.candidate.sentences;
    for (const word of best.words) seen.add(word);
    left = left.filter((one) => isNew(one, best));
    for (const one of left) one.distance = Math.min(one.distance, sentencesBetween(one, best));
  }
  return showSpans(picked.sort((a, b) => a.position - b.position));
}

/** Whether a text states something: "On Monday Meike wrote:", "Actions:" and "Dear Ms Carter," only lead to further text. */
export const isStatement = ({ kind, text }: Candidate): boolean =>
  kind !== "header" && !/[:,，：]$/u.test(text);

/** Whether somebody who has not read the text understands the sentence, with the earlier sentences that it needs. */
export const isUnderstood = ({ shownFrom, answersAnother }: Candidate): boolean =>
  shownFrom !== null && !answersAnother;

const isNew = (one: Scored, taken: Scored): boolean =>
  overlap(one.telling, taken.telling) < MOST_OVERLAP;

function scoreAll(
  candidates: readonly Candidate[],
  weights: ReadonlyMap<string, number>,
  title: string,
): Scored[] {
  const titleStems = new Set(contentStems(title));
  const everywhere = columnWords(candidates);
  return candidates.map((candidate, index) => {
    const words = new Set(candidate.shownStems.filter((word) => weights.has(word)));
    return {
      candidate,
      words,
      telling: new Set([...words].filter((word) => !everywhere.has(word))),
      weight:
        placeOf(candidate, candidates[index - 1], titleStems) *
        formOf(candidate) *
        (candidate.sentences === 1 ? 1 : LEAD_IN_FACTOR),
      distance: Number.POSITIVE_INFINITY,
    };
  });
}

/** The names of the columns of a table: the words that stand in each of its rows. */
function columnWords(candidates: readonly Candidate[]): ReadonlySet<string> {
  if (candidates.some(({ kind }) => kind !== "line")) return new Set();
  const [first, ...others] = candidates.map(({ shownStems }) => new Set(shownStems));
  return new Set([...(first ?? [])].filter((word) => others.every((held) => held.has(word))));
}

/** @param share number of sentences in the text per sentence of the summary */
const distanceFactor = ({ distance }: Scored, share: number): number =>
  1 - CLOSENESS_LOSS * 0.5 ** (distance / (share / 2));

/** Factor for the section of a sentence; a text without sections counts as no section. */
const sectionFactor = ({ candidate }: Scored, picked: readonly Candidate[]): number =>
  picked.some(({ section }) => section !== "" && section === candidate.section)
    ? SAME_SECTION_FACTOR
    : 1;

const sentencesBetween = (one: Scored, other: Scored): number =>
  Math.abs(one.candidate.position - other.candidate.position);

function gainOf(
  { words, weight }: Scored,
  weights: ReadonlyMap<string, number>,
  seen: ReadonlySet<string>,
): number {
  if (words.size === 0) return 0;
  let carried = 0;
  for (const word of words) carried += (weights.get(word) ?? 0) * (seen.has(word) ? SEEN_SHARE : 1);
  return (weight * carried) / words.size ** LENGTH_EXPONENT;
}

/** The first of the best ones; null if none has a score above 0. */
function bestOf(scored: readonly Scored[], score: (scored: Scored) => number): Scored | null {
  let best: Scored | null = null;
  let highest = 0;
  for (const one of scored) {
    const value = score(one);
    if (value > highest) [best, highest] = [one, value];
  }
  return best;
}

/** The opening of a text, its title and its headings state its subject. */
const LEAD_BONUS = 1;
const LEAD_SENTENCES = 4;
const SECTION_BONUS = 0.15;
const TITLE_BONUS = 0.5;
const HEADING_BONUS = 0.15;
/** "In one sentence: …", "Resolved: …": the writer marks what is important. */
const CUE =
  /\b(?:in (?:one|a) (?:sentence|word|nutshell)|in (?:short|brief|summary|total)|to sum up|altogether|all in all|most important(?:ly)?|resolved|conclusion|lesson)\b/i;
const CUE_FACTOR = 1.25;
/** Very short sentences say little; very long ones are seldom real sentences. */
const FEWEST_STEMS = 4;
const MOST_STEMS = 30;
const DATE_OR_NUMBER =
  /^\p{N}|^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)dai|januari|februari|march|april|june|juli|august|september|october|november|december)$/u;
const ODD_LENGTH_FACTOR = 0.3;
export const LINE_FACTOR = 0.3;
/** Words of a narrative, which a summary needs less. */
const TOLD = /\b(?:I|me|my|I'[a-z]+|he|him|his|she|her|you|your)\b|["“„«]/;
const TOLD_FACTOR = 0.7;
/** A link or a picture points to something else. */
export const LINK = /:\/\/|!\[/;
export const LINK_FACTOR = 0.3;
export const QUESTION_FACTOR = 0.75;

/** A factor around 1 for the place of a sentence. @param before the sentence before it in the text */
function placeOf(
  { position, shownStems: stems, contextStems }: Candidate,
  before: Candidate | undefined,
  titleStems: ReadonlySet<string>,
): number {
  const lead = 1 + LEAD_BONUS * Math.exp(-position / LEAD_SENTENCES);
  const opens = before !== undefined && before.contextStems !== contextStems ? SECTION_BONUS : 0;
  const inTitle = TITLE_BONUS * shareOf(titleStems, stems);
  const inHeading = stems.some((stem) => contextStems.has(stem)) ? HEADING_BONUS : 0;
  return lead * (1 + opens + inTitle + inHeading);
}

/** The share of the title's words in a sentence; half of them count as all. */
function shareOf(titleStems: ReadonlySet<string>, stems: readonly string[]): number {
  const held = new Set(stems.filter((stem) => titleStems.has(stem))).size;
  return Math.min(1, (2 * held) / Math.max(1, titleStems.size));
}

/** A factor around 1 for its form. */
function formOf({ text, kind, stems, speakerStems }: Candidate): number {
  const words = stems.filter((stem) => !DATE_OR_NUMBER.test(stem)).length;
  const isOdd = words < FEWEST_STEMS || stems.length > MOST_STEMS;
  const isTold = speakerStems.length === 0 && TOLD.test(text);
  return (
    (kind === "sentence" ? 1 : LINE_FACTOR) *
    (isOdd ? ODD_LENGTH_FACTOR : 1) *
    (isTold ? TOLD_FACTOR : 1) *
    (CUE.test(text) ? CUE_FACTOR : 1) *
    (LINK.test(text) ? LINK_FACTOR : 1) *
    (text.endsWith("?") ? QUESTION_FACTOR : 1)
  );
}

/** Words of spoken language, which fill every transcript and diary and distinguish no text. */
const FILLERS = new Set(
  contentStems(
    `yeah yes okay ok uh um hmm mm mmhmm hm oh ah eh huh right well like think thought know knew mean sort kind lot bit
     actually basically really quite maybe probably guess sure yet still even anyway thank sorry please good nice great
     thing stuff something anything everything nothing someone somebody everybody way look looks see saw seen say got ll
     ve re don didn isn wasn couldn wouldn would could might one two lets`,
  ),
);
/**
 * How much of a text's subject each of its words carries: the log of the number of sentences that contain it. Fillers, numbers
 * and units are left out.
 */
function subjectWeights(candidates: readonly Candidate[]): Map<string, number> {
  const sentences = countHolders(candidates.map(({ stems }) => stems));
  return new Map(
    [...sentences]
      .filter(([stem]) => isWord(stem))
      .map(([stem, count]) => [stem, Math.log(1 + count)]),
  );
}

/** Whether a stem can belong to a subject: it is no number, no unit, no filler. */
export const isWord = (stem: string): boolean => /\p{L}{2}/u.test(stem) && !FILLERS.has(stem);
