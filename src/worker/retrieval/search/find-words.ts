import type { Queryable } from "../../../shared/store/connection/database.ts";
import { expandQuestion, explainLexical } from "../../../shared/store/index/question-words.ts";
import { searchLexical } from "../../../shared/store/index/search-lexical.ts";
import type { LexicalQuestion } from "../../../shared/store/index/search-lexical.ts";
import type { SearchFilter, SearchHit } from "../../../shared/store/index/search-filter.ts";
import { foldSharpS } from "../../../shared/normalise-text.ts";
import { searchableQuestion } from "../searchable-text.ts";
import type { SearchRequest, SearchSettings } from "../search.ts";
import { smoothScores, type SmoothedHit } from "../smooth-scores.ts";
import { coverageOf } from "./coverage.ts";
import { mendWords } from "./mend-words.ts";
import { searchFilterOf } from "./search-filter-of.ts";

/** Chunks whose coverage is looked at: another would hold more of the question only with the most common words. */
const LOOKED_AT = 20;

/** The chunks that the words of a question find, neighbours smoothed; none when they find too little of it. */
export async function findWords(
  db: Queryable,
  request: SearchRequest,
  settings: FindWordsSettings,
): Promise<readonly SmoothedHit[]> {
  const question = await mendedQuestion(db, request);
  const filter = searchFilterOf(request, settings.lexicalK);
  const wanted = await withFeedback(db, { question, filter }, settings);
  const hits = await searchLexical(db, wanted, filter);
  if (!(await reachesFloor(db, question, { hits, floor: settings.floor }))) return [];
  return smoothScores(hits, settings.neighbourWeight);
}

type FindWordsSettings = Pick<
  SearchSettings,
  "lexicalK" | "neighbourWeight" | "floor" | "feedback"
>;

/** The question, with the words of what it finds first where feedback is on. */
export async function withFeedback(
  db: Queryable,
  { question, filter }: { readonly question: LexicalQuestion; readonly filter: SearchFilter },
  { feedback }: Pick<SearchSettings, "feedback">,
): Promise<LexicalQuestion> {
  if (feedback === "off") return question;
  const { added = [] } = question;
  return { ...question, added: [...added, ...(await expandQuestion(db, question, filter))] };
}

/** The words of a request, with what stands in for those that the index does not know. */
export async function mendedQuestion(
  db: Queryable,
  request: SearchRequest,
): Promise<LexicalQuestion> {
  const question = lexicalQuestion(request);
  if (!isMended(request)) return question;
  const mended = await mendWords(db, request);
  const added = new Map<string, number>();
  for (const { term, times } of mended.flatMap(({ terms }) => terms)) {
    added.set(term, Math.max(times, added.get(term) ?? 0));
  }
  return { ...question, added: [...added].map(([term, times]) => ({ term, times })) };
}

/** Whether words that the index does not know may be others. */
export const isMended = ({ mode, spelling }: Pick<SearchRequest, "mode" | "spelling">): boolean =>
  mode === "hybrid" && spelling !== "as written";

/** The words of a request as the index holds them. */
export const lexicalQuestion = ({ text, prefixes }: SearchRequest): LexicalQuestion => ({
  text: searchableQuestion(text),
  prefixes: prefixes?.map(foldSharpS),
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
