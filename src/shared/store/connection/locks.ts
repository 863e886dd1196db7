import { z } from "zod";
import type { Queryable } from "./database.ts";
import { execute, valueOf } from "./rows.ts";

/** What one at a time does, of all workers. Each is a row that the role of `nightdesk sql` can't see, let alone lock. */
type LockName =
  "dispatch" | "retention" | "vector_index" | "compaction" | "approvals" | "artifacts" | "contents";

/**
 * Common table expressions that take a lock until the transaction ends, or find that somebody else holds it:
 * `guard.held`, in one row. Not an advisory lock: whoever may run a statement could take that as well.
 */
export const guardBy = (name: LockName): string =>
  `locked as materialized (
  select name from nightdesk_data.locks where name = '${name}' for no key update skip locked),
guard as materialized (select exists (select from locked) as held)`;

/** Takes a lock until the transaction ends. @returns whether nobody else held it */
export const tryLock = (transaction: Queryable, name: LockName): Promise<boolean> =>
  valueOf(transaction, z.boolean())`with ${guardBy(name)} select held from guard`;

/** Takes a lock until the transaction ends, after whoever holds it. */
export const waitForLock = (transaction: Queryable, name: LockName): Promise<void> =>
  execute(transaction)`
     select from nightdesk_data.locks where name = '${name}' for no key update`;

/** The secret of this installation from which the marks around evidence are derived, 32 bytes. */
export const selectEvidenceKey = (db: Queryable): Promise<Buffer> =>
  valueOf(db, z.instanceof(Buffer))`select evidence_key from nightdesk_data.installation`;
