import type { Queryable } from "../../src/shared/store/connection/database.ts";

/** Writes a durable note. @returns its id */
export async function insertMemory(db: Queryable, type: string, content: string): Promise<string> {
  const { rows } = await db.query(
    "insert into nightdesk_data.memory (type, source, content) values ($1, 'manual', $2) returning memory_id",
    [type, content],
  );
  return (rows as { memory_id: string }[])[0]?.memory_id ?? "";
}
