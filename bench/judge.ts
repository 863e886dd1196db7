import { posix } from "node:path";
import type { Collection } from "./judged-collection.ts";

/** Hits of a query in order; a document counts where its first chunk stands. */
export type Ranking = { readonly queryId: string; readonly paths: readonly string[] };

export type Quality = { readonly map: number; readonly ndcg10: number; readonly recall100: number };

/** Means over the judged queries, relevance being yes or no, as trec_eval computes them. */
export function judge(rankings: readonly Ranking[], relevant: Collection["relevant"]): Quality {
  const judged = rankings.filter(({ queryId }) => relevant.has(queryId));
  const mean = (measure: (ids: readonly string[], good: ReadonlySet<string>) => number) =>
    judged.reduce(
      (sum, { queryId, paths }) =>
        sum + measure(documentsOf(paths), relevant.get(queryId) ?? new Set()),
      0,
    ) / judged.length;
  return { map: mean(averagePrecision), ndcg10: mean(ndcgAt10), recall100: mean(recallAt100) };
}

const documentsOf = (paths: readonly string[]): string[] => [
  ...new Set(paths.map((path) => posix.parse(path).name)),
];

function averagePrecision(ids: readonly string[], good: ReadonlySet<string>): number {
  let found = 0;
  let sum = 0;
  ids.forEach((id, index) => {
    if (!good.has(id)) return;
    found += 1;
    sum += found / (index + 1);
  });
  return sum / good.size;
}

function ndcgAt10(ids: readonly string[], good: ReadonlySet<string>): number {
  const gain = (index: number) => 1 / Math.log2(index + 2);
  const gains = ids.slice(0, 10).map((id, index) => (good.has(id) ? gain(index) : 0));
  const ideal = Array.from({ length: Math.min(10, good.size) }, (_, index) => gain(index));
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return sum(gains) / sum(ideal);
}

const recallAt100 = (ids: readonly string[], good: ReadonlySet<string>): number =>
  ids.slice(0, 100).filter((id) => good.has(id)).length / good.size;
