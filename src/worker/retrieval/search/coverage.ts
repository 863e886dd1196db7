import type { QuestionTerm } from "../../../shared/db/index/explain-lexical.ts";

/**
 * The part of a question that a chunk holds, 0 to 1: the weight of its words that stand in the chunk, of the weight of
 * all. A rare word weighs more, and one that no chunk holds the most.
 */
export function coverageOf(chunkKey: string, terms: readonly QuestionTerm[]): number {
  const weigh = (list: readonly QuestionTerm[]) =>
    list.reduce((sum, { weight }) => sum + weight, 0);
  const all = weigh(terms);
  return all === 0 ? 0 : weigh(terms.filter(({ scores }) => chunkKey in scores)) / all;
}
