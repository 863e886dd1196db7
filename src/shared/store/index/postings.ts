import { z } from "zod";
import { openBigintArray } from "../connection/binary-arrays.ts";
import type { BigintArray } from "../connection/binary-arrays.ts";
import type { Database, Queryable } from "../connection/database.ts";
import { tryLock } from "../connection/locks.ts";
import { POSTING, postingWriter } from "./terms.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** The different lexemes of a text, and how often each stands in it. */
export type WordCounts = { readonly lexemes: Int32Array; readonly times: Int32Array };

/** Counts the lexemes of texts, given by their words. The words must have been learned. */
export function lexemeCounter(vocabulary: Vocabulary): (words: Int32Array) => WordCounts {
  const counts = new Int32Array(vocabulary.lexemes);
  return (words) => {
    const seen: number[] = [];
    // Loops by index: this is gone through for every word of every text.
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

/** Postings of one segment: those of `terms[n]` are `lengths[n]` entries from `starts[n]` on, counted from 1. */
export type Postings = {
  readonly terms: readonly string[];
  readonly starts: readonly number[];
  readonly lengths: readonly number[];
  readonly entries: BigintArray;
};

/** Turns the chunks' words around into the words' chunks, each in the order of the chunks given. */
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

/** @param ends where the next entry of each lexeme goes, which is moved on */
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

/** A segment is rewritten when more than this share of its chunks is dead. */
const DEAD_SHARE = 0.2;
/** Segments of fewer live chunks are small: every question reads one row of each for each of its words. */
const SMALL_CHUNKS = 1_000;
const SMALL_SEGMENTS = 8;
/** What one rewrite takes in at most, so that it stays a matter of a second. */
const REWRITTEN_CHUNKS = 5_000;

/**
 * Rewrites segments with many dead chunks and merges small ones, a transaction each, until there is nothing to
 * gain. A search meanwhile sees the one or the other, with the same scores.
 */
export async function compactPostings(db: Database, signal: AbortSignal): Promise<void> {
  let hasRewritten = true;
  while (hasRewritten) {
    signal.throwIfAborted();
    hasRewritten = await db.transaction(async (transaction) => {
      // Another compaction is as good as ours.
      if (!(await tryLock(transaction, "compaction"))) return false;
      const chosen = selectSegments(await measureSegments(transaction));
      if (chosen.length > 0) await rewriteSegments(transaction, chosen);
      return chosen.length > 0;
    });
  }
}

const segmentsSchema = z.array(z.object({ segment_id: z.string(), live: z.int(), dead: z.int() }));
type Segment = z.infer<typeof segmentsSchema>[number];

/** Smallest first. Segments without a dead chunk are not unnested. */
async function measureSegments(db: Queryable): Promise<Segment[]> {
  const { rows } = await db.query(
    `with dead as (
       select segment_id, count(*)::integer as dead
         from nightdesk_data.segments, unnest(chunk_ids) as chunk_id
         join nightdesk_data.dead_chunks using (chunk_id)
        group by segment_id)
     select segment_id::text, cardinality(chunk_ids) - coalesce(dead, 0) as live, coalesce(dead, 0) as dead
       from nightdesk_data.segments left join dead using (segment_id)
      order by live, segment_id`,
  );
  return segmentsSchema.parse(rows);
}

function selectSegments(segments: readonly Segment[]): string[] {
  const decayed = segments.filter(({ live, dead }) => dead > DEAD_SHARE * (live + dead));
  const small = segments.filter(({ live }) => live < SMALL_CHUNKS);
  const poor = new Set([...decayed, ...(small.length >= SMALL_SEGMENTS ? small : [])]);
  const chosen: string[] = [];
  let chunks = 0;
  for (const { segment_id, live } of [...poor].sort((a, b) => a.live - b.live)) {
    if (chosen.length > 0 && chunks + live > REWRITTEN_CHUNKS) break;
    chosen.push(segment_id);
    chunks += live;
  }
  return chosen;
}

/** One statement, so that all of it sees the same chunks as dead. */
async function rewriteSegments(db: Queryable, segmentIds: readonly string[]): Promise<void> {
  await db.query("select set_config('work_mem', '64MB', true)");
  await db.query(
    `with old as (
       delete from nightdesk_data.segments where segment_id = any ($1::bigint[]) returning chunk_ids),
     old_chunks as materialized (select unnest(chunk_ids) as chunk_id from old),
     dead as materialized (
       select chunk_id from nightdesk_data.dead_chunks join old_chunks using (chunk_id)),
     forgotten as (
       delete from nightdesk_data.dead_chunks d using dead where d.chunk_id = dead.chunk_id),
     live as materialized (
       select chunk_id from old_chunks where not exists (select from dead where dead.chunk_id = old_chunks.chunk_id)),
     segment as (
       insert into nightdesk_data.segments (chunk_ids)
       select array_agg(chunk_id order by chunk_id) from live having count(*) > 0 returning segment_id),
     old_entries as (
       delete from nightdesk_data.postings where segment_id = any ($1::bigint[]) returning term, entries),
     entries as (
       select term, array_agg(entry) as entries
         from (select term, unnest(entries) as entry from old_entries) each_entry
        where exists (select from live where live.chunk_id = ${POSTING.chunkId("entry")})
        group by term)
     insert into nightdesk_data.postings (term, segment_id, entries)
     select term, segment_id, entries from entries, segment`,
    [segmentIds],
  );
}
