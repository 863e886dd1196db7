import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Database, Queryable } from "../../../src/shared/store/connection/database.ts";
import { compactPostings } from "../../../src/shared/store/index/compact-postings.ts";
import { findIndexFaults } from "../../../src/shared/store/index/totals.ts";
import { SOUND } from "../../support/sound-index.ts";
import { openCorpus } from "../../support/test-corpus.ts";
import type { TestCorpus } from "../../support/test-corpus.ts";
import { ENGINES } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

const DOCUMENTS = 12;
const QUESTIONS = ["common", "word3 common", "word1 word2 word5", "common -word4", "wrod7"];
/** A term a step. */
const SMALLEST_STEPS = { rows: 1, bytes: 1 };
const never = new AbortController().signal;

describe.each(ENGINES)("merging the segments of postings on $engine", ({ open }) => {
  let database: TestDatabase;
  let corpus: TestCorpus;

  beforeAll(async () => {
    database = await open();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    for (const table of ["documents", "segments", "postings", "dead_chunks", "chunk_counts"])
      await database.db.query(`delete from nightdesk_data.${table}`);
    corpus = await openCorpus(database.db);
    for (let at = 0; at < DOCUMENTS; at += 1) {
      const words = "common ".repeat(1 + (at % 4));
      corpus.write(`notes/ops/${at}.md`, `# Note ${at}\n\n${words} word${at} word${at % 5}\n`);
    }
    await corpus.index();
    await database.db.query(ONE_SEGMENT_A_CHUNK);
  });
  afterEach(() => {
    corpus.close();
  });

  const count = async (table: string): Promise<number> => {
    const { rows } = await database.db.query(
      `select count(*)::integer as found from nightdesk_data.${table}`,
    );
    return (rows[0] as { found: number }).found;
  };
  const found = () =>
    Promise.all(
      QUESTIONS.map(async (text) => {
        const hits = await corpus.search({ text, mode: "hybrid", limit: 100 });
        return hits.map(({ chunkKey, score }) => ({ chunkKey, score }));
      }),
    );

  test("leaves the same hits and scores after every step, and nothing of dead chunks", async () => {
    corpus.remove("notes/ops/3.md");
    await database.db.query("delete from nightdesk_data.documents where path = 'notes/ops/3.md'");
    const before = await found();
    expect(before[0]).toHaveLength(DOCUMENTS - 1);
    expect(await count("segments")).toBe(DOCUMENTS);
    let steps = 0;
    const watched = afterEachStep(database.db, async () => {
      steps += 1;
      expect(await found()).toEqual(before);
      expect(await findIndexFaults(database.db)).toEqual(SOUND);
    });
    await compactPostings(watched, never, SMALLEST_STEPS);
    expect(steps).toBeGreaterThan(DOCUMENTS);
    expect(await count("segments")).toBe(1);
    expect(await count("dead_chunks")).toBe(0);
    const { rows } = await database.db.query(
      `select count(*)::integer as rows, count(distinct term)::integer as terms,
              bool_and(exists (select from nightdesk_data.chunks where chunk_id = entry >> 24)) as live
         from nightdesk_data.postings, unnest(entries) as entry where term = 'common'`,
    );
    expect(rows).toEqual([{ rows: DOCUMENTS - 1, terms: 1, live: true }]);
  });

  test("what was interrupted is searched, edited and gone on with", async () => {
    const interrupted = new AbortController();
    let steps = 0;
    const watched = afterEachStep(database.db, () => {
      steps += 1;
      if (steps === 6) interrupted.abort();
      return Promise.resolve();
    });
    await expect(compactPostings(watched, interrupted.signal, SMALLEST_STEPS)).rejects.toThrow();
    expect(await count("segments where merged_into is not null")).toBe(DOCUMENTS);
    corpus.write("notes/ops/5.md", "# Note 5\n\ncommon word5 changed\n");
    corpus.remove("notes/ops/7.md");
    corpus.write("notes/ops/99.md", "# Note 99\n\ncommon word1\n");
    await corpus.index();
    expect(await count("segments where merged_into is not null")).toBe(0);
    expect(await findIndexFaults(database.db)).toEqual(SOUND);
    const resumed = await found();
    await corpus.index({ rebuild: true });
    expect(resumed).toEqual(await found());
  });

  test("an index whose chunks are all gone has no segment left", async () => {
    await database.db.query("delete from nightdesk_data.documents");
    await compactPostings(database.db, never);
    const tables = ["segments", "postings", "dead_chunks"];
    expect(await Promise.all(tables.map(count))).toEqual([0, 0, 0]);
  });

  test("the number of segments grows with the logarithm of chunks", async () => {
    await database.db.query("delete from nightdesk_data.documents");
    let most = 0;
    for (let portion = 1; portion <= 64; portion += 1) {
      await insertSegment(database.db, 1_500);
      await compactPostings(database.db, never);
      most = Math.max(most, await count("segments"));
    }
    // Seven of 1,500 chunks and seven of 12,000.
    expect(most).toBe(14);
    expect(await count("segments")).toBe(1);
    expect(await count("postings")).toBe(1);
  });
});

/** As if each document had been indexed on its own, and nothing merged. */
const ONE_SEGMENT_A_CHUNK = `
  with chunks as materialized (
    select chunk_id from nightdesk_data.segments, unnest(chunk_ids) as chunk_id),
  gone as (delete from nightdesk_data.segments),
  parts as (
    insert into nightdesk_data.segments (chunk_ids) select array[chunk_id] from chunks
    returning segment_id, chunk_ids[1] as chunk_id),
  entries as (
    delete from nightdesk_data.postings returning term, entries)
  insert into nightdesk_data.postings (term, segment_id, entries)
  select term, segment_id, array[entry]
    from entries, unnest(entries) as entry join parts on chunk_id = entry >> 24`;

/** Chunks of one word. */
async function insertSegment(db: Queryable, chunks: number): Promise<void> {
  await db.query(
    `with begun as (select coalesce(max(entries[cardinality(entries)] >> 24), 0) as last from nightdesk_data.postings),
     listed as materialized (
       select array_agg(last + n) as chunk_ids from begun, generate_series(1, $1::integer) n),
     segment as (
       insert into nightdesk_data.segments (chunk_ids) select chunk_ids from listed returning segment_id)
     insert into nightdesk_data.postings (term, segment_id, entries)
     select 'word', segment_id, array(select (chunk_id << 24) | (1 << 14) | 1 from unnest(chunk_ids) as chunk_id)
       from listed, segment`,
    [chunks],
  );
}

const afterEachStep = (db: Database, look: () => Promise<void>): Database => ({
  ...db,
  transaction: async (body) => {
    const result = await db.transaction(body);
    await look();
    return result;
  },
});
