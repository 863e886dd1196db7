import { contentStems } from "../src/worker/text/content-words.ts";

/**
 * BM25 with its usual constants, 1.2 and .75, over stems without stop words, as `contentStems` makes them: the places of
 * the texts that hold a word of a question, best first; ties in their order.
 */
export function createBm25(texts: readonly string[]): (question: string) => number[] {
  const stems = texts.map(contentStems);
  const average = stems.reduce((sum, { length }) => sum + length, 0) / stems.length;
  const postings = new Map<string, Map<number, number>>();
  stems.forEach((words, at) => {
    for (const word of words) {
      const places = postings.get(word) ?? new Map<number, number>();
      postings.set(word, places.set(at, (places.get(at) ?? 0) + 1));
    }
  });
  return (question) => {
    const scores = new Map<number, number>();
    for (const term of new Set(contentStems(question))) {
      const places = postings.get(term) ?? new Map<number, number>();
      const idf = Math.log(1 + (stems.length - places.size + 0.5) / (places.size + 0.5));
      for (const [at, count] of places) {
        const length = 0.25 + (0.75 * (stems[at]?.length ?? 0)) / average;
        scores.set(at, (scores.get(at) ?? 0) + (idf * count * 2.2) / (count + 1.2 * length));
      }
    }
    return [...scores].sort(([a, one], [b, other]) => other - one || a - b).map(([at]) => at);
  };
}
