import pg from "pg";
import { z } from "zod";
import { Failure } from "../../failure.ts";

/** A server that is up answers within this time, even while sessions wait for locks. */
const WITHIN_MS = 1_000;

/** In a chain of waiting sessions, prefers the one at its end, which waits for no lock itself. */
const BLOCKER = `
  select blocker.pid, holder.usename, holder.application_name,
         extract(epoch from clock_timestamp() - holder.xact_start)::int as open_s
    from pg_stat_activity waiting
   cross join lateral unnest(pg_blocking_pids(waiting.pid)) blocker (pid)
    left join pg_stat_activity holder on holder.pid = blocker.pid
   where waiting.datname = current_database() and waiting.wait_event_type = 'Lock'
     and ($1::int is null or waiting.pid = $1)
   order by holder.wait_event_type is not distinct from 'Lock', holder.xact_start
   limit 1`;

const rowsSchema = z.array(
  z.object({
    pid: z.int(),
    usename: z.string().nullable(),
    application_name: z.string().nullable(),
    open_s: z.int().nullable(),
  }),
);

/**
 * Finds, over a separate connection, the session that holds a lock for which another session waits.
 * @param waiting the waiting session; null for any session of this database
 * @returns a failure that names it; undefined when no session waits for a lock, or the server does not answer
 */
export async function findBlocker(
  url: string,
  waiting: number | null,
): Promise<Failure | undefined> {
  const client = new pg.Client({
    connectionString: url,
    application_name: "nightdesk",
    connectionTimeoutMillis: WITHIN_MS,
    query_timeout: WITHIN_MS,
  });
  client.on("error", () => undefined);
  try {
    await client.connect();
    const [found] = rowsSchema.parse((await client.query(BLOCKER, [waiting])).rows);
    return found === undefined ? undefined : blockerFailure(found);
  } catch {
    return undefined;
  } finally {
    void client.end().catch(() => undefined);
  }
}

function blockerFailure({ pid, ...holder }: z.infer<typeof rowsSchema>[0]): Failure {
  if (pid === 0) {
    return new Failure(
      "DATABASE_UNREACHABLE",
      "The database does not answer: a statement waits for a lock that a prepared transaction holds. The view " +
        "pg_prepared_xacts names it: commit it, or roll it back.",
    );
  }
  const who = [
    `user ${holder.usename ?? "unknown"}`,
    ...(holder.application_name ? [`application ${holder.application_name}`] : []),
    ...(holder.open_s === null ? [] : [`transaction of ${holder.open_s} s`]),
  ];
  return new Failure(
    "DATABASE_UNREACHABLE",
    `The database does not answer: a statement waits for a lock that session ${pid} holds (${who.join(", ")}). Let it end, ` +
      `or end it there: select pg_terminate_backend(${pid})`,
  );
}
