import type { Candidate } from "./candidates.ts";
import { contentStems } from "./words.ts";

/** Words of people who talk, which every transcript and diary is full of and which tell none from another. */
const FILLERS = new Set(
  contentStems(
    `yeah yes okay ok uh um hmm mm mmhmm hm oh ah eh huh right well like think thought know knew mean sort kind lot bit
     actually basically really quite maybe probably guess sure yet still even anyway thank sorry please good nice great
     thing stuff something anything everything nothing someone somebody everybody way look looks see saw seen say got ll
     ve re don didn isn wasn couldn wouldn would could might one two lets`,
  ),
);
/**
 * How much of a text's subject each of its words carries: the log of how many sentences come back to it. Fillers,
 * numbers and units carry nothing, and are left out.
 */
export function subjectWeights(candidates: readonly Candidate[]): Map<string, number> {
  const sentences = new Map<string, number>();
  for (const { stems } of candidates) {
    for (const stem of new Set(stems)) sentences.set(stem, (sentences.get(stem) ?? 0) + 1);
  }
  return new Map(
    [...sentences]
      .filter(([stem]) => /\p{L}{2}/u.test(stem) && !FILLERS.has(stem))
      .map(([stem, count]) => [stem, Math.log(1 + count)]),
  );
}
