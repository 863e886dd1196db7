import { createHash } from "node:crypto";
import { z } from "zod";
import type { ScheduleEntry } from "../../schedules/schedule.ts";
import type { Database, Queryable } from "../database.ts";
import { putSchedule } from "./write-schedules.ts";

export type Replaced = {
  readonly kind: "replaced" | "unchanged";
  /** Names of entries that give way to schedules of the same name that were set by hand. */
  readonly leftOut: readonly string[];
  /** The host whose entries were replaced, unless these are the first. */
  readonly before: string | null;
};

const appliedSchema = z.array(z.object({ sha256: z.string(), host: z.string() }));

/**
 * Makes the schedules of origin `file` those of a configuration. Of any number of workers with the same file one
 * changes something; of workers with different ones, whoever calls last wins.
 */
export async function replaceFileSchedules(
  database: Database,
  entries: readonly ScheduleEntry[],
  host: string,
): Promise<Replaced> {
  const sha256 = createHash("sha256").update(JSON.stringify(entries)).digest("hex");
  return database.transaction(async (db) => {
    const before = await selectApplied(db);
    const leftOut: string[] = [];
    if (before?.sha256 === sha256) return { kind: "unchanged", leftOut, before: before.host };
    await db.query(
      "delete from nightdesk_data.schedules where origin = 'file' and name <> all($1::text[])",
      [entries.map(({ name }) => name)],
    );
    for (const entry of entries) {
      if (!(await putSchedule(db, entry, "file"))) leftOut.push(entry.name);
    }
    await db.query(
      `insert into nightdesk_data.schedule_file (sha256, host) values ($1, $2)
       on conflict (singleton) do update
         set sha256 = excluded.sha256, host = excluded.host, applied_at = clock_timestamp()`,
      [sha256, host],
    );
    return { kind: "replaced", leftOut, before: before?.host ?? null };
  });
}

/** The one that is there waits until the caller's transaction ends, also when there is none yet. */
async function selectApplied(
  db: Queryable,
): Promise<z.infer<typeof appliedSchema>[number] | undefined> {
  await db.query("lock table nightdesk_data.schedule_file in share row exclusive mode");
  const { rows } = await db.query("select sha256, host from nightdesk_data.schedule_file");
  return appliedSchema.parse(rows)[0];
}
