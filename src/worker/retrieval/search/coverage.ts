import type { QuestionTerm } from "../../../shared/store/index/question-words.ts";

/**
 * The words of a question in the language of a chunk, which is that of the words it holds; those of the first language
 * when it holds none.
 */
export function termsFor(
  chunkKey: string,
  terms: readonly QuestionTerm[],
): readonly QuestionTerm[] {
  const language = (terms.find(({ scores }) => chunkKey in scores) ?? terms[0])?.language;
  return terms.filter((term) => term.language === language);
}

/**
 * The part of a question that a chunk holds, 0 to 1: the weight of its words that stand in the chunk, of the weight of
 * all. A rare word weighs more, and one that no chunk holds the most.
 */
export function coverageOf(chunkKey: string, terms: readonly QuestionTerm[]): number {
  const weigh = (list: readonly QuestionTerm[]) =>
    list.reduce((sum, { weight }) => sum + weight, 0);
  const own = termsFor(chunkKey, terms);
  const all = weigh(own);
  return all === 0 ? 0 : weigh(own.filter(({ scores }) => chunkKey in scores)) / all;
}
