import type { Queryable } from "../../src/shared/store/connection/database.ts";

/** The plans of all that is asked of the database, which is asked for it, too. */
export async function planOf(
  db: Queryable,
  ask: (db: Queryable) => Promise<unknown>,
): Promise<string> {
  const lines: string[] = [];
  await ask({
    async query(text, values) {
      const { rows } = await db.query(`explain ${text}`, values);
      lines.push(...(rows as { "QUERY PLAN": string }[]).map((row) => row["QUERY PLAN"]));
      return db.query(text, values);
    },
  });
  return lines.join("\n");
}
