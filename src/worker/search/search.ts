import { editDistance } from "../../shared/text/close-names.ts";
import { Failure } from "../../shared/failure.ts";
import { foldSharpS, normaliseText } from "../../shared/text/normalise-text.ts";
import type { Queryable } from "../../shared/store/connection/database.ts";
import { loadPassages } from "../../shared/store/index/passages.ts";
import type { StoredPassage } from "../../shared/store/index/passages.ts";
import {
  explainLexical,
  findUnknownWords,
  spellTerms,
} from "../../shared/store/index/question-words.ts";
import type { QuestionTerm, UnknownWord } from "../../shared/store/index/question-words.ts";
import { MOST_PHRASES } from "../../shared/store/index/search-filter.ts";
import type { SearchFilter, SearchHit } from "../../shared/store/index/search-filter.ts";
import type { LexicalQuestion, WeighedTerm } from "../../shared/store/index/search-lexical.ts";
import { searchVectors } from "../../shared/store/index/search-vectors.ts";
import { lexemeOf } from "../../shared/store/index/terms.ts";
import { precisionOf, questionFor } from "../embedders/embedder.ts";
import type { Embedder } from "../embedders/embedder.ts";
import { searchableQuestion, withoutPairs } from "../text/searchable-text.ts";
import type { ChooseVectors, VectorChoice } from "./choose-vectors.ts";
import { searchWithFeedback } from "./feedback.ts";
import type { Feedback } from "./feedback.ts";
import { fuse } from "./fuse.ts";
import type { FusedHit, Scores } from "./fuse.ts";
import { rerankHits } from "./rerank.ts";
import type { Reranking } from "./rerank.ts";
import { smoothScores } from "./smooth-scores.ts";
import type { SmoothedHit } from "./smooth-scores.ts";

/** The `retrieve` slice of the configuration. */
export type SearchSettings = {
  readonly lexicalK: number;
  readonly vectorK: number;
  readonly rrfK: number;
  /** Null for the embedder's default. */
  readonly vectorWeight: number | null;
  /** The part of its neighbours' lexical scores that a chunk adds to its own; 0 for nothing. */
  readonly neighbourWeight: number;
  readonly feedback: Feedback;
  /** How many chunks of one document may be among the passages. */
  readonly perDocument: number;
  /** The coverage of the question, 0 to 1, that at least one chunk must reach; else words find nothing. */
  readonly floor: number;
};

export type SearchRequest = Pick<SearchFilter, "limit"> &
  Partial<SearchFilter> & {
    readonly text: string;
    readonly mode: "hybrid" | "lexical" | "vector";
    /** Hybrid mode replaces words that no chunk holds by similar words, unless this is set. */
    readonly spelling?: "as written";
    /** Hybrid mode only: leaves out a chunk that is near to the text in spelling alone, because it holds no answer. */
    readonly purpose?: "evidence";
    /** Beginnings of words to search for beside the words of the text, in lower case. */
    readonly prefixes?: readonly string[] | undefined;
  };

/**
 * A chunk that was found. `score` is BM25 in lexical mode, cosine similarity in vector mode, and in hybrid mode the fused
 * reciprocal rank, or the score of a reranker, 0 to 1. In hybrid mode a null `lexicalScore` means that the chunk holds no word
 * of the question: only its vector found it, and a vector of the `hashing` embedder is no evidence.
 */
export type Passage = StoredPassage & Scores;

/**
 * @param ofRun wraps the configured embedder so that its calls belong to a run; without it they take no slot of its host
 * @throws Failure INVALID_QUERY for a blank text or too many phrases, and what embedder and reranker throw.
 */
export type Search = (
  request: SearchRequest,
  signal: AbortSignal,
  ofRun?: (embedder: Embedder) => Embedder,
) => Promise<readonly Passage[]>;

type SearchDeps = {
  readonly db: Queryable;
  /** Called before each search that uses vectors. */
  readonly vectors: ChooseVectors;
  readonly settings: SearchSettings;
  /** Used in hybrid mode only: the other modes keep the order of words, or of vectors, alone. */
  readonly reranking?: Reranking | undefined;
};

