import type { Queryable } from "../../shared/store/connection/database.ts";
import { loadPassages } from "../../shared/store/index/passages.ts";
import type { Reranker } from "../embedders/transformers/reranker.ts";
import { embeddableText } from "../text/searchable-text.ts";
import type { FusedHit, Reranked } from "./fuse.ts";

/** The reranker of a search, and how much it reads. */
export type Reranking = {
  /** The number of first hits that the model reads. */
  readonly candidates: number;
  /** @throws Failure RERANK_MODEL_INVALID, MODEL_TIMEOUT, TOOL_ERROR */
  readonly model: () => Promise<Pick<Reranker, "name" | "score">>;
};

type Asked = { readonly db: Queryable; readonly question: string; readonly reranking: Reranking };

/**
 * Orders the first hits by the model's score for the question and each passage, best first; equal scores keep their order. The
 * other hits follow unchanged. The model reads a passage as an embedder does, behind its title and headings. The logistic
 * function maps a score to 0 to 1; a hit that was not read has 0.
 * @throws what the model throws: a search never continues without it, so that equal searches give equal results
 */
export async function rerankHits(
  { db, question, reranking }: Asked,
  hits: readonly FusedHit[],
  signal: AbortSignal,
): Promise<FusedHit[]> {
  if (hits.length === 0) return [];
  const first = await readHits(db, hits.slice(0, reranking.candidates));
  const model = await reranking.model();
  const texts = first.map(({ text }) => text);
  const scores = await model.score(question, texts, signal);
  const scored = first.map(({ hit, at }, place) => ({
    hit,
    at,
    score: scores[place] ?? -Infinity,
  }));
  const others = hits.map((hit, at) => ({ hit, at, score: null })).slice(reranking.candidates);
  return [
    ...scored.sort((one, other) => other.score - one.score || one.at - other.at),
    ...others,
  ].map(({ hit, at, score }, place) =>
    withRank(hit, { by: model.name, score, rank: place + 1, fusedRank: at + 1 }),
  );
}

/** Loads the texts of hits; a hit whose chunk was removed since the search is left out. */
async function readHits(
  db: Queryable,
  hits: readonly FusedHit[],
): Promise<{ readonly hit: FusedHit; readonly at: number; readonly text: string }[]> {
  const ids = hits.map(({ chunkId }) => chunkId);
  const stored = await loadPassages(db, ids);
  return hits.flatMap((hit, at) => {
    const passage = stored.get(hit.chunkId);
    return passage === undefined ? [] : [{ hit, at, text: embeddableText(passage) }];
  });
}

function withRank(hit: FusedHit, reranked: Omit<Reranked, "fusedScore">): FusedHit {
  const { scores } = hit;
  const score = reranked.score === null ? 0 : logistic(reranked.score);
  return {
    ...hit,
    scores: { ...scores, score, reranked: { ...reranked, fusedScore: scores.score } },
  };
}

const logistic = (score: number): number => 1 / (1 + Math.exp(-score));
