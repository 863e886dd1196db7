import type { Candidate } from "./candidates.ts";

export type Scored = { readonly candidate: Candidate; readonly score: number };

const MOST_OVERLAP = 0.7;
/**
 * The least chance of being the answer for a further sentence of average length; a sentence of double length needs double the
 * chance.
 */
const LEAST_CHANCE = 0.05;
/** What a further sentence loses if it repeats the words of a picked one, or stands near it; less with distance. */
const REPETITION_LOSS = 0.2;
const CLOSENESS_LOSS = 0.3;
const CLOSE_SENTENCES = 10;

/**
 * Picks the likeliest sentence, and further ones that are likely enough for their length and repeat nothing.
 *
 * @param scored likeliest first; the score is the chance of being the answer
 */
export function pickLikely(scored: readonly Scored[], most: number): Candidate[] {
  const lengths = scored.map(({ candidate }) => candidate.shownStems.length);
  const usual = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
  const picked: { candidate: Candidate; words: ReadonlySet<string> }[] = [];
  for (const { candidate, score } of scored) {
    if (picked.length === most) break;
    const words = new Set(candidate.shownStems);
    const isWorthShowing = score * usual >= LEAST_CHANCE * candidate.shownStems.length;
    const isNew = picked.every((other) => overlap(words, other.words) < MOST_OVERLAP);
    if (picked.length === 0 || (isWorthShowing && isNew)) picked.push({ candidate, words });
  }
  return picked.map(({ candidate }) => candidate);
}

/** Only this many sentences are compared with each other. */
const MOST_COMPARED = 200;

/**
 * Picks the best sentences that differ: each picked one lowers the score of those that repeat its words or stand near it.
 *
 * Maximal marginal relevance as in Carbonell and Goldstein, 1998.
 *
 * @param scored best first
 */
export function pickDiverse(scored: readonly Scored[], most: number): Candidate[] {
  let left = scored
    .slice(0, MOST_COMPARED)
    .map((one) => ({ ...one, words: new Set(one.candidate.shownStems) }));
  const picked: Candidate[] = [];
  while (picked.length < most) {
    const best = left.reduce<(typeof left)[number] | null>(
      (highest, one) => (highest === null || one.score > highest.score ? one : highest),
      null,
    );
    if (best === null) break;
    picked.push(best.candidate);
    left = left.flatMap((one) => {
      const shared = overlap(one.words, best.words);
      if (one === best || shared >= MOST_OVERLAP) return [];
      return [
        { ...one, score: one.score * (1 - REPETITION_LOSS * shared) * distanceFactor(one, best) },
      ];
    });
  }
  return picked;
}

function distanceFactor({ candidate }: Scored, { candidate: other }: Scored): number {
  const distance = Math.abs(candidate.position - other.position);
  return 1 - CLOSENESS_LOSS * Math.exp(-distance / CLOSE_SENTENCES);
}

/** Share of the words of the shorter sentence that the other has too; 1 if it has no words. */
export function overlap(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const [short, long] = one.size <= other.size ? [one, other] : [other, one];
  if (short.size === 0) return 1;
  let shared = 0;
  for (const word of short) if (long.has(word)) shared += 1;
  return shared / short.size;
}

/** The part of its paragraph that is shown for a sentence. */
type Shown = { readonly candidate: Candidate; readonly from: number; readonly to: number };

/**
 * The picked sentences as they are shown: each verbatim with the earlier sentences that it needs. Parts that overlap become
 * one, at the place of the first.
 */
export function showSpans(picked: readonly Candidate[]): Candidate[] {
  let shown: Shown[] = [];
  for (const candidate of picked) {
    const { start, shownFrom, text } = candidate;
    const added = { candidate, from: shownFrom ?? start, to: start + text.length };
    const touched = shown.filter((one) => overlaps(one, added));
    const [first] = touched;
    const united = [...touched, added].reduce(uniteSpans);
    shown =
      first === undefined
        ? [...shown, added]
        : shown.flatMap((one) => (one === first ? [united] : touched.includes(one) ? [] : [one]));
  }
  return shown.map(({ candidate, from, to }) => ({
    ...candidate,
    text: candidate.block.slice(from, to),
  }));
}

const overlaps = (one: Shown, other: Shown): boolean =>
  one.candidate.number === other.candidate.number &&
  one.candidate.block === other.candidate.block &&
  one.from < other.to &&
  other.from < one.to;

const uniteSpans = (one: Shown, other: Shown): Shown => ({
  candidate: one.candidate,
  from: Math.min(one.from, other.from),
  to: Math.max(one.to, other.to),
});
