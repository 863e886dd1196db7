import type { Candidate } from "./candidates.ts";

/** The opening of a text, its title and its headings say what it is about. */
const LEAD_BONUS = 1;
const LEAD_SENTENCES = 4;
const SECTION_BONUS = 0.15;
const TITLE_BONUS = 0.4;
const HEADING_BONUS = 0.15;
/** Very short sentences carry little; very long ones are seldom one. */
const FEWEST_STEMS = 4;
const MOST_STEMS = 30;
const ODD_LENGTH_FACTOR = 0.3;
const LINE_FACTOR = 0.3;
/** "He had not." says something only after the sentence before it, and a question says nothing yet. */
const DEPENDENT =
  /^["'“‘(*_]*(?:he|she|it|they|him|his|her|their|this|that|these|those|and|but|so|or|then|such|also|yes|no|well|oh|yeah)\b/i;
const DEPENDENT_FACTOR = 0.75;
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
  { position, stems, contextStems }: Candidate,
  before: Candidate | undefined,
  titleStems: ReadonlySet<string>,
): number {
  const lead = 1 + LEAD_BONUS * Math.exp(-position / LEAD_SENTENCES);
  const opens = before !== undefined && before.contextStems !== contextStems ? SECTION_BONUS : 0;
  const inTitle = stems.some((stem) => titleStems.has(stem)) ? TITLE_BONUS : 0;
  const inHeading = stems.some((stem) => contextStems.has(stem)) ? HEADING_BONUS : 0;
  return lead * (1 + opens + inTitle + inHeading);
}

function formOf({ text, kind, stems }: Candidate): number {
  const isOdd = stems.length < FEWEST_STEMS || stems.length > MOST_STEMS;
  return (
    (kind === "line" ? LINE_FACTOR : 1) *
    (isOdd ? ODD_LENGTH_FACTOR : 1) *
    (DEPENDENT.test(text) ? DEPENDENT_FACTOR : 1) *
    (text.endsWith("?") ? QUESTION_FACTOR : 1)
  );
}
