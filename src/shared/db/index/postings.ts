import { packPosting } from "./text-search.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** The different lexemes of a text, and how often each stands in it. */
export type WordCounts = { readonly lexemes: Int32Array; readonly times: Int32Array };

/** Counts the lexemes of texts, given by their words. The words must have been learned. */
export function lexemeCounter(vocabulary: Vocabulary): (words: Int32Array) => WordCounts {
  const counts = new Int32Array(vocabulary.lexemes);
  return (words) => {
    const seen: number[] = [];
    for (const word of words) {
      for (const lexeme of vocabulary.lexemesOf(word)) {
        const before = counts[lexeme] ?? 0;
        if (before === 0) seen.push(lexeme);
        counts[lexeme] = before + 1;
      }
    }
    const lexemes = Int32Array.from(seen);
    const times = lexemes.map((lexeme) => counts[lexeme] ?? 0);
    for (const lexeme of seen) counts[lexeme] = 0;
    return { lexemes, times };
  };
}

export type CountedChunk = { readonly chunkId: string; readonly counts: WordCounts };

/** Postings of one segment: those of `terms[n]` are `lengths[n]` entries from `starts[n]` on, counted from 1. */
export type Postings = {
  readonly terms: readonly string[];
  readonly starts: readonly number[];
  readonly lengths: readonly number[];
  readonly entries: readonly string[];
};

/** Turns the chunks' words around into the words' chunks, each in the order of the chunks given. */
export function invertCounts(chunks: readonly CountedChunk[], vocabulary: Vocabulary): Postings {
  const ends = new Int32Array(vocabulary.lexemes);
  for (const { counts } of chunks) {
    for (const lexeme of counts.lexemes) ends[lexeme] = (ends[lexeme] ?? 0) + 1;
  }
  const found: number[] = [];
  const starts: number[] = [];
  const lengths: number[] = [];
  let total = 0;
  for (const [lexeme, length] of ends.entries()) {
    if (length === 0) continue;
    found.push(lexeme);
    starts.push(total + 1);
    lengths.push(length);
    ends[lexeme] = total;
    total += length;
  }
  const entries = new Array<string>(total);
  for (const { chunkId, counts } of chunks) {
    const pack = packPosting(chunkId, counts.lexemes.length);
    for (const [at, lexeme] of counts.lexemes.entries()) {
      const place = ends[lexeme] ?? 0;
      entries[place] = pack(counts.times[at] ?? 0);
      ends[lexeme] = place + 1;
    }
  }
  return { terms: found.map((lexeme) => vocabulary.term(lexeme)), starts, lengths, entries };
}
