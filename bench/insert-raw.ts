import type { Database } from "../src/shared/db/database.ts";

const PORTION = 1_750;

/**
 * Inserts the rows of the index again into tables without constraints, by `unnest` and in portions of the size that
 * indexing has: the least that storing them costs. Drops the tables.
 */
export async function insertRaw(db: Database): Promise<{ ms: number; rows: number }> {
  const chunks = await select(
    db,
    `select doc_id::text, chunk_key, heading_path, start_char, end_char, line_start, line_end, text, sha256
       from nightdesk_data.chunks order by chunk_id`,
  );
  const postings = await select(
    db,
    "select term, segment_id::text, entries::text from nightdesk_data.postings order by segment_id",
  );
  await db.query(
    `create table public.raw_chunks (doc_id bigint, chunk_key text, heading_path text, start_char integer,
       end_char integer, line_start integer, line_end integer, text text, sha256 text)`,
  );
  await db.query(
    "create table public.raw_postings (term text, segment_id bigint, entries bigint[])",
  );
  const startedAt = performance.now();
  await insert(
    db,
    chunks,
    (params) => `insert into public.raw_chunks select * from unnest(${params})`,
    [...["bigint", "text", "text", "integer", "integer", "integer", "integer", "text", "text"]],
  );
  await insert(
    db,
    postings,
    (params) =>
      `insert into public.raw_postings
       select term, segment_id, entries::bigint[] from unnest(${params}) as u (term, segment_id, entries)`,
    ["text", "bigint", "text"],
  );
  const ms = performance.now() - startedAt;
  await db.query("drop table public.raw_chunks, public.raw_postings");
  return { ms, rows: chunks.length + postings.length };
}

type Row = Readonly<Record<string, unknown>>;

async function select(db: Database, sql: string): Promise<Row[]> {
  return (await db.query(sql)).rows as Row[];
}

async function insert(
  db: Database,
  rows: readonly Row[],
  statement: (params: string) => string,
  types: readonly string[],
): Promise<void> {
  const params = types.map((type, at) => `$${at + 1}::${type}[]`).join(", ");
  const names = Object.keys(rows[0] ?? {});
  for (let at = 0; at < rows.length; at += PORTION) {
    const portion = rows.slice(at, at + PORTION);
    await db.query(
      statement(params),
      names.map((name) => portion.map((row) => row[name])),
    );
  }
}