export const createSearch =
  ({ db, vectors, settings, reranking }: SearchDeps): Search =>
  async (request, signal, ofRun) => {
    checkRequest(request);
    signal.throwIfAborted();
    const [lexical, { embedder, nearest }] = await Promise.all([
      request.mode === "vector" ? [] : findWords(db, request, settings),
      request.mode === "lexical"
        ? WORDS_ALONE
        : findNearest({ db, settings, vectors: chosenFor(vectors, ofRun) }, request, signal),
    ]);
    const fused = rank({ lexical, nearest }, request, { embedder, settings });
    // An embedder that is near in spelling finds something for any text: beside passages with a word of it, others are noise.
    const isBySpelling = request.mode === "hybrid" && embedder?.nearIn === "spelling";
    const needsWord = lexical.length > 0 || request.purpose === "evidence";
    const hits = isBySpelling && needsWord ? fused.filter(hasWord) : fused;
    const ordered =
      request.mode === "hybrid" && reranking !== undefined
        ? await rerankHits({ db, question: request.text, reranking }, hits, signal)
        : hits;
    const best = limitPerDocument(ordered, settings.perDocument).slice(0, request.limit);
    const passages = await addPassages(db, best);
    return isBySpelling && lexical.length === 0
      ? passages.filter((passage) => isSpelledLike(request, passage))
      : passages;
  };

/** Only calls of the configured embedder take a slot of its host; a search does not wait for a former embedder's host. */
const chosenFor =
  (vectors: ChooseVectors, ofRun = (embedder: Embedder): Embedder => embedder): ChooseVectors =>
  async () => {
    const choice = await vectors();
    return choice.whose === "configured" ? { ...choice, embedder: ofRun(choice.embedder) } : choice;
  };

const hasWord = ({ scores }: FusedHit): boolean => scores.lexicalScore !== null;

/** @throws Failure EMBED_DRIFT where the request searches by vectors alone, and there are none to compare with */
function embedderOf(choice: VectorChoice, { mode }: SearchRequest): Embedder | null {
  if (choice.whose !== "none") return choice.embedder;
  if (mode !== "vector") return null;
  throw new Failure(
    "EMBED_DRIFT",
    `There are no vectors to search: those of the configured embedder are not complete, and the previous embedder can't embed the question (${choice.why}). Run: nightdesk embed`,
  );
}

/** Any text has a nearest vector. Where no word was found, the passage must hold a word that is spelled like one of the text. */
const isSpelledLike = ({ text }: SearchRequest, passage: Passage): boolean =>
  isNearInSpelling(text, `${passage.title ?? ""} ${passage.headingPath ?? ""} ${passage.text}`);

function checkRequest({ text, phrases = [], excluded = [] }: SearchRequest): void {
  if (text.trim() === "") {
    throw new Failure("INVALID_QUERY", "The query is blank: give at least one word to search for.");
  }
  if (Math.max(phrases.length, excluded.length) > MOST_PHRASES) {
    throw new Failure(
      "INVALID_QUERY",
      `The query has ${phrases.length} phrases and leaves out ${excluded.length} words; give at most ${MOST_PHRASES} of each.`,
    );
  }
}

type Nearest = { readonly embedder: Embedder | null; readonly nearest: readonly SearchHit[] };

const WORDS_ALONE: Nearest = { embedder: null, nearest: [] };

/**
 * While the question is embedded, another embedder may become complete and the chosen vectors be removed: then it chooses
 * again.
 */
async function findNearest(
  deps: SearchDeps,
  request: SearchRequest,
  signal: AbortSignal,
): Promise<Nearest> {
  const embedder = embedderOf(await deps.vectors(), request);
  if (embedder === null) return WORDS_ALONE;
  try {
    return { embedder, nearest: await findNearestTo({ ...deps, embedder }, request, signal) };
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "EMBED_DRIFT") throw error;
    const next = embedderOf(await deps.vectors(), request);
    if (next === null) return WORDS_ALONE;
    if (next.signature === embedder.signature) throw error;
    const nearest = await findNearestTo({ ...deps, embedder: next }, request, signal);
    return { embedder: next, nearest };
  }
}

