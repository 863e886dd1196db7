import type { Queryable } from "../../shared/store/connection/database.ts";
import { loadPassages } from "../../shared/store/index/passages.ts";
import type { StoredPassage } from "../../shared/store/index/passages.ts";
import { MOST_PHRASES } from "../../shared/store/index/search-filter.ts";
import type { Facet, SearchHit } from "../../shared/store/index/search-filter.ts";
import { searchVectors } from "../../shared/store/index/search-vectors.ts";
import { Failure } from "../../shared/failure.ts";
import type { Embedder } from "../embedders/embedder.ts";
import { fuse, type FusedHit, type Scores } from "./fuse.ts";
import { limitPerDocument } from "./limit-per-document.ts";
import { findWords } from "./search/find-words.ts";
import { isNearInSpelling } from "./search/near-in-spelling.ts";
import { searchFilterOf } from "./search/search-filter-of.ts";
import type { SmoothedHit } from "./smooth-scores.ts";

/** The `retrieve` slice of the configuration. */
export type SearchSettings = {
  readonly lexicalK: number;
  readonly vectorK: number;
  readonly rrfK: number;
  /** Null for the embedder's own. */
  readonly vectorWeight: number | null;
  /** What a chunk borrows of its neighbours' lexical scores; 0 for nothing. */
  readonly neighbourWeight: number;
  /** Whether words of what a question finds first are looked for as well. */
  readonly feedback: "off" | "rm3";
  /** How many chunks of one document may be among the passages. */
  readonly perDocument: number;
  /** Coverage of the question, 0 to 1, that one chunk at least must have for words to find anything. */
  readonly floor: number;
};

export type SearchRequest = {
  readonly text: string;
  readonly limit: number;
  readonly mode: "hybrid" | "lexical" | "vector";
  /** Hybrid mode looks for what is near to words that no chunk holds, unless they are meant as they are written. */
  readonly spelling?: "as written";
  /** Relative to the work root. */
  readonly pathPrefix?: string | undefined;
  readonly source?: string | undefined;
  /** Values in the frontmatter, all of them. */
  readonly where?: readonly Facet[] | undefined;
  /** First and last day of the documents, YYYY-MM-DD. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** Beginnings of words that are looked for beside the text's, in lower case. */
  readonly prefixes?: readonly string[] | undefined;
  /** Words that a chunk must hold in this order. */
  readonly phrases?: readonly string[] | undefined;
  /** Words that a chunk must not hold. */
  readonly excluded?: readonly string[] | undefined;
};

/**
 * A chunk that was found. `score` is BM25 in lexical mode, cosine similarity in vector mode, and the fused
 * reciprocal rank in hybrid mode. A null `lexicalScore` in hybrid mode means that no word of the question is in the
 * chunk: it came by its vector alone, which with the `hashing` embedder is no evidence of anything.
 */
export type Passage = StoredPassage & Scores;

/** @throws Failure INVALID_QUERY for a blank text or too many phrases, and what the embedder throws. */
export type Search = (request: SearchRequest, signal: AbortSignal) => Promise<readonly Passage[]>;

export type SearchDeps = {
  readonly db: Queryable;
  readonly embedder: Embedder;
  readonly settings: SearchSettings;
};

export const createSearch =
  ({ db, embedder, settings }: SearchDeps): Search =>
  async (request, signal) => {
    checkRequest(request);
    signal.throwIfAborted();
    const [lexical, nearest] = await Promise.all([
      request.mode === "vector" ? [] : findWords(db, request, settings),
      request.mode === "lexical" ? [] : findNearest({ db, embedder, settings }, request, signal),
    ]);
    const hits = rank({ lexical, nearest }, request, { embedder, settings });
    const best = limitPerDocument(hits, settings.perDocument).slice(0, request.limit);
    const passages = await addPassages(db, best);
    const areGuesses =
      request.mode === "hybrid" && embedder.nearIn === "spelling" && lexical.length === 0;
    return areGuesses ? passages.filter((passage) => isSpelledLike(request, passage)) : passages;
  };

/** There is a nearest vector to any text. Where no word is found, one that looks like it must be. */
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

async function findNearest(
  { db, embedder, settings }: SearchDeps,
  request: SearchRequest,
  signal: AbortSignal,
): Promise<SearchHit[]> {
  const [vector] = await embedder.embed([request.text], signal);
  // A text without a word has no direction, and nothing is near to it.
  if (vector?.some((value) => value !== 0) !== true) return [];
  const { signature } = embedder;
  return searchVectors(db, { signature, vector }, searchFilterOf(request, settings.vectorK));
}

function rank(
  found: { readonly lexical: readonly SmoothedHit[]; readonly nearest: readonly SearchHit[] },
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
