import { openBigintArray } from "../connection/binary-arrays.ts";
import type { BigintArray } from "../connection/binary-arrays.ts";
import { postingWriter } from "./terms.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** The distinct lexemes of a text, and how often each occurs. */
export type WordCounts = { readonly lexemes: Int32Array; readonly times: Int32Array };

/** Counts the lexemes of texts, given as words. The vocabulary must know the words. */
export function lexemeCounter(vocabulary: Vocabulary): (words: Int32Array) => WordCounts {
  const counts = new Int32Array(vocabulary.lexemes);
  return (words) => {
    const seen: number[] = [];
    // Loops by index, for speed: this runs for every word of every text.
    for (let at = 0; at < words.length; at += 1) {
      const found = vocabulary.lexemesOf(words[at] ?? 0);
      for (let next = 0; next < found.length; next += 1) {
        const lexeme = found[next] ?? 0;
        const before = counts[lexeme] ?? 0;
        if (before === 0) seen.push(lexeme);
        counts[lexeme] = before + 1;
      }
    }
    const lexemes = new Int32Array(seen);
    const times = new Int32Array(seen.length);
    for (let at = 0; at < seen.length; at += 1) {
      const lexeme = seen[at] ?? 0;
      times[at] = counts[lexeme] ?? 0;
      counts[lexeme] = 0;
    }
    return { lexemes, times };
  };
}

export type CountedChunk = { readonly chunkId: string; readonly counts: WordCounts };

/** Postings of one segment: `terms[n]` has `lengths[n]` entries, from entry `starts[n]` on, counted from 1. */
export type Postings = {
  readonly terms: readonly string[];
  readonly starts: readonly number[];
  readonly lengths: readonly number[];
  readonly entries: BigintArray;
};

/** Inverts the counts: lists for each lexeme its chunks, in the order of `chunks`. */
export function invertCounts(chunks: readonly CountedChunk[], vocabulary: Vocabulary): Postings {
  const ends = new Int32Array(vocabulary.lexemes);
  for (const { counts } of chunks) {
    const { lexemes } = counts;
    for (let at = 0; at < lexemes.length; at += 1) {
      const lexeme = lexemes[at] ?? 0;
      ends[lexeme] = (ends[lexeme] ?? 0) + 1;
    }
  }
  const terms: string[] = [];
  const starts: number[] = [];
  const lengths: number[] = [];
  let total = 0;
  for (let lexeme = 0; lexeme < ends.length; lexeme += 1) {
    const length = ends[lexeme] ?? 0;
    if (length === 0) continue;
    terms.push(vocabulary.term(lexeme));
    starts.push(total + 1);
    lengths.push(length);
    ends[lexeme] = total;
    total += length;
  }
  return { terms, starts, lengths, entries: packEntries(chunks, ends, total) };
}

/** @param ends position of the next entry of each lexeme; this function advances them */
function packEntries(
  chunks: readonly CountedChunk[],
  ends: Int32Array,
  total: number,
): BigintArray {
  const entries = openBigintArray(total);
  for (const { chunkId, counts } of chunks) {
    const { lexemes, times } = counts;
    const write = postingWriter(entries, chunkId, lexemes.length);
    for (let at = 0; at < lexemes.length; at += 1) {
      const lexeme = lexemes[at] ?? 0;
      const place = ends[lexeme] ?? 0;
      write(place, times[at] ?? 0);
      ends[lexeme] = place + 1;
    }
  }
  return entries;
}
