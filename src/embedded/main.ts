import type { CommandHandlers } from "../shared/commands/command.ts";

/** The hidden command that is the database process. */
export const handlers: CommandHandlers = {
  database: async () => (await import("./database-command.ts")).database,
};
