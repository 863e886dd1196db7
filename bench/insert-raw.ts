import type { Database } from "../src/shared/db/database.ts";

const PORTION = 1_750;

/** Inserts the chunks of the index into a bare table by `unnest`, as fast as it goes, and drops the table. */
export async function insertRaw(db: Database): Promise<{ ms: number; rows: number }> {
  const { rows } = (await db.query(
    "select chunk_key, text from nightdesk_data.chunks order by chunk_id",
  )) as unknown as { rows: { chunk_key: string; text: string }[] };
  await db.query("create table public.raw (chunk_key text primary key, text text not null)");
  const startedAt = performance.now();
  for (let at = 0; at < rows.length; at += PORTION) {
    const portion = rows.slice(at, at + PORTION);
    await db.query("insert into public.raw select * from unnest($1::text[], $2::text[])", [
      portion.map(({ chunk_key }) => chunk_key),
      portion.map(({ text }) => text),
    ]);
  }
  const ms = performance.now() - startedAt;
  await db.query("drop table public.raw");
  return { ms, rows: rows.length };
}
