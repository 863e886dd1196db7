/** ROUGE-N F1 as in Lin, 2004: n-grams that two texts share, each as often as both hold it; no stemming. */
export function rouge(n: number, text: string, reference: string): number {
  const [mine, theirs] = [gramsOf(text, n), gramsOf(reference, n)];
  let shared = 0;
  for (const [gram, count] of mine) shared += Math.min(count, theirs.get(gram) ?? 0);
  return shared === 0 ? 0 : (2 * shared) / (sizeOf(mine) + sizeOf(theirs));
}

/** ROUGE-L F1 as in Lin, 2004: the longest sequence of words that two texts share in order, gaps allowed. */
export function rougeL(text: string, reference: string): number {
  const [mine, theirs] = [wordsIn(text), wordsIn(reference)];
  let lengths = new Uint16Array(theirs.length + 1);
  for (const word of mine) {
    const next = new Uint16Array(theirs.length + 1);
    theirs.forEach((other, index) => {
      const [here, above, before] = [lengths[index], lengths[index + 1], next[index]];
      next[index + 1] = word === other ? (here ?? 0) + 1 : Math.max(above ?? 0, before ?? 0);
    });
    lengths = next;
  }
  const shared = lengths.at(-1) ?? 0;
  return shared === 0 ? 0 : (2 * shared) / (mine.length + theirs.length);
}

export const wordsIn = (text: string): string[] =>
  text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

function gramsOf(text: string, n: number): Map<string, number> {
  const words = wordsIn(text);
  const grams = new Map<string, number>();
  for (let start = 0; start + n <= words.length; start += 1) {
    const gram = words.slice(start, start + n).join(" ");
    grams.set(gram, (grams.get(gram) ?? 0) + 1);
  }
  return grams;
}

const sizeOf = (grams: ReadonlyMap<string, number>): number =>
  [...grams.values()].reduce((total, count) => total + count, 0);
