import type { SearchHit } from "../../shared/store/index/search-filter.ts";

/** A hit of the word search; `borrowed` is the part of its score that its neighbours lent. */
export type SmoothedHit = SearchHit & { readonly borrowed: number };

/** How many chunks before and after lend their scores. */
const REACH = 3;

/**
 * Lets every hit borrow from the hits around it in its document: `weight` times the mean score of the three chunks
 * before and after, of which one that was not found has none. Best first, ties by chunk key.
 */
export function smoothScores(hits: readonly SearchHit[], weight: number): readonly SmoothedHit[] {
  if (weight === 0) return hits.map((hit) => ({ ...hit, borrowed: 0 }));
  const scores = new Map(hits.map((hit) => [place(hit, 0), hit.score]));
  return hits
    .map((hit) => {
      const borrowed = weight * meanAround(hit, scores);
      return { ...hit, score: hit.score + borrowed, borrowed };
    })
    .sort((a, b) => b.score - a.score || (a.chunkKey < b.chunkKey ? -1 : 1));
}

const place = ({ docId, ordinal }: SearchHit, distance: number): string =>
  `${docId}/${ordinal + distance}`;

function meanAround(hit: SearchHit, scores: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (let distance = 1; distance <= REACH; distance += 1) {
    sum += scores.get(place(hit, distance)) ?? 0;
    sum += scores.get(place(hit, -distance)) ?? 0;
  }
  return sum / (2 * REACH);
}
