import type { CommandHandlers } from "../shared/commands/command.ts";

/** The hidden command of the database process, and the one that restores its directory while it does not run. */
export const handlers: CommandHandlers = {
  database: async () => (await import("./database-command.ts")).database,
  restore: async () => (await import("./restore.ts")).restore,
};