async function findNearestTo(
  { db, embedder, settings }: Omit<SearchDeps, "vectors"> & { readonly embedder: Embedder },
  request: SearchRequest,
  signal: AbortSignal,
): Promise<SearchHit[]> {
  const [vector] = await embedder.embed([questionFor(embedder, request.text)], signal);
  // The vector of a text without a word is zero, and nothing is near to it.
  if (vector?.some((value) => value !== 0) !== true) return [];
  const question = { signature: embedder.signature, precision: precisionOf(embedder), vector };
  return searchVectors(db, question, searchFilterOf(request, settings.vectorK));
}

function rank(
  found: { readonly lexical: readonly SmoothedHit[]; readonly nearest: readonly SearchHit[] },
  { mode }: SearchRequest,
  { embedder, settings }: Pick<SearchDeps, "settings"> & { readonly embedder: Embedder | null },
): FusedHit[] {
  const fused = fuse(found, {
    rrfK: settings.rrfK,
    vectorWeight: settings.vectorWeight ?? embedder?.defaultWeight ?? 0,
  });
  if (mode === "hybrid") return fused;
  const own = mode === "lexical" ? "lexicalScore" : "vectorScore";
  return fused.map((hit) => {
    const score = hit.scores[own] ?? hit.scores.score;
    return { ...hit, scores: { ...hit.scores, score } };
  });
}

async function addPassages(db: Queryable, hits: readonly FusedHit[]): Promise<Passage[]> {
  if (hits.length === 0) return [];
  const stored = await loadPassages(
    db,
    hits.map(({ chunkId }) => chunkId),
  );
  return hits.flatMap(({ chunkId, scores }) => {
    const passage = stored.get(chunkId);
    return passage === undefined ? [] : [{ ...passage, ...scores }];
  });
}

/** Keeps the first `limit` hits of each document, in their order. */
function limitPerDocument<T extends { readonly docId: string }>(
  hits: readonly T[],
  limit: number,
): T[] {
  const taken = new Map<string, number>();
  return hits.filter(({ docId }) => {
    const count = (taken.get(docId) ?? 0) + 1;
    taken.set(docId, count);
    return count <= limit;
  });
}

const GRAM = 4;
/** The part of a word's letter groups that a similar word must share. */
const LEAST_SHARED = 0.5;

/**
 * Whether a word of the text is spelled like, but not the same as, a word of the question: it shares half of its groups of four
 * letters. The word search would have found the same word, unless it is a stop word.
 */
export function isNearInSpelling(question: string, text: string): boolean {
  const found = new Set(wordsOf(text));
  const grams = [...found].map((word) => new Set(gramsOf(word)));
  return wordsOf(question)
    .filter((word) => !found.has(word))
    .some((word) => {
      const asked = gramsOf(word);
      const shared = (held: ReadonlySet<string>) => asked.filter((gram) => held.has(gram)).length;
      return grams.some((held) => shared(held) >= LEAST_SHARED * asked.length);
    });
}

const wordsOf = (text: string): string[] =>
  foldSharpS(normaliseText(text))
    .toLowerCase()
    .match(/[\p{L}\p{N}]{4,40}/gu) ?? [];

function gramsOf(word: string): string[] {
  const framed = `^${word}$`;
  return Array.from({ length: framed.length - GRAM + 1 }, (_, at) => framed.slice(at, at + GRAM));
}

/** The filter of both searches. Its limit is at least doubled, because chunks beyond a document's share are removed later. */
export function searchFilterOf(request: SearchRequest, k: number): SearchFilter {
  const { pathPrefix, source, where, since, until, limit } = request;
  const documents = { pathPrefix, source, where, since, until };
  const phrases = request.phrases?.map(foldSharpS);
  const excluded = request.excluded?.map(foldSharpS);
  return { ...documents, phrases, excluded, limit: Math.max(k, 2 * limit) };
}

/** Chunks whose coverage is checked: any further chunk could hold more of the question only by the most common words. */
const LOOKED_AT = 20;

