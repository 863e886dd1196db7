import { z } from "zod";
import type { Database, Queryable } from "../connection/database.ts";
import { camelRow, execute, rowOf, rowsOf, valueOf } from "../connection/rows.ts";
import { tryLock } from "../connection/locks.ts";
import { POSTING } from "./terms.ts";

// A search reads a row a segment for each of its words, so that there must not be many. Segments of about one size are
// merged when there are eight of them, and their number grows with the logarithm of chunks.
//
// A merge goes through the terms in order, so many in a transaction. A search reads postings by their terms, and finds each
// in the former segments or in the new one, with the same score. What is left to move the rows say: after a crash the
// next compaction goes on.

/** Segments of fewer live chunks are of the first tier; those of each further tier have up to eight times as many. */
const FIRST_TIER_CHUNKS = 1_000;
/** So many segments of a tier are merged. */
const TIER_SEGMENTS = 8;
/** A segment is rewritten when more than this share of its chunks is dead. */
const DEAD_SHARE = 0.2;

/** What one transaction moves, so that it stays a matter of a second; of a term it moves all. */
type StepBounds = { readonly rows: number; readonly bytes: number };

const STEP: StepBounds = { rows: 20_000, bytes: 4_000_000 };

/**
 * Merges segments of a size and rewrites those with many dead chunks, in short transactions, until there is nothing to
 * gain. What another process or an interrupted call has begun is gone on with.
 */
export async function compactPostings(
  db: Database,
  signal: AbortSignal,
  bounds: StepBounds = STEP,
): Promise<void> {
  let step: Step | undefined = { reached: "" };
  while (step !== undefined) {
    const { reached }: Step = step;
    signal.throwIfAborted();
    step = await db.transaction(async (transaction) => {
      // Another compaction is as good as ours.
      if (!(await tryLock(transaction, "compaction"))) return undefined;
      return takeStep(transaction, { reached, bounds });
    });
  }
}

/** `reached`: the last term that was moved, behind which the next ones are looked for. */
type Step = { readonly reached: string };

/** @returns undefined when nothing was left to do */
async function takeStep(
  db: Queryable,
  { reached, bounds }: Step & { readonly bounds: StepBounds },
): Promise<Step | undefined> {
  const merge = await findMerge(db);
  if (merge === undefined) {
    const chosen = selectSegments(await measureSegments(db));
    if (chosen.length === 0) return undefined;
    await beginMerge(db, chosen);
    return { reached: "" };
  }
  const last = await findLastTerm(db, merge, { reached, bounds });
  if (last !== undefined) {
    await movePostings(db, merge, { after: reached, last });
    return { reached: last };
  }
  // Somebody else may have moved these terms, of this merge or of another.
  if (reached === "") await endMerge(db, merge);
  return { reached: "" };
}

const segmentSchema = camelRow({ segment_id: z.string(), live: z.int(), dead: z.int() });
type Segment = z.infer<typeof segmentSchema>;

/** Segments without a dead chunk are not unnested. */
const measureSegments = (db: Queryable): Promise<Segment[]> =>
  rowsOf(db, segmentSchema)`
     with dead as (
       select segment_id, count(*)::integer as dead
         from nightdesk_data.segments, unnest(chunk_ids) as chunk_id
         join nightdesk_data.dead_chunks using (chunk_id)
        group by segment_id)
     select segment_id::text, cardinality(chunk_ids) - coalesce(dead, 0) as live, coalesce(dead, 0) as dead
       from nightdesk_data.segments left join dead using (segment_id)`;

function tierOf(live: number): number {
  let tier = 0;
  for (let least = FIRST_TIER_CHUNKS; live >= least; least *= TIER_SEGMENTS) tier += 1;
  return tier;
}

/**
 * What is merged next: those with many dead chunks, and all up to the highest tier that has too many or would get them by
 * what comes from below, so that no posting moves twice.
 */
function selectSegments(segments: readonly Segment[]): string[] {
  const decayed = segments.filter(({ live, dead }) => dead > DEAD_SHARE * (live + dead));
  const tiers = new Set(segments.map(({ live }) => tierOf(live)));
  let chosen: readonly Segment[] = [];
  for (const tier of [...tiers].sort((a, b) => a - b)) {
    const own = segments.filter(({ live }) => tierOf(live) === tier).length;
    const fromBelow = chosen.length > 0 && tierOf(liveOf(chosen)) === tier ? 1 : 0;
    if (own + fromBelow >= TIER_SEGMENTS)
      chosen = segments.filter(({ live }) => tierOf(live) <= tier);
  }
  return [...new Set([...decayed, ...chosen])].map(({ segmentId }) => segmentId);
}

