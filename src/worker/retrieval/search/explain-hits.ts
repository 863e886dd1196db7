import type { Queryable } from "../../../shared/db/database.ts";
import { explainLexical } from "../../../shared/db/index/explain-lexical.ts";
import type { Passage, SearchRequest } from "../search.ts";
import { coverageOf } from "./coverage.ts";
import { lexicalQuestion } from "./find-words.ts";

/** A word of the question in a passage: in how many chunks it is, and what it adds to the score of this one. */
export type TermScore = { readonly term: string; readonly chunks: number; readonly score: number };

export type Explanation = {
  /** Those of the question that the passage holds, the weightiest first. */
  readonly terms: readonly TermScore[];
  /** Those that it does not hold. */
  readonly missing: readonly string[];
  /** Weight of the words that it holds, of the weight of all: what `retrieve.floor` is compared with. */
  readonly coverage: number;
};

/** Says of each passage what the words of the question have to do with it, by its key. */
export async function explainHits(
  db: Queryable,
  request: SearchRequest,
  passages: readonly Passage[],
): Promise<ReadonlyMap<string, Explanation>> {
  const keys = passages.map(({ chunkKey }) => chunkKey);
  const words = await explainLexical(db, lexicalQuestion(request), keys);
  return new Map(
    keys.map((key) => {
      const terms = words.flatMap(({ term, chunks, scores }) => {
        const score = scores[key];
        return score === undefined ? [] : [{ term, chunks, score }];
      });
      const missing = words.filter(({ scores }) => !(key in scores)).map(({ term }) => term);
      return [key, { terms, missing, coverage: coverageOf(key, words) }];
    }),
  );
}
