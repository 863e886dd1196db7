import type { SearchHit } from "../../shared/db/index/search-hit.ts";

/** How many chunks before and after lend their scores. */
const REACH = 3;

/**
 * Lets every hit borrow from the hits around it in its document: `weight` times the mean score of the three chunks
 * before and after, of which one that was not found has none. Best first, ties by chunk key.
 */
export function smoothScores(hits: readonly SearchHit[], weight: number): readonly SearchHit[] {
  if (weight === 0) return hits;
  const scores = new Map(hits.map((hit) => [place(hit, 0), hit.score]));
  return hits
    .map((hit) => ({ ...hit, score: hit.score + weight * meanAround(hit, scores) }))
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
