import { z } from "zod";
import { Failure } from "../../failure.ts";
import { cleanForDatabase } from "../../terminal/styled-text.ts";
import type { Queryable } from "../connection/database.ts";
import { anyRow, rowsOf } from "../connection/rows.ts";

const savedSchema = z.object({
  name: z.string(),
  statement: z.string(),
  saved_by: z.string(),
  saved_at: z.date(),
});
/** A named statement of the SQL page. */
export type SavedQuery = z.infer<typeof savedSchema>;

export const MOST_QUERY_NAME = 100;
const MOST_SAVED = 200;

/** The saved queries, by name. */
export const selectSavedQueries = (db: Queryable): Promise<readonly SavedQuery[]> =>
  rowsOf(db, savedSchema)`
     select name, statement, saved_by, saved_at from nightdesk_data.saved_queries order by name limit ${MOST_SAVED}`;

/** Saves a statement, or replaces that of the same name. @throws Failure INPUT_INVALID for a bad name, or when 200 are saved */
export async function saveQuery(
  db: Queryable,
  { name, statement, savedBy }: { name: string; statement: string; savedBy: string },
): Promise<void> {
  if (name.trim() === "" || name.length > MOST_QUERY_NAME || /[\p{Cc}\p{Surrogate}]/u.test(name)) {
    throw new Failure(
      "INPUT_INVALID",
      `The name of a query has 1 to ${MOST_QUERY_NAME} characters, none of them a control character.`,
    );
  }
  if (statement.trim() === "") throw new Failure("INPUT_INVALID", "There is no statement to save.");
  const isSaved = await anyRow(db, [name, cleanForDatabase(statement), savedBy])`
     insert into nightdesk_data.saved_queries (name, statement, saved_by)
     select $1, $2, $3
      where (select count(*) from nightdesk_data.saved_queries) < ${MOST_SAVED}
         or exists (select from nightdesk_data.saved_queries where name = $1)
     on conflict (name) do update set statement = $2, saved_by = $3, saved_at = clock_timestamp()`;
  if (!isSaved) {
    throw new Failure("INPUT_INVALID", `${MOST_SAVED} queries are saved: remove one first.`);
  }
}

/** @returns whether the query existed */
export const removeQuery = (db: Queryable, name: string): Promise<boolean> =>
  anyRow(db, [name])`delete from nightdesk_data.saved_queries where name = $1`;
