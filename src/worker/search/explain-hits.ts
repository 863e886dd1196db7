import type { Queryable } from "../../shared/store/connection/database.ts";
import { explainLexical } from "../../shared/store/index/question-words.ts";
import { findIdentifiers, identifierWord } from "../text/searchable-text.ts";
import { searchWithFeedback } from "./feedback.ts";
import { coverageOf, mendedQuestion, searchFilterOf, termsFor } from "./search.ts";
import type { Passage, SearchRequest, SearchSettings } from "./search.ts";

/** A word of the question in a passage: in how many chunks it is, and what it adds to the score of this one. */
type TermScore = { readonly term: string; readonly chunks: number; readonly score: number };

export type Explanation = {
  /** Those that were looked for and that the passage holds, the weightiest first. */
  readonly terms: readonly TermScore[];
  /** Those of the question that it does not hold. */
  readonly missing: readonly string[];
  /** Weight of the words that it holds, of the weight of all: what `retrieve.floor` is compared with. */
  readonly coverage: number;
};

/** Says of each passage what the words of the question have to do with it, by its key. */
export async function explainHits(
  db: Queryable,
  request: SearchRequest,
  passages: readonly Passage[],
  settings: Pick<SearchSettings, "feedback" | "lexicalK">,
): Promise<ReadonlyMap<string, Explanation>> {
  const keys = passages.map(({ chunkKey }) => chunkKey);
  const question = await mendedQuestion(db, request);
  const filter = searchFilterOf(request, settings.lexicalK);
  const asked = { question, filter };
  const { question: wanted } = await searchWithFeedback(db, asked, settings.feedback);
  const words = await explainLexical(db, question, keys);
  const looked = wanted === question ? words : await explainLexical(db, wanted, keys);
  const nameOf = termNames(request.text);
  return new Map(
    keys.map((key) => {
      const terms = termsFor(key, looked).flatMap(({ term, chunks, scores }) => {
        const score = scores[key];
        return score === undefined ? [] : [{ term: nameOf(term), chunks, score }];
      });
      const missing = termsFor(key, words)
        .filter(({ scores }) => !(key in scores))
        .map(({ term }) => nameOf(term));
      return [key, { terms, missing, coverage: coverageOf(key, words) }];
    }),
  );
}

/** An identifier is looked for as a word of its own as well, which is shown as `"foo_bar.ts"`, whole. */
function termNames(text: string): (term: string) => string {
  const identifiers = new Map(
    findIdentifiers(text).map((name) => [identifierWord(name).toLowerCase(), name]),
  );
  return (term) => {
    const identifier = identifiers.get(term);
    return identifier === undefined ? term : JSON.stringify(identifier);
  };
}
