import type { CommandHandlers } from "../shared/commands/command.ts";

/** The process that programs talk to. */
export const handlers: CommandHandlers = {
  serve: async () => (await import("./serve.ts")).servePrograms,
};
