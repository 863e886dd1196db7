import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { Queryable } from "../../../src/shared/store/connection/database.ts";
import { roundEmbeddings } from "../../../src/shared/store/index/embeddings.ts";
import type { SearchFilter } from "../../../src/shared/store/index/search-filter.ts";
import { searchVectors } from "../../../src/shared/store/index/search-vectors.ts";
import { findVectorIndex } from "../../../src/shared/store/index/vector-index.ts";
import { reconcileVectorIndex } from "../../../src/worker/index/embed-chunks.ts";
import { ENGINES } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";
import { planOf } from "../../support/plan-of.ts";

const DIMS = 16;
const DOCUMENTS = 100;
const CHUNKS = 2_000;
const OWN = "a".repeat(32);
/** The vectors of OWN in half precision. */
const HALF = "c".repeat(32);
const OTHER = "b".repeat(32);

/** Every 20th document lies in `rare/` and has that for a tag: filters of 5 %. The vectors are random, and the same in every run. */
async function fill(db: Queryable): Promise<void> {
  await db.query(
    `insert into nightdesk_data.documents (source, path, sha256, bytes, chars, mtime_ns, ctime_ns, inode, device, settled,
                                           metadata_state, metadata, chunk_settings)
     select 'ops', folder || '/' || n || '.md', repeat('a', 64), 100, 100, 0, 0, 0, 0, true, 'present',
            jsonb_build_object('tags', jsonb_build_array(folder)), 'x'
       from generate_series(1, ${DOCUMENTS}) n,
            lateral (select case when n % 20 = 0 then 'rare' else 'common' end as folder) lies`,
  );
  await db.query(
    `insert into nightdesk_data.chunks (doc_id, chunk_key, ordinal, start_char, end_char, line_start, line_end, text,
                                        sha256, terms)
     select doc_id, md5(doc_id || ' ' || n), n, n, n + 1, 1, 1, 'x', repeat('a', 64), 0
       from nightdesk_data.documents, generate_series(1, ${CHUNKS / DOCUMENTS}) n`,
  );
  await embed(db, "model", OWN);
  const space = { model: "model", signature: HALF, roundedFrom: OWN };
  const { rounded } = await roundEmbeddings(db, space, ALL);
  if (rounded !== CHUNKS) throw new Error(`${rounded} vectors were rounded`);
}

const ALL = { range: null, afterChunkId: "0", limit: CHUNKS };

const embed = (db: Queryable, model: string, signature: string) =>
  db.query(
    `insert into nightdesk_data.embeddings (chunk_id, model, signature, dims, embedding)
     select chunk_id, $1, $2, ${DIMS}, l2_normalize(array(
              select ('x' || substr(md5(chunk_key || ' ' || i), 1, 7))::bit(28)::integer / 268435456.0 - 0.5
                from generate_series(1, ${DIMS}) i)::vector)
       from nightdesk_data.chunks`,
    [model, signature],
  );

/** 20 directions, the same in every run. */
const QUESTIONS = Array.from({ length: 20 }, (_, seed) =>
  Float32Array.from({ length: DIMS }, (__, at) => Math.sin(1 + seed * 7 + at * 3)),
).map((vector) => vector.map((value) => value / Math.hypot(...vector)));

