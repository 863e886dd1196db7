import type { CommandContext } from "../../shared/command-context.ts";
import type { Database } from "../../shared/db/database.ts";
import { countAliveWorkers } from "../../shared/db/jobs/workers.ts";
import { asksHost, hintHost } from "./hint-host.ts";

/** Says how the queued work gets done, when nobody is there who would do it. */
export async function hintWorker(context: CommandContext, database: Database): Promise<void> {
  await hintHost(context, database);
  if ((await countAliveWorkers(database, null)) > 0) return;
  context.terminal.say(
    `No worker is alive; the work waits until you start one with: ${startOf(context)}`,
  );
}

/** Says that schedules run only while a worker does, when none is there. */
export async function hintTicking(context: CommandContext, database: Database): Promise<void> {
  if ((await countAliveWorkers(database, null)) > 0) return;
  context.terminal.say(
    `No worker is alive, and schedules run while one is. Start it with: ${startOf(context)}`,
  );
}

/** A host that this command was given is the worker's to ask. */
export function startOf({ config, invocation }: CommandContext): string {
  const { ollamaBaseUrl: url } = invocation.options;
  const start = config.database.url === "embedded" ? "nightdesk up" : "nightdesk worker";
  return typeof url === "string" && asksHost(config)
    ? `${start} --ollama-base-url ${url.trim()}`
    : start;
}
