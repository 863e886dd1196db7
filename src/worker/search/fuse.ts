import type { SearchHit } from "../../shared/store/index/search-filter.ts";
import type { SmoothedHit } from "./smooth-scores.ts";

/** Ranks count from 1; rank and score of a search are null where it did not find the chunk. */
export type Scores = {
  readonly score: number;
  readonly lexicalRank: number | null;
  readonly vectorRank: number | null;
  readonly lexicalScore: number | null;
  /** The part of the lexical score that comes from the chunk's neighbours. */
  readonly borrowedScore: number | null;
  readonly vectorScore: number | null;
  /** Left out where no reranker changed the order of the fused scores. */
  readonly reranked?: Reranked;
};

/** The result of a reranker for a hit. Ranks count from 1, before chunks beyond a document's share are removed. */
export type Reranked = {
  /** Its name and build. */
  readonly by: string;
  /** As the model gave it; null for a hit that it did not read. */
  readonly score: number | null;
  readonly rank: number;
  /** Rank and score in the fused list, before the reranker. */
  readonly fusedRank: number;
  readonly fusedScore: number;
};

/** A hit of one search or both. */
export type FusedHit = {
  readonly chunkId: string;
  readonly docId: string;
  readonly chunkKey: string;
  readonly scores: Scores;
};

/**
 * Weighted reciprocal rank fusion: a hit scores 1 / (k + rank) for the lexical list and `vectorWeight` times that
 * for the vectors (Cormack, Clarke and Büttcher, SIGIR 2009; they use k = 60). Best first, ties by chunk key.
 */
export function fuse(
  found: { readonly lexical: readonly SmoothedHit[]; readonly nearest: readonly SearchHit[] },
  { rrfK, vectorWeight }: { readonly rrfK: number; readonly vectorWeight: number },
): FusedHit[] {
  const hits = new Map<string, FusedHit>();
  const add = (hit: SearchHit, more: Partial<Scores> & { readonly score: number }) => {
    const { chunkId, docId, chunkKey } = hit;
    const scores = hits.get(chunkId)?.scores ?? UNFOUND;
    const score = scores.score + more.score;
    hits.set(chunkId, { chunkId, docId, chunkKey, scores: { ...scores, ...more, score } });
  };
  found.lexical.forEach((hit, index) => {
    const rank = index + 1;
    const score = 1 / (rrfK + rank);
    const { score: lexicalScore, borrowed: borrowedScore } = hit;
    add(hit, { score, lexicalRank: rank, lexicalScore, borrowedScore });
  });
  found.nearest.forEach((hit, index) => {
    const rank = index + 1;
    add(hit, { score: vectorWeight / (rrfK + rank), vectorRank: rank, vectorScore: hit.score });
  });
  return [...hits.values()].sort(
    (a, b) => b.scores.score - a.scores.score || (a.chunkKey < b.chunkKey ? -1 : 1),
  );
}

const UNFOUND: Scores = {
  score: 0,
  lexicalRank: null,
  vectorRank: null,
  lexicalScore: null,
  borrowedScore: null,
  vectorScore: null,
};
