/** Weights of words; the vector has length 1. */
export type WordVector = ReadonlyMap<string, number>;

/** Makes the vector of a text; vectors of the same weighting are comparable. */
export type WordWeighting = (words: readonly string[]) => WordVector;

/**
 * Weighs words by how often a text has them and how few of the texts do: (1 + ln tf) · (1 + ln((N + 1) / (df + 1))), as
 * in Manning, Raghavan and Schütze, 2008, section 6.4.
 * @param texts the words of each text, from which the rarity of words follows
 */
export function weighWords(texts: readonly (readonly string[])[]): WordWeighting {
  const holding = countHolders(texts);
  const rarityOf = (word: string): number =>
    1 + Math.log((texts.length + 1) / ((holding.get(word) ?? 0) + 1));
  return (words) => {
    const times = new Map<string, number>();
    for (const word of words) times.set(word, (times.get(word) ?? 0) + 1);
    return ofLengthOne(
      new Map([...times].map(([word, count]) => [word, (1 + Math.log(count)) * rarityOf(word)])),
    );
  };
}

/** The sum of vectors, scaled to length 1. */
export function sumOf(vectors: readonly WordVector[]): WordVector {
  const sum = new Map<string, number>();
  for (const vector of vectors) {
    for (const [word, weight] of vector) sum.set(word, (sum.get(word) ?? 0) + weight);
  }
  return ofLengthOne(sum);
}

function ofLengthOne(weights: ReadonlyMap<string, number>): WordVector {
  let squares = 0;
  for (const weight of weights.values()) squares += weight * weight;
  const length = Math.sqrt(squares);
  return length === 0
    ? weights
    : new Map([...weights].map(([word, weight]) => [word, weight / length]));
}

/** The cosine of two vectors: 0 without a word in common, 1 for the same ones. */
export function cosineOf(one: WordVector, other: WordVector): number {
  const [short, long] = one.size < other.size ? [one, other] : [other, one];
  let sum = 0;
  for (const [word, weight] of short) sum += weight * (long.get(word) ?? 0);
  return sum;
}

/** By word, how many of the texts hold it. */
export function countHolders(texts: Iterable<readonly string[]>): ReadonlyMap<string, number> {
  const holding = new Map<string, number>();
  for (const words of texts)
    for (const word of new Set(words)) holding.set(word, (holding.get(word) ?? 0) + 1);
  return holding;
}
