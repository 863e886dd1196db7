import type { Queryable } from "../../shared/store/connection/database.ts";
import { selectCallableByReader } from "../../shared/store/connection/health.ts";
import { ok, warn } from "./check.ts";
import type { Check } from "./check.ts";

/** Whether the server itself keeps the role of `nightdesk sql` from what PostgreSQL grants to everybody. */
export async function checkSqlRole(database: Queryable): Promise<Check> {
  const callable = await selectCallableByReader(database);
  if (callable.length === 0) {
    return ok(
      "DOCTOR_SQL_ROLE_OK",
      "The role of nightdesk sql may take no advisory lock, nor write to the server's log.",
    );
  }
  return warn(
    "DOCTOR_SQL_ROLE_UNGUARDED",
    `The role of nightdesk sql has the right to call ${callable.join(", ")}: the words of a statement alone refuse it.`,
    "Let a superuser revoke it with the statements of docs/many-machines.md; where the server has none for you, nothing.",
  );
}
