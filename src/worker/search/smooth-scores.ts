import type { SearchHit } from "../../shared/store/index/search-filter.ts";

/** A hit of the word search; `borrowed` is the part of its score that comes from its neighbours. */
export type SmoothedHit = SearchHit & { readonly borrowed: number };

/** Distances to the neighbours that add to a chunk's score. */
const DISTANCES = [-3, -2, -1, 1, 2, 3];

/**
 * Adds to the score of every hit `weight` times the mean score of the six chunks around it in its document, where a chunk that
 * was not found counts as 0. The more of the six were found, the more is added, up to twice as much: in a long conversation a
 * subject is spread over many chunks, in a note of two chunks it is not. Best first, ties by chunk key.
 */
export function smoothScores(hits: readonly SearchHit[], weight: number): readonly SmoothedHit[] {
  if (weight === 0) return hits.map((hit) => ({ ...hit, borrowed: 0 }));
  const scores = new Map(hits.map((hit) => [placeKey(hit, 0), hit.score]));
  return hits
    .map((hit) => {
      const borrowed = weight * lentAround(hit, scores);
      return { ...hit, score: hit.score + borrowed, borrowed };
    })
    .sort((a, b) => b.score - a.score || (a.chunkKey < b.chunkKey ? -1 : 1));
}

const placeKey = ({ docId, ordinal }: SearchHit, distance: number): string =>
  `${docId}/${ordinal + distance}`;

function lentAround(hit: SearchHit, scores: ReadonlyMap<string, number>): number {
  const around = DISTANCES.flatMap((distance) => scores.get(placeKey(hit, distance)) ?? []);
  const mean = around.reduce((sum, score) => sum + score, 0) / DISTANCES.length;
  return mean * (1 + around.length / DISTANCES.length);
}