/** Finds chunks by the words of a question, with smoothed scores; none when no chunk reaches the floor of coverage. */
async function findWords(
  db: Queryable,
  request: SearchRequest,
  settings: FindWordsSettings,
): Promise<readonly SmoothedHit[]> {
  const question = await correctedQuestion(db, request);
  const filter = searchFilterOf(request, settings.lexicalK);
  const { hits } = await searchWithFeedback(db, { question, filter }, settings.feedback);
  if (!(await reachesFloor(db, question, { hits, floor: settings.floor }))) return [];
  return smoothScores(hits, settings.neighbourWeight);
}

type FindWordsSettings = Pick<
  SearchSettings,
  "lexicalK" | "neighbourWeight" | "floor" | "feedback"
>;

/** The words of a request, with similar words for those that the index does not hold. */
export async function correctedQuestion(
  db: Queryable,
  request: SearchRequest,
): Promise<LexicalQuestion> {
  const question = lexicalQuestion(request);
  if (!mayCorrectSpelling(request)) return question;
  const mended = await correctSpelling(db, request);
  const added = new Map<string, number>();
  for (const { term, times } of mended.flatMap(({ terms }) => terms)) {
    added.set(term, Math.max(times, added.get(term) ?? 0));
  }
  return { ...question, added: [...added].map(([term, times]) => ({ term, times })) };
}

/** Whether words that the index does not hold may be replaced. */
export const mayCorrectSpelling = ({
  mode,
  spelling,
}: Pick<SearchRequest, "mode" | "spelling">): boolean =>
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

/** Terms that replace one unknown word. */
const MOST_TERMS = 3;
const LEAST_PART = 4;

/** A word that the index does not hold, and the terms that are searched instead. */
type CorrectedWord = { readonly word: string; readonly terms: readonly WeighedTerm[] };

/** A text, and those of its words that are prefixes. */
type SpellingRequest = { readonly text: string; readonly prefixes?: readonly string[] | undefined };

/**
 * Finds replacements for the words of a text that the index does not hold: the same word with other accents, or else the words
 * nearest in spelling, compounds that begin with the word, and words that it begins with. A replacement weighs as much as it is
 * alike. Scripts that are written without spaces are left out: their words are searched in pairs of letters.
 */
async function correctSpelling(
  db: Queryable,
  { text, prefixes = [] }: SpellingRequest,
): Promise<readonly CorrectedWord[]> {
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

/** Where the index holds the same word with other accents, only that one is searched, in any language. */
function preferSame(terms: readonly WeighedTerm[]): readonly WeighedTerm[] {
  const same = terms.filter(({ times }) => times === SAME);
  return same.length > 0 ? same : terms;
}

/** A replacement as a search reports it, in the spelling of the documents. */
export type Correction = { readonly word: string; readonly searchedFor: readonly string[] };

/** The corrections of a request; the same word with other accents is no correction. */
export async function findCorrections(
  db: Queryable,
  asked: SpellingRequest,
): Promise<Correction[]> {
  const corrected = (await correctSpelling(db, asked)).filter(
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

/** The edits allowed, as in Lucene's and Elasticsearch's fuzziness AUTO: one up to 5 letters, two beyond. */
const editsOf = (word: string): number => (word.length <= 5 ? 1 : 2);

/**
 * The words of a question in the language of a chunk. That is the language of the words it holds, or the first language when it
 * holds none.
 */
export function termsFor(
  chunkKey: string,
  terms: readonly QuestionTerm[],
): readonly QuestionTerm[] {
  const language = (terms.find(({ scores }) => chunkKey in scores) ?? terms[0])?.language;
  return terms.filter((term) => term.language === language);
}

/**
 * The part of a question that a chunk holds, 0 to 1: the weight of the question's words in the chunk, divided by the weight of
 * all. A rare word weighs more, and a word that no chunk holds weighs most.
 */
export function coverageOf(chunkKey: string, terms: readonly QuestionTerm[]): number {
  const weigh = (list: readonly QuestionTerm[]) =>
    list.reduce((sum, { weight }) => sum + weight, 0);
  const own = termsFor(chunkKey, terms);
  const all = weigh(own);
  return all === 0 ? 0 : weigh(own.filter(({ scores }) => chunkKey in scores)) / all;
}
