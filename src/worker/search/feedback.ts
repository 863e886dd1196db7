import type { Queryable } from "../../shared/store/connection/database.ts";
import { expandQuestion } from "../../shared/store/index/question-words.ts";
import type { LexicalHit, SearchFilter } from "../../shared/store/index/search-filter.ts";
import { searchLexical } from "../../shared/store/index/search-lexical.ts";
import type { LexicalQuestion } from "../../shared/store/index/search-lexical.ts";

/** When to search again with words from the first hits: never, only where the question names a subject, or always. */
export type Feedback = "off" | "auto" | "rm3";

type Asked = { readonly question: LexicalQuestion; readonly filter: SearchFilter };

/** The question as it was searched in the end, and the chunks that it found, best first. */
type Found = { readonly question: LexicalQuestion; readonly hits: readonly LexicalHit[] };

export async function searchWithFeedback(
  db: Queryable,
  { question, filter }: Asked,
  feedback: Feedback,
): Promise<Found> {
  const hits = await searchLexical(db, question, filter);
  if (feedback === "off" || (feedback === "auto" && !namesSubject(hits))) return { question, hits };
  const { added = [] } = question;
  const more = await expandQuestion(db, question, hits);
  const expanded = { ...question, added: [...added, ...more] };
  return { question: expanded, hits: await searchLexical(db, expanded, filter) };
}

const COMPARED = 10;
/** From this coverage on, the best chunk of the first document counts as the answer. */
const FOUND = 0.8;
/** Where a question names a subject, the mean coverage of the first ten documents is over this part of the first one's. */
const ALIKE = 0.7;

/**
 * Whether a question names a subject, of which many documents hold a part and none holds all, rather than one thing that a
 * single document holds. Feedback helps with a subject, and harms with one thing and within one long document. The bounds gain
 * most on CACM, MED and CISI without a loss on the questions of SQuAD, which one paragraph answers.
 */
export function namesSubject(hits: readonly Pick<LexicalHit, "coverage" | "docId">[]): boolean {
  const bestOf = new Map<string, number>();
  for (const { docId, coverage } of hits) {
    if (!bestOf.has(docId)) bestOf.set(docId, coverage);
    if (bestOf.size === COMPARED) break;
  }
  const coverages = [...bestOf.values()];
  const [first = 0] = coverages;
  if (coverages.length < COMPARED || first >= FOUND) return false;
  return coverages.reduce((sum, coverage) => sum + coverage, 0) / COMPARED > ALIKE * first;
}
