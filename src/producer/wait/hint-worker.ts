import type { CommandContext } from "../../shared/command-context.ts";
import type { Database } from "../../shared/db/database.ts";
import { countAliveWorkers } from "../../shared/db/jobs/workers.ts";

/** Says how the queued work gets done, when nobody is there who would do it. */
export async function hintWorker(
  { config, terminal }: CommandContext,
  database: Database,
): Promise<void> {
  if ((await countAliveWorkers(database, null)) > 0) return;
  const command = config.database.url === "embedded" ? "nightdesk up" : "nightdesk worker";
  terminal.say(`No worker is alive; the work waits until you start one with: ${command}`);
}
