import type { CommandContext } from "../../shared/command-context.ts";
import type { Database } from "../../shared/db/database.ts";
import { countAliveWorkers } from "../../shared/db/jobs/workers.ts";

/** Says how the queued work gets done, when nobody is there who would do it. */
export async function hintWorker(
  { config, terminal }: CommandContext,
  database: Database,
): Promise<void> {
  if ((await countAliveWorkers(database, null)) > 0) return;
  terminal.say(`No worker is alive; the work waits until you start one with: ${startOf(config)}`);
}

/** Says that schedules run only while a worker does, when none is there. */
export async function hintTicking(
  { config, terminal }: CommandContext,
  database: Database,
): Promise<void> {
  if ((await countAliveWorkers(database, null)) > 0) return;
  terminal.say(
    `No worker is alive, and schedules run while one is. Start it with: ${startOf(config)}`,
  );
}

const startOf = ({ database }: CommandContext["config"]): string =>
  database.url === "embedded" ? "nightdesk up" : "nightdesk worker";
