import { query } from "./backend-messages.ts";
import type { Log } from "./log.ts";
import type { Session } from "./session.ts";
import type { Turns } from "./turns.ts";

/** Rows that are gone are counted within a second; whoever waits for a vacuum waits for one table. */
const EVERY_MS = 5_000;

/**
 * The table with the most dead rows of those that autovacuum of PostgreSQL would take with its default threshold of
 * 50 and scale factor of 0.2 ("Routine Vacuuming"). PGlite has no process of its own for that.
 */
const DUE = query(`
  select format('%I.%I', s.schemaname, s.relname)
    from pg_stat_user_tables s join pg_class c on c.oid = s.relid
   where s.n_dead_tup > 50 + 0.2 * greatest(c.reltuples, 0)
   order by s.n_dead_tup desc limit 1`);

export type UpkeepOptions = {
  readonly session: Session;
  readonly turns: Turns;
  readonly log: Log;
};

/** Makes the place of deleted rows free again, one table at a time, while nobody has anything to run. */
export function startUpkeep({ session, turns, log }: UpkeepOptions): {
  stop(): void;
} {
  const timer = setInterval(() => {
    turns.runBetween(async () => {
      const due = await session.ask(DUE);
      const [table] = due ?? [];
      if (due !== undefined && table === undefined) return;
      if (table !== undefined && (await session.ask(query(`vacuum (analyze) ${table}`)))) return;
      log("warn", "The place of deleted rows is not made free before the next start.", { table });
      stop();
    });
  }, EVERY_MS);
  timer.unref();
  const stop = (): void => {
    clearInterval(timer);
  };
  return { stop };
}
