import type { Queryable } from "../../shared/store/connection/database.ts";
import { explainLexical } from "../../shared/store/index/question-words.ts";
import { findIdentifiers, identifierWord } from "../text/searchable-text.ts";
import { searchWithFeedback } from "./feedback.ts";
import { coverageOf, correctedQuestion, searchFilterOf, termsFor } from "./search.ts";
import type { Passage, SearchRequest, SearchSettings } from "./search.ts";

/** A word of the question in a passage: the number of chunks that hold it, and its part of this passage's score. */
type TermScore = { readonly term: string; readonly chunks: number; readonly score: number };

export type Explanation = {
  /** The searched words that the passage holds, the heaviest first. */
  readonly terms: readonly TermScore[];
  /** The words of the question that it does not hold. */
  readonly missing: readonly string[];
  /** The weight of the words that it holds, divided by the weight of all; `retrieve.floor` is compared with it. */
  readonly coverage: number;
};

/** Explains for each passage, by its key, which words of the question it holds and what they add to its score. */
export async function explainHits(
  db: Queryable,
  request: SearchRequest,
  passages: readonly Passage[],
  settings: Pick<SearchSettings, "feedback" | "lexicalK">,
): Promise<ReadonlyMap<string, Explanation>> {
  const keys = passages.map(({ chunkKey }) => chunkKey);
  const question = await correctedQuestion(db, request);
  const filter = searchFilterOf(request, settings.lexicalK);
  const asked = { question, filter };
  const { question: searched } = await searchWithFeedback(db, asked, settings.feedback);
  const words = await explainLexical(db, question, keys);
  const searchedTerms = searched === question ? words : await explainLexical(db, searched, keys);
  const nameOf = termNames(request.text);
  return new Map(
    keys.map((key) => {
      const terms = termsFor(key, searchedTerms).flatMap(({ term, chunks, scores }) => {
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

/** An identifier is searched as one whole word as well; that word is shown in quotes: `"foo_bar.ts"`. */
function termNames(text: string): (term: string) => string {
  const identifiers = new Map(
    findIdentifiers(text).map((name) => [identifierWord(name).toLowerCase(), name]),
  );
  return (term) => {
    const identifier = identifiers.get(term);
    return identifier === undefined ? term : JSON.stringify(identifier);
  };
}
