import type { Database } from "../../../src/shared/store/connection/database.ts";

export type Progress = {
  readonly state: string;
  readonly hold_reason: string | null;
  readonly hold_until: Date | null;
  readonly total: number;
  readonly queued: number;
  readonly running: number;
  readonly parked: number;
  readonly succeeded: number;
  readonly refused: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly expired: number;
};

export async function progressOf(db: Database, batch: string): Promise<Progress> {
  const [row] = await rowsOf<Progress>(
    db,
    `select state, hold_reason, hold_until, total::int, queued::int, running::int, parked::int, succeeded::int,
            refused::int, failed::int, cancelled::int, expired::int
       from nightdesk.batch_progress where batch = $1`,
    [batch],
  );
  if (row === undefined) throw new Error(`there is no batch ${batch}`);
  return row;
}

export async function rowsOf<Row>(
  db: Database,
  sql: string,
  values: readonly unknown[] = [],
): Promise<readonly Row[]> {
  return (await db.query(sql, values)).rows as Row[];
}

export async function numberOf(
  db: Database,
  sql: string,
  values: readonly unknown[] = [],
): Promise<number> {
  const [row] = await rowsOf<{ n: unknown }>(db, `select (${sql}) as n`, values);
  return Number(row?.n);
}

/** Calls that the budget of a batch was charged with. */
export const callsOf = (db: Database, batch: string): Promise<number> =>
  numberOf(db, "select calls_used from nightdesk.budgets where batch = $1", [batch]);
