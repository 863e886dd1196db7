import type { CommandHandlers } from "../shared/commands/command.ts";

/** The process that serves the dashboard. */
export const handlers: CommandHandlers = {
  dashboard: async () => (await import("./serve.ts")).serveDashboard,
};