const liveOf = (segments: readonly Segment[]): number =>
  segments.reduce((sum, { live }) => sum + live, 0);

const beginMerge = (db: Queryable, segmentIds: readonly string[]): Promise<void> =>
  execute(db, [segmentIds])`
     update nightdesk_data.segments s
        set merged_into = target.segment_id,
            dropped = array(select chunk_id from unnest(s.chunk_ids) as chunk_id
                              join nightdesk_data.dead_chunks using (chunk_id))
       from (select nextval(pg_get_serial_sequence('nightdesk_data.segments', 'segment_id')) as segment_id) target
      where s.segment_id = any ($1::bigint[])`;

const mergeSchema = camelRow({ target: z.string(), segment_ids: z.array(z.string()) });
/** Segments that are merged, and the id of the one that they become. */
type Merge = z.infer<typeof mergeSchema>;

const findMerge = (db: Queryable): Promise<Merge | undefined> =>
  rowOf(db, mergeSchema)`
     select merged_into::text as target, array_agg(segment_id::text) as segment_ids
       from nightdesk_data.segments where merged_into is not null group by merged_into order by merged_into limit 1`;

/** The last term of the next step, of those that every segment was looked through for; undefined behind the last of all. */
async function findLastTerm(
  db: Queryable,
  { segmentIds }: Merge,
  { reached, bounds }: Step & { readonly bounds: StepBounds },
): Promise<string | undefined> {
  // Postgres merges the rows of the segments, each in order of its terms, for as far as the step goes: where segments have no
  // terms in common, as those of one long file, a step holds as much as elsewhere.
  const listed = segmentIds.map(
    (_, at) => `(select term, pg_column_size(entries) as bytes from nightdesk_data.postings
                  where segment_id = $${at + 4} and term > $1 order by term limit $2)`,
  );
  const last = await valueOf(db, z.string().nullable(), [
    reached,
    bounds.rows,
    bounds.bytes,
    ...segmentIds,
  ])`
     with ahead as materialized (
       select * from (${listed.join(" union all ")}) listed order by term limit $2)
     select max(term) as last
       from (select term, sum(sum(bytes)) over (order by term) - sum(bytes) as before from ahead group by term) running
      where before < $3`;
  return last ?? undefined;
}

/** Chunks that die meanwhile lose the postings that are moved after it, and stay dead until the next merge. */
async function movePostings(
  db: Queryable,
  { target, segmentIds }: Merge,
  { after, last }: { readonly after: string; readonly last: string },
): Promise<void> {
  await execute(db)`select set_config('work_mem', '64MB', true)`;
  await execute(db, [target, segmentIds, after, last])`
     with moved as (
       delete from nightdesk_data.postings
        where segment_id = any ($2::bigint[]) and term > $3 and term <= $4 returning term, entries)
     insert into nightdesk_data.postings (term, segment_id, entries)
     select term, $1, array_agg(entry)
       from (select term, unnest(entries) as entry from moved) each_entry
       left join nightdesk_data.dead_chunks dead on dead.chunk_id = ${POSTING.chunkId("entry")}
      where dead.chunk_id is null
      group by term`;
}

/** Where no chunk is left there is no segment. */
const endMerge = (db: Queryable, { target }: Merge): Promise<void> =>
  execute(db, [target])`
     with merged as (
       delete from nightdesk_data.segments where merged_into = $1 returning chunk_ids, dropped),
     gone as materialized (select unnest(dropped) as chunk_id from merged),
     forgotten as (
       delete from nightdesk_data.dead_chunks d using gone where d.chunk_id = gone.chunk_id)
     insert into nightdesk_data.segments (segment_id, chunk_ids) overriding system value
     select $1, array_agg(chunk_id order by chunk_id)
       -- Not an anti-join: the planner expects ten of each, and would compare each with each.
       from (select unnest(chunk_ids) as chunk_id from merged except select chunk_id from gone) left_over
     having count(*) > 0`;
