import type { Candidate } from "./candidates.ts";
import { overlap } from "./overlap.ts";
import { contentStems } from "./words.ts";

/** The opening of a text, its title and its headings say what it is about. */
const LEAD_BONUS = 0.5;
const LEAD_SENTENCES = 4;
const TITLE_BONUS = 0.6;
const HEADING_BONUS = 0.25;
/** Between 0.5, where long sentences win, and 1, where short ones do. */
const LENGTH_EXPONENT = 0.75;
/** Very short sentences carry little, long ones crowd out others. */
const FEWEST_STEMS = 4;

/**
 * The sentences that stand for a text, in its order: those with most of the words that it keeps coming back to,
 * each different from the ones already taken.
 *
 * @param most number of sentences
 */
export function rankForSummary(
  candidates: readonly Candidate[],
  title: string,
  most: number,
): Candidate[] {
  const weights = subjectWeights(candidates);
  const titleStems = new Set(contentStems(title));
  const scored = candidates
    .map((candidate) => ({
      candidate,
      score: scoreOf(candidate, weights, titleStems) * lead(candidate),
    }))
    .sort((a, b) => b.score - a.score || a.candidate.position - b.candidate.position);
  const picked: Candidate[] = [];
  for (const { candidate } of scored) {
    if (picked.length === most) break;
    if (picked.every((other) => overlap(candidate, other) < 0.6)) picked.push(candidate);
  }
  return picked.sort((a, b) => a.position - b.position);
}

/** How much of the text's subject a word carries: log of how many sentences come back to it. */
function subjectWeights(candidates: readonly Candidate[]): Map<string, number> {
  const sentences = new Map<string, number>();
  for (const { stems } of candidates) {
    for (const stem of new Set(stems)) sentences.set(stem, (sentences.get(stem) ?? 0) + 1);
  }
  return new Map([...sentences].map(([stem, count]) => [stem, Math.log(1 + count)]));
}

function scoreOf(
  { stems, kind, contextStems }: Candidate,
  weights: ReadonlyMap<string, number>,
  titleStems: ReadonlySet<string>,
): number {
  const words = [...new Set(stems)];
  if (words.length === 0) return 0;
  const carried = words.reduce((total, word) => total + (weights.get(word) ?? 0), 0);
  const inTitle = words.some((word) => titleStems.has(word)) ? TITLE_BONUS : 0;
  const underHeading = words.some((word) => contextStems.has(word)) ? HEADING_BONUS : 0;
  const isSlight = words.length < FEWEST_STEMS || kind === "line";
  return (
    (carried / words.length ** LENGTH_EXPONENT) *
    (1 + inTitle + underHeading) *
    (isSlight ? 0.3 : 1)
  );
}

const lead = ({ position }: Candidate): number =>
  1 + LEAD_BONUS * Math.exp(-position / LEAD_SENTENCES);
