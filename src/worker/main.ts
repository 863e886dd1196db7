import type { CommandHandlers } from "../shared/commands/command.ts";

/** The commands of the only process that opens corpus files, embedders or models. */
export const handlers: CommandHandlers = {
  up: async () => (await import("./commands/up.ts")).up,
  worker: async () => (await import("./commands/worker.ts")).worker,
  query: async () => (await import("./commands/query.ts")).query,
  "runs replay": async () => (await import("./commands/runs-replay.ts")).runsReplay,
  "evidence show": async () => (await import("./commands/evidence-show.ts")).evidenceShow,
  "models setup": async () => (await import("./commands/models-setup.ts")).modelsSetup,
  "models list": async () => (await import("./commands/models-list.ts")).modelsList,
  "models fetch": async () => (await import("./commands/models-fetch.ts")).modelsFetch,
  "write-back": async () => (await import("./commands/write-back.ts")).writeBack,
  "write-back undo": async () => (await import("./commands/write-back.ts")).writeBackUndo,
  "tools list": async () => (await import("./commands/tools-list.ts")).toolsList,
  mcp: async () => (await import("./commands/mcp.ts")).mcp,
  doctor: async () => (await import("./commands/doctor.ts")).doctor,
};
