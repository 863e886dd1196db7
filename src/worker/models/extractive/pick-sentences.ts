import type { Candidate } from "./candidates.ts";

export type Scored = { readonly candidate: Candidate; readonly score: number };

const MOST_OVERLAP = 0.7;
/** Further sentences of a fact are shown when they add words of the question, or come very near the best one. */
const AS_GOOD = 0.6;
/** What a further sentence loses that says the same, and one that stands right beside; less the farther it stands. */
const REPETITION_LOSS = 0.2;
const CLOSENESS_LOSS = 0.3;
const CLOSE_SENTENCES = 10;

/**
 * The best one, and further ones that hold words of the question which none before holds, or are as good and new.
 *
 * @param scored best first
 */
export function pickAdding(
  scored: readonly Scored[],
  terms: readonly string[],
  most: number,
): Candidate[] {
  const picked: { candidate: Candidate; words: ReadonlySet<string> }[] = [];
  const missing = new Set(terms);
  const best = scored[0]?.score ?? 0;
  for (const { candidate, score } of scored) {
    if (picked.length === most) break;
    const words = new Set(candidate.shownStems);
    const isAsGood =
      score >= best * AS_GOOD &&
      picked.every((other) => overlap(words, other.words) < MOST_OVERLAP);
    const isAdding =
      picked.length === 0 || terms.some((term) => missing.has(term) && words.has(term));
    if (!isAdding && !isAsGood) continue;
    picked.push({ candidate, words });
    for (const word of words) missing.delete(word);
  }
  return picked.map(({ candidate }) => candidate);
}

/** No more than these are compared with each other. */
const MOST_COMPARED = 200;

/**
 * The best ones that differ: each that is picked takes from those that repeat its words or stand beside it.
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
      return [{ ...one, score: one.score * (1 - REPETITION_LOSS * shared) * apart(one, best) }];
    });
  }
  return picked;
}

function apart({ candidate }: Scored, { candidate: other }: Scored): number {
  const distance = Math.abs(candidate.position - other.position);
  return 1 - CLOSENESS_LOSS * Math.exp(-distance / CLOSE_SENTENCES);
}

/** Share of the shorter one's words that the other has too; 1 where it has none. */
export function overlap(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const [short, long] = one.size <= other.size ? [one, other] : [other, one];
  if (short.size === 0) return 1;
  let shared = 0;
  for (const word of short) if (long.has(word)) shared += 1;
  return shared / short.size;
}

/** The stretch of its paragraph that is shown for a sentence. */
type Shown = { readonly candidate: Candidate; readonly from: number; readonly to: number };

/**
 * The picked sentences as they are shown: each with the sentences before it that it needs, verbatim. Those that
 * would show the same sentence twice become one, in the place of the first.
 */
export function showSpans(picked: readonly Candidate[]): Candidate[] {
  let shown: Shown[] = [];
  for (const candidate of picked) {
    const { start, shownFrom, text } = candidate;
    const added = { candidate, from: shownFrom ?? start, to: start + text.length };
    const touched = shown.filter((one) => overlaps(one, added));
    const [first] = touched;
    const united = [...touched, added].reduce(unite);
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

const unite = (one: Shown, other: Shown): Shown => ({
  candidate: one.candidate,
  from: Math.min(one.from, other.from),
  to: Math.max(one.to, other.to),
});
