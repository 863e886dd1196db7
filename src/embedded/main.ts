import type { CommandHandlers } from "../shared/commands/command.ts";

/** The hidden command that is the database process, and the one that fills its directory while it does not run. */
export const handlers: CommandHandlers = {
  database: async () => (await import("./database-command.ts")).database,
  restore: async () => (await import("./restore.ts")).restore,
};
