import type { Queryable } from "../../../shared/db/database.ts";
import type { WeighedTerm } from "../../../shared/db/index/search-lexical.ts";
import { lexemeOf } from "../../../shared/db/index/term.ts";
import { findUnknownWords, type UnknownWord } from "../../../shared/db/index/unknown-words.ts";
import { editDistance } from "../../../shared/edit-distance.ts";

/** Terms that stand in for one unknown word. */
const MOST_TERMS = 3;
const LEAST_PART = 4;

/**
 * Terms that stand in for the words of a text that the index does not know: those nearest in spelling, and those that
 * are a compound with the word, or its first part. Each counts by how much of it is alike.
 */
export async function mendWords(db: Queryable, text: string): Promise<readonly WeighedTerm[]> {
  const added = new Map<string, number>();
  for (const unknown of await findUnknownWords(db, text)) {
    for (const { term, times } of nearestTerms(unknown)) {
      added.set(term, Math.max(times, added.get(term) ?? 0));
    }
  }
  return [...added].map(([term, times]) => ({ term, times }));
}

function nearestTerms({ lexeme, candidates }: UnknownWord): WeighedTerm[] {
  const near = candidates
    .map((term) => ({ term, times: likeness(lexeme, lexemeOf(term)) }))
    .filter(({ times }) => times > 0);
  return near.sort((a, b) => b.times - a.times || (a.term < b.term ? -1 : 1)).slice(0, MOST_TERMS);
}

function likeness(word: string, candidate: string): number {
  const most = editsOf(word);
  const edits = editDistance(word, candidate, most);
  if (edits <= most) return 1 - edits / word.length;
  const [part, whole] = word.length < candidate.length ? [word, candidate] : [candidate, word];
  return part.length >= LEAST_PART && whole.startsWith(part) ? part.length / whole.length : 0;
}

/** As many as Lucene's and Elasticsearch's fuzziness AUTO: one up to 5 letters, two beyond. */
const editsOf = (word: string): number => (word.length <= 5 ? 1 : 2);