describe.each(ENGINES)("the index of vectors on $engine", ({ engine, open }) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await open();
    await fill(database.db);
    await database.db.query("analyze");
  });
  afterAll(() => database.close());
  afterEach(async () => {
    await keep({ current: 0 });
    await database.db.query(
      "delete from nightdesk_data.embeddings where signature <> all ($1::text[])",
      [[OWN, HALF]],
    );
  });

  type Kept = {
    readonly current?: number;
    readonly exactBelow?: number;
    readonly signature?: string;
  };
  const keep = ({ current = CHUNKS, exactBelow = 1_000, signature = OWN }: Kept = {}) =>
    reconcileVectorIndex(database.db, {
      embedder: {
        signature,
        dims: DIMS,
        ...(signature === HALF ? { roundedFrom: OWN } : {}),
      },
      current,
      exactBelow,
      engine: engine === "PGlite" ? "embedded" : "server",
    });
  const search = (
    vector: Float32Array,
    filter: Partial<SearchFilter> = {},
    limit = 10,
    { mostCompared = 0, precision = "full" }: Ways = {},
  ) =>
    searchVectors(
      database.db,
      { signature: SIGNATURES[precision], precision, vector },
      { pathPrefix: undefined, source: undefined, ...filter, limit },
      mostCompared,
    );
  const keysOf = (hits: readonly { chunkKey: string }[]) => hits.map(({ chunkKey }) => chunkKey);
  type Ways = { readonly mostCompared?: number; readonly precision?: "full" | "half" };
  const SIGNATURES = { full: OWN, half: HALF };
  const hasIndex = async (signature = OWN) =>
    (await findVectorIndex(database.db, signature)) !== undefined;

  test("is built at the threshold and not below it, kept to half of it, and dropped then", async () => {
    expect(await keep({ current: 999 })).toBe("none");
    expect(await keep({ current: 1_000 })).toBe("created");
    expect(await hasIndex()).toBe(true);
    expect(await keep({ current: 500 })).toBe("kept");
    expect(await keep({ current: 499 })).toBe("none");
    expect(await hasIndex()).toBe(false);
  });

  const sizeOf = async (what: string): Promise<number> => {
    const { rows } = await database.db.query(`select (${what})::integer as bytes`);
    return (rows[0] as { bytes: number }).bytes;
  };

  test("vectors and index of half precision take less room than those of full", async () => {
    const sizes = async (precision: "full" | "half", column: string) => ({
      index: await sizeOf(
        `pg_relation_size('nightdesk_data.embeddings_hnsw_${SIGNATURES[precision]}')`,
      ),
      vectors: await sizeOf(`select sum(pg_column_size(${column})) from nightdesk_data.embeddings`),
    });
    expect([await keep(), await keep({ signature: HALF })]).toEqual(["created", "created"]);
    const full = await sizes("full", "embedding");
    const half = await sizes("half", "half_embedding");
    expect(half.index).toBeLessThan(full.index);
    expect(half.vectors).toBe(full.vectors - 2 * DIMS * CHUNKS);
  });

  const PRECISIONS = ["full", "half"] as const;

  test("half precision tells how near a passage is to three digits, and finds the same", async () => {
    let same = 0;
    for (const question of QUESTIONS) {
      const full = await search(question);
      const half = await search(question, {}, 10, { precision: "half" });
      expect(half[0]?.score).toBeCloseTo(full[0]?.score ?? NaN, 3);
      expect(half[0]?.score).not.toBe(full[0]?.score);
      same += keysOf(half).filter((key) => keysOf(full).includes(key)).length;
    }
    expect(same).toBeGreaterThanOrEqual(195);
  });

  test.each(PRECISIONS)(
    "of %s precision tells how near a passage is as an exact scan",
    async (precision) => {
      const [question = new Float32Array(DIMS)] = QUESTIONS;
      const [exact] = await search(question, {}, 10, { precision });
      await keep({ signature: SIGNATURES[precision] });
      expect((await search(question, {}, 10, { precision }))[0]).toEqual(exact);
    },
  );

  test.each(PRECISIONS)("of %s precision finds what an exact scan finds", async (precision) => {
    const exact: string[][] = [];
    for (const question of QUESTIONS)
      exact.push(keysOf(await search(question, {}, 10, { precision })));
    await keep({ signature: SIGNATURES[precision] });
    let found = 0;
    for (const [at, question] of QUESTIONS.entries()) {
      const hits = await search(question, {}, 10, { precision });
      expect(hits).toHaveLength(10);
      expect(hits.map(({ score }) => score)).toEqual(
        hits.map(({ score }) => score).toSorted((a, b) => b - a),
      );
      found += keysOf(hits).filter((key) => exact[at]?.includes(key)).length;
    }
    expect(found).toBeGreaterThanOrEqual(190);
  });

  type Scan = Partial<SearchFilter> & { readonly precision?: "full" | "half" };
  test.each<Scan>([
    {},
    { pathPrefix: "common/" },
    { where: [{ key: "tag", value: "common" }] },
    { precision: "half" },
    { precision: "half", pathPrefix: "common/" },
  ])("no search reads every vector any more: %j", async ({ precision = "full", ...given }) => {
    const signature = SIGNATURES[precision];
    await keep({ signature });
    const [vector = new Float32Array(DIMS)] = QUESTIONS;
    const filter = { pathPrefix: undefined, source: undefined, limit: 10, ...given };
    const plan = await planOf(database.db, (db) =>
      searchVectors(db, { signature, precision, vector }, filter, 0),
    );
    expect(plan).toMatch(/Index Scan using embeddings_hnsw_/);
    expect(plan).not.toMatch(/Seq Scan on embeddings|using embeddings_pkey/);
  });

  const FILTERS_OF_5_PERCENT: readonly Partial<SearchFilter>[] = [
    { pathPrefix: "rare/" },
    { where: [{ key: "tag", value: "rare" }] },
  ];

  test.each(FILTERS_OF_5_PERCENT)(
    "%j with a limit of 10 gives 10, and those of an exact scan",
    async (filter) => {
      const exact: string[][] = [];
      for (const question of QUESTIONS) exact.push(keysOf(await search(question, filter)));
      await keep();
      let found = 0;
      for (const [at, question] of QUESTIONS.entries()) {
        const hits = await search(question, filter);
        expect(hits).toHaveLength(10);
        found += keysOf(hits).filter((key) => exact[at]?.includes(key)).length;
      }
      expect(found).toBeGreaterThanOrEqual(190);
    },
  );

  test("the trap is real: without the setting the same filter gives fewer", async () => {
    await keep();
    let rows = 0;
    for (const question of QUESTIONS) rows += await countPlainly(question);
    expect(rows).toBeLessThan(20 * 10);
  });

  /** The nearest ten behind the filter, as pgvector gives them when nothing is set. */
  const countPlainly = (question: Float32Array): Promise<number> =>
    database.db.transaction(async (db) => {
      await db.query("set local enable_seqscan = off");
      await db.query("set local enable_hashjoin = off");
      await db.query("set local enable_sort = off");
      const { rows } = await db.query(
        `select e.chunk_id from nightdesk_data.embeddings e
          where signature = '${OWN}' and exists (
            select from nightdesk_data.chunks c join nightdesk_data.documents d using (doc_id)
             where c.chunk_id = e.chunk_id and d.path like 'rare/%' offset 0)
          order by embedding::vector(${DIMS}) <#> $1::vector(${DIMS}) limit 10`,
        [`[${question.join(",")}]`],
      );
      return rows.length;
    });

  test("behind a filter that few pass, each is compared: the hits are those without an index", async () => {
    const filter = { pathPrefix: "rare/" };
    const searchAll = () =>
      Promise.all(
        QUESTIONS.map((question) => search(question, filter, 50, { mostCompared: CHUNKS / 20 })),
      );
    const exact = await searchAll();
    await keep();
    expect(await searchAll()).toEqual(exact);
  });

  test("a filter that few pass gives all of them", async () => {
    await keep();
    const [question = new Float32Array(DIMS)] = QUESTIONS;
    const indexed = await search(question, { pathPrefix: "rare/20.md" }, 50);
    await keep({ current: 0 });
    expect(indexed.length).toBeGreaterThan(0);
    expect(await search(question, { pathPrefix: "rare/20.md" }, 50)).toEqual(indexed);
    expect(await search(question, { source: "none" })).toEqual([]);
  });

  test("gives as many as are asked for", async () => {
    await keep();
    const [question = new Float32Array(DIMS)] = QUESTIONS;
    expect(await search(question, {}, 600)).toHaveLength(600);
  });

  test("an index of a build that no vector has any more goes, one that is in use stays", async () => {
    await embed(database.db, "another model", OTHER);
    await keep();
    await keep({ signature: OTHER });
    expect([await hasIndex(), await hasIndex(OTHER)]).toEqual([true, true]);
    await database.db.query("delete from nightdesk_data.embeddings where signature = $1", [OTHER]);
    expect(await keep()).toBe("kept");
    expect([await hasIndex(), await hasIndex(OTHER)]).toEqual([true, false]);
  });

  test("a vector that is stored after the index was built is found by it", async () => {
    await keep();
    const [, question = new Float32Array(DIMS)] = QUESTIONS;
    const { rows } = await database.db.query(
      `update nightdesk_data.embeddings set embedding = $1::vector
        where chunk_id = (select max(chunk_id) from nightdesk_data.embeddings) and signature = '${OWN}'
        returning chunk_id::text`,
      [`[${question.join(",")}]`],
    );
    const [nearest] = await search(question);
    expect(nearest?.chunkId).toBe((rows[0] as { chunk_id: string }).chunk_id);
  });

  if (engine === "PostgreSQL") {
    test("two that build at the same time leave one index, and both are content", async () => {
      const done = await Promise.all([keep(), keep()]);
      expect(done).toContain("created");
      expect(await hasIndex()).toBe(true);
    });

    test("what a build that was killed left behind is taken away, and built again", async () => {
      await keep();
      await database.db.query(
        `update pg_index set indisvalid = false
          where indexrelid = 'nightdesk_data.embeddings_hnsw_${OWN}'::regclass`,
      );
      expect(await hasIndex()).toBe(false);
      expect(await keep()).toBe("created");
      expect(await hasIndex()).toBe(true);
    });
  }
});
