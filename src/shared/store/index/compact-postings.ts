import { z } from "zod";
import type { Database, Queryable } from "../connection/database.ts";
import { camelRow, execute, rowOf, rowsOf, valueOf } from "../connection/rows.ts";
import { tryLock } from "../connection/locks.ts";
import { POSTING } from "./terms.ts";

// A search reads one row from each segment for each of its words, so there must be few segments. Eight segments of similar size
// are merged, so their number grows with the logarithm of the number of chunks. A merge moves the terms in order, some in each
// transaction. A search finds each posting in an old segment or in the new one, with the same score. The rows record what is left
// to move: after a crash the next compaction continues.

/** Segments with fewer live chunks belong to the first tier; each further tier has up to eight times as many. */
const FIRST_TIER_CHUNKS = 1_000;
/** The number of segments of a tier that starts a merge. */
const TIER_SEGMENTS = 8;
/** A segment is rewritten when more than this share of its chunks is dead. */
const DEAD_SHARE = 0.2;

/** Bounds of one transaction, so that it takes about a second. A term is always moved as a whole. */
type StepBounds = { readonly rows: number; readonly bytes: number };

const STEP: StepBounds = { rows: 20_000, bytes: 4_000_000 };

/**
 * Merges segments of similar size and rewrites those with many dead chunks, in short transactions, until there is nothing to
 * gain. Continues a merge that another process or an interrupted call began.
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
      // Another compaction runs, and does the same work.
      if (!(await tryLock(transaction, "compaction"))) return undefined;
      return takeStep(transaction, { reached, bounds });
    });
  }
}

/** `reached`: the last term that was moved; the next step starts after it. */
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
  // Ends the merge only after a look from the first term: another process may have moved these terms, of this merge or of
  // another.
  if (reached === "") await endMerge(db, merge);
  return { reached: "" };
}

const segmentSchema = camelRow({ segment_id: z.string(), live: z.int(), dead: z.int() });
type Segment = z.infer<typeof segmentSchema>;

/** Counts the live and dead chunks of each segment. Segments without a dead chunk are not unnested. */
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
 * Selects the segments of the next merge: those with many dead chunks, and all segments up to the highest tier that is full, or
 * that the merged lower tiers would fill, so that no posting moves twice.
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
/** Segments that are being merged, and the id of the new segment. */
type Merge = z.infer<typeof mergeSchema>;

const findMerge = (db: Queryable): Promise<Merge | undefined> =>
  rowOf(db, mergeSchema)`
     select merged_into::text as target, array_agg(segment_id::text) as segment_ids
       from nightdesk_data.segments where merged_into is not null group by merged_into order by merged_into limit 1`;

/** The last term of the next step; undefined when no term is left. */
async function findLastTerm(
  db: Queryable,
  { segmentIds }: Merge,
  { reached, bounds }: Step & { readonly bounds: StepBounds },
): Promise<string | undefined> {
  // Postgres merges the sorted rows of the segments only as far as the step goes, so a step is bounded even when segments share
  // no terms, like those of one long file.
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

/** A chunk that dies during a merge loses the postings that move later, and stays listed as dead until the next merge. */
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

/** Ends a merge. Creates no segment when no chunk is left. */
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
