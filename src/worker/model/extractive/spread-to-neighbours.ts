import type { Candidate } from "./candidates.ts";

/** What is left of a word beyond a heading, beside what the end of its paragraph takes. */
const BEYOND_HEADING = 0.3;

/** For each sentence, what is left of a word on the way to it from the one before; nothing from another piece. */
export function stepsOf(candidates: readonly Candidate[], beyondParagraph: number): Float64Array {
  return Float64Array.from(candidates, (candidate, index) => {
    const before = candidates[index - 1];
    if (before?.number !== candidate.number) return 0;
    if (before.contextStems !== candidate.contextStems) return BEYOND_HEADING * beyondParagraph;
    return candidate.start > before.start ? 1 : beyondParagraph;
  });
}

/**
 * What reaches each place from all places before and after it, in two passes.
 *
 * @param kept what is left after each step, beside what `steps` say
 */
export function spread(own: Float64Array, steps: Float64Array, kept: number): Float64Array {
  const reached = new Float64Array(own.length);
  let carried = 0;
  for (let index = 1; index < own.length; index += 1) {
    carried = (carried + (own[index - 1] ?? 0)) * kept * (steps[index] ?? 0);
    reached[index] = carried;
  }
  carried = 0;
  for (let index = own.length - 2; index >= 0; index -= 1) {
    carried = (carried + (own[index + 1] ?? 0)) * kept * (steps[index + 1] ?? 0);
    reached[index] = (reached[index] ?? 0) + carried;
  }
  return reached;
}
