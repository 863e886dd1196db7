import type { CommandHandlers } from "../shared/commands/command.ts";

/** The process that shows the desk to a browser. */
export const handlers: CommandHandlers = {
  dashboard: async () => (await import("./serve.ts")).serveDashboard,
};
