import type { Queryable } from "../../../shared/store/connection/database.ts";
import type { WeighedTerm } from "../../../shared/store/index/search-lexical.ts";
import { lexemeOf } from "../../../shared/store/index/terms.ts";
import { findUnknownWords, spellTerms } from "../../../shared/store/index/question-words.ts";
import type { UnknownWord } from "../../../shared/store/index/question-words.ts";
import { editDistance } from "../../../shared/close-names.ts";
import { foldSharpS, normaliseText } from "../../../shared/normalise-text.ts";
import { withoutPairs } from "../character-pairs.ts";

/** Terms that stand in for one unknown word. */
const MOST_TERMS = 3;
const LEAST_PART = 4;

/** A word that the index does not hold, and the terms that are looked for instead of it. */
export type MendedWord = { readonly word: string; readonly terms: readonly WeighedTerm[] };

/** What is asked: a text, and the words of it that are beginnings of others. */
type Asked = { readonly text: string; readonly prefixes?: readonly string[] | undefined };

/**
 * What is looked for instead of the words of a text that the index does not hold: the same word with other accents, or else
 * those nearest in spelling, and those that are a compound with the word, or its first part. Each counts by how much of it is
 * alike. Scripts that are written without blanks are left out: their words are searched in pairs of letters.
 */
export async function mendWords(
  db: Queryable,
  { text, prefixes = [] }: Asked,
): Promise<readonly MendedWord[]> {
  const begun = new Set(prefixes.map(foldSharpS));
  const mended = new Map<string, Map<string, number>>();
  for (const unknown of await findUnknownWords(db, foldSharpS(withoutPairs(text)))) {
    if (begun.has(unknown.word)) continue;
    const terms = mended.get(unknown.word) ?? new Map<string, number>();
    for (const { term, times } of nearestTerms(unknown)) {
      terms.set(term, Math.max(times, terms.get(term) ?? 0));
    }
    mended.set(unknown.word, terms);
  }
  return [...mended].map(([word, terms]) => ({
    word,
    terms: preferSame([...terms].map(([term, times]) => ({ term, times }))),
  }));
}

/** A word that is there with other accents is what is meant, in whichever language. */
function preferSame(terms: readonly WeighedTerm[]): readonly WeighedTerm[] {
  const same = terms.filter(({ times }) => times === SAME);
  return same.length > 0 ? same : terms;
}

/** What a search says that it looked for, as the documents spell it. */
export type Correction = { readonly word: string; readonly searchedFor: readonly string[] };

/** The corrections of what is asked; the same word with other accents is none. */
export async function findCorrections(db: Queryable, asked: Asked): Promise<Correction[]> {
  const corrected = (await mendWords(db, asked)).filter(
    ({ terms }) => terms.length > 0 && terms.every(({ times }) => times < SAME),
  );
  if (corrected.length === 0) return [];
  const spelled = await spellTerms(
    db,
    corrected.flatMap(({ terms }) => terms.map(({ term }) => term)),
  );
  return corrected.map(({ word, terms }) => ({
    word: asWritten(word, asked.text),
    searchedFor: [...new Set(terms.map(({ term }) => spelled.get(term) ?? lexemeOf(term)))],
  }));
}

const asWritten = (word: string, text: string): string =>
  text.split(/[^\p{L}\p{M}]+/u).find((written) => foldSharpS(written).toLowerCase() === word) ??
  word;

function nearestTerms({ lexeme, candidates }: UnknownWord): WeighedTerm[] {
  const near = candidates
    .map((term) => ({ term, times: likeness(lexeme, lexemeOf(term)) }))
    .filter(({ times }) => times > 0);
  return near.sort((a, b) => b.times - a.times || (a.term < b.term ? -1 : 1)).slice(0, MOST_TERMS);
}

const SAME = 1;
const withoutAccents = (word: string): string =>
  normaliseText(word, "NFKD").replace(/\p{Mn}/gu, "");

function likeness(word: string, candidate: string): number {
  if (withoutAccents(word) === withoutAccents(candidate)) return SAME;
  const most = editsOf(word);
  const edits = editDistance(word, candidate, most);
  if (edits <= most) return 1 - edits / word.length;
  const [part, whole] = word.length < candidate.length ? [word, candidate] : [candidate, word];
  return part.length >= LEAST_PART && whole.startsWith(part) ? part.length / whole.length : 0;
}

/** As many as Lucene's and Elasticsearch's fuzziness AUTO: one up to 5 letters, two beyond. */
const editsOf = (word: string): number => (word.length <= 5 ? 1 : 2);
