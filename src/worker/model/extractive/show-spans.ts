import type { Candidate } from "./candidates.ts";

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
