import type { Candidate } from "./candidates.ts";

/** The opening of a text, its title and its headings say what it is about. */
const LEAD_BONUS = 1;
const LEAD_SENTENCES = 4;
const SECTION_BONUS = 0.15;
const TITLE_BONUS = 0.5;
const HEADING_BONUS = 0.15;
/** "In one sentence: …", "Resolved: …": the writer says what counts. */
const CUE =
  /\b(?:in (?:one|a) (?:sentence|word|nutshell)|in (?:short|brief|summary|total)|to sum up|altogether|all in all|most important(?:ly)?|resolved|conclusion|lesson)\b/i;
const CUE_FACTOR = 1.25;
/** Very short sentences carry little; very long ones are seldom one. */
const FEWEST_STEMS = 4;
const MOST_STEMS = 30;
const DATE_OR_NUMBER =
  /^\p{N}|^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)dai|januari|februari|march|april|june|juli|august|september|october|november|december)$/u;
const ODD_LENGTH_FACTOR = 0.3;
const LINE_FACTOR = 0.3;
/** An anecdote is told in the words of the one who was there. */
const TOLD = /\b(?:I|me|my|I'[a-z]+|he|him|his|she|her|you|your)\b|["“„«]/;
const TOLD_FACTOR = 0.7;
/** A link or a picture is shown for what it leads to. */
const LINK = /:\/\/|!\[/;
const LINK_FACTOR = 0.3;
const QUESTION_FACTOR = 0.75;

/**
 * What a sentence is worth in a summary by its place and form, whatever its words: a factor around 1.
 *
 * @param before the sentence before it in the text
 */
export function sentenceWeight(
  candidate: Candidate,
  before: Candidate | undefined,
  titleStems: ReadonlySet<string>,
): number {
  return placeOf(candidate, before, titleStems) * formOf(candidate);
}

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

/** Half of the title's words are as good as all of them. */
function shareOf(titleStems: ReadonlySet<string>, stems: readonly string[]): number {
  const held = new Set(stems.filter((stem) => titleStems.has(stem))).size;
  return Math.min(1, (2 * held) / Math.max(1, titleStems.size));
}

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
