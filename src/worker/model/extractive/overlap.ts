import type { Candidate } from "./candidates.ts";

/** Share of the shorter one's words that the other has too. */
export function overlap(a: Candidate, b: Candidate): number {
  const [short, long] = a.stems.length <= b.stems.length ? [a, b] : [b, a];
  const words = new Set(short.stems);
  if (words.size === 0) return 1;
  const other = new Set(long.stems);
  return [...words].filter((word) => other.has(word)).length / words.size;
}
