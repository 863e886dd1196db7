import { z } from "zod";
import type { Queryable } from "./database.ts";
import { execute, valueOf } from "./rows.ts";

/** Tasks that one worker at a time may do. Each lock is a row that the role of `nightdesk sql` can't see, let alone lock. */
type LockName =
  "dispatch" | "retention" | "vector_index" | "compaction" | "approvals" | "artifacts" | "contents";

/**
 * Common table expressions that try to take a lock until the transaction ends; `guard.held`, in one row, is whether they got it.
 * Not an advisory lock: anybody who may run a statement could take that.
 */
export const guardBy = (name: LockName): string =>
  `locked as materialized (
  select name from nightdesk_data.locks where name = '${name}' for no key update skip locked),
guard as materialized (select exists (select from locked) as held)`;

/** Tries to take a lock until the transaction ends. @returns false when another session holds it */
export const tryLock = (transaction: Queryable, name: LockName): Promise<boolean> =>
  valueOf(transaction, z.boolean())`with ${guardBy(name)} select held from guard`;

/** Waits for a lock and takes it until the transaction ends. */
export const waitForLock = (transaction: Queryable, name: LockName): Promise<void> =>
  execute(transaction)`
     select from nightdesk_data.locks where name = '${name}' for no key update`;

/** The 32-byte secret of this installation, from which the marks around evidence are derived. */
export const selectEvidenceKey = (db: Queryable): Promise<Buffer> =>
  valueOf(db, z.instanceof(Buffer))`select evidence_key from nightdesk_data.installation`;
