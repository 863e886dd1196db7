import type { Queryable } from "../../../shared/db/database.ts";
import { explainLexical } from "../../../shared/db/index/explain-lexical.ts";
import { type LexicalQuestion, searchLexical } from "../../../shared/db/index/search-lexical.ts";
import type { SearchHit } from "../../../shared/db/index/search-hit.ts";
import { searchableQuestion } from "../searchable-text.ts";
import type { SearchRequest, SearchSettings } from "../search.ts";
import { smoothScores, type SmoothedHit } from "../smooth-scores.ts";
import { coverageOf } from "./coverage.ts";
import { searchFilterOf } from "./search-filter-of.ts";

/** Chunks whose coverage is looked at: another would hold more of the question only with the most common words. */
const LOOKED_AT = 20;

/** The chunks that the words of a question find, neighbours smoothed; none when they find too little of it. */
export async function findWords(
  db: Queryable,
  request: SearchRequest,
  settings: Pick<SearchSettings, "lexicalK" | "neighbourWeight" | "floor">,
): Promise<readonly SmoothedHit[]> {
  const question = lexicalQuestion(request);
  const hits = await searchLexical(db, question, searchFilterOf(request, settings.lexicalK));
  if (!(await reachesFloor(db, question, { hits, floor: settings.floor }))) return [];
  return smoothScores(hits, settings.neighbourWeight);
}

/** The words of a request as the index holds them. */
export const lexicalQuestion = ({ text, prefixes }: SearchRequest): LexicalQuestion => ({
  text: searchableQuestion(text),
  prefixes,
});

async function reachesFloor(
  db: Queryable,
  question: LexicalQuestion,
  { hits, floor }: { readonly hits: readonly SearchHit[]; readonly floor: number },
): Promise<boolean> {
  if (floor === 0 || hits.length === 0) return true;
  const keys = hits.slice(0, LOOKED_AT).map(({ chunkKey }) => chunkKey);
  const terms = await explainLexical(db, question, keys);
  return keys.some((key) => coverageOf(key, terms) >= floor);
}
