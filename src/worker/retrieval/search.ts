import type { SearchFilter } from "../../shared/db/index/search-filter.ts";
import type { SearchHit } from "../../shared/db/index/search-hit.ts";
import { loadPassages, type StoredPassage } from "../../shared/db/index/load-passages.ts";
import { searchLexical } from "../../shared/db/index/search-lexical.ts";
import { searchVectors } from "../../shared/db/index/search-vectors.ts";
import type { Queryable } from "../../shared/db/database.ts";
import { Failure } from "../../shared/failure.ts";
import type { Embedder } from "../embedder/embedder.ts";
import { fuse, type FusedHit, type Scores } from "./fuse.ts";
import { limitPerDocument } from "./limit-per-document.ts";
import { searchableQuestion } from "./searchable-text.ts";
import { smoothScores } from "./smooth-scores.ts";

/** The `retrieve` slice of the configuration. */
export type SearchSettings = {
  readonly lexicalK: number;
  readonly vectorK: number;
  readonly rrfK: number;
  /** Null for the embedder's own. */
  readonly vectorWeight: number | null;
  /** What a chunk borrows of its neighbours' lexical scores; 0 for nothing. */
  readonly neighbourWeight: number;
  /** How many chunks of one document may be among the passages. */
  readonly perDocument: number;
  /** BM25 below this is no match; 0 lets everything pass. */
  readonly floor: number;
};

export type SearchRequest = {
  readonly text: string;
  readonly limit: number;
  readonly mode: "hybrid" | "lexical" | "vector";
  /** Relative to the work root. */
  readonly pathPrefix?: string | undefined;
  readonly source?: string | undefined;
};

/**
 * A chunk that was found. `score` is BM25 in lexical mode, cosine similarity in vector mode, and the fused
 * reciprocal rank in hybrid mode. A null `lexicalScore` in hybrid mode means that no word of the question is in the
 * chunk: it came by its vector alone, which with the `hashing` embedder is no evidence of anything.
 */
export type Passage = StoredPassage & Scores;

/** @throws Failure INVALID_QUERY for a blank text, and what the embedder throws. */
export type Search = (request: SearchRequest, signal: AbortSignal) => Promise<readonly Passage[]>;

export type SearchDeps = {
  readonly db: Queryable;
  readonly embedder: Embedder;
  readonly settings: SearchSettings;
};

export const createSearch =
  ({ db, embedder, settings }: SearchDeps): Search =>
  async (request, signal) => {
    checkText(request.text);
    signal.throwIfAborted();
    const [lexical, nearest] = await Promise.all([
      request.mode === "vector" ? [] : findWords(db, request, settings),
      request.mode === "lexical" ? [] : findNearest({ db, embedder, settings }, request, signal),
    ]);
    const hits = rank({ lexical, nearest }, request, { embedder, settings });
    const best = limitPerDocument(hits, settings.perDocument).slice(0, request.limit);
    return addPassages(db, best);
  };

function checkText(text: string): void {
  if (text.trim() !== "") return;
  throw new Failure("INVALID_QUERY", "The query is blank: give at least one word to search for.");
}

async function findWords(
  db: Queryable,
  request: SearchRequest,
  settings: SearchSettings,
): Promise<SearchHit[]> {
  const hits = await searchLexical(
    db,
    searchableQuestion(request.text),
    toFilter(request, settings.lexicalK),
  );
  return smoothScores(hits, settings.neighbourWeight).filter(
    ({ score }) => score >= settings.floor,
  );
}

async function findNearest(
  { db, embedder, settings }: SearchDeps,
  request: SearchRequest,
  signal: AbortSignal,
): Promise<SearchHit[]> {
  const [vector] = await embedder.embed([request.text], signal);
  // A text without a word has no direction, and nothing is near to it.
  if (vector?.some((value) => value !== 0) !== true) return [];
  const { signature } = embedder;
  return searchVectors(db, { signature, vector }, toFilter(request, settings.vectorK));
}

/** Twice the limit, because a document's chunks beyond `perDocument` make way for others. */
const toFilter = ({ pathPrefix, source, limit }: SearchRequest, k: number): SearchFilter => ({
  pathPrefix,
  source,
  limit: Math.max(k, 2 * limit),
});

function rank(
  found: { readonly lexical: readonly SearchHit[]; readonly nearest: readonly SearchHit[] },
  { mode }: SearchRequest,
  { embedder, settings }: Pick<SearchDeps, "embedder" | "settings">,
): FusedHit[] {
  const fused = fuse(found, {
    rrfK: settings.rrfK,
    vectorWeight: settings.vectorWeight ?? embedder.defaultWeight,
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
