import type { Candidate } from "../src/worker/models/extractive/candidates.ts";
import { contentStems } from "../src/worker/text/content-words.ts";

/** The sentences by BM25 with its usual constants and nothing else. */
export function plainBm25(
  candidates: readonly Candidate[],
  question: string,
  most: number,
): readonly Candidate[] {
  const terms = new Set(contentStems(question));
  const total = candidates.length;
  const average = candidates.reduce((sum, { stems }) => sum + stems.length, 0) / total;
  const idf = new Map(
    [...terms].map((term) => {
      const holding = candidates.filter(({ stems }) => stems.includes(term)).length;
      return [term, Math.log(1 + (total - holding + 0.5) / (holding + 0.5))];
    }),
  );
  const scoreOf = ({ stems }: Candidate): number =>
    [...terms].reduce((sum, term) => {
      const count = stems.filter((stem) => stem === term).length;
      const length = 0.25 + (0.75 * stems.length) / average;
      return sum + ((idf.get(term) ?? 0) * count * 2.2) / (count + 1.2 * length);
    }, 0);
  return candidates
    .map((candidate) => ({ candidate, score: scoreOf(candidate) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, most)
    .map(({ candidate }) => candidate);
}
