import type { Database } from "../../../src/shared/store/connection/database.ts";

/** The times that the database's clock decides come when the script says so, and not by waiting. */

/** A host that is down is asked now whether it is back. */
export async function askHostsNow(db: Database): Promise<void> {
  await db.query(
    "update nightdesk_data.hosts set next_probe_at = clock_timestamp() where state = 'open'",
  );
}

/** A host that was busy may be asked for more at once again. */
export async function forgetBusyHosts(db: Database): Promise<void> {
  await db.query("update nightdesk_data.hosts set raise_after = clock_timestamp()");
}

/** Jobs that are tried again later are due now. */
export async function retryNow(db: Database): Promise<void> {
  const { rowCount } = await db.query(
    `update nightdesk_data.jobs set due_at = now()
      where state in ('queued', 'parked') and error_code is not null and due_at > now() and due_at < 'infinity'`,
  );
  if ((rowCount ?? 0) > 0) await wakeWorkers(db);
}

export async function wakeWorkers(db: Database): Promise<void> {
  await db.query("select pg_notify('nightdesk_jobs', '')");
}
