import type { CommandHandlers } from "../shared/commands/command.ts";

/** The commands that write rows and read them. The queue is the workers' business: the dispatcher fills it from the rows. */
export const handlers: CommandHandlers = {
  migrate: async () => (await import("./commands/migrate.ts")).migrateSchema,
  index: async () => (await import("./commands/index-sources.ts")).indexSources,
  embed: async () => (await import("./commands/embed.ts")).embed,
  ask: async () => (await import("./commands/ask.ts")).ask,
  summarize: async () => (await import("./commands/summarize.ts")).summarize,
  chat: async () => (await import("./commands/chat.ts")).chat,
  enqueue: async () => (await import("./commands/enqueue.ts")).enqueue,
  "batch list": async () => (await import("./commands/batch-list.ts")).batchList,
  "batch show": async () => (await import("./commands/batch-show.ts")).batchShow,
  "batch wait": async () => (await import("./commands/batch-wait.ts")).batchWait,
  "batch cancel": async () => (await import("./commands/batch-cancel.ts")).batchCancel,
  "batch export": async () => (await import("./commands/batch-export.ts")).batchExport,
  "runs list": async () => (await import("./commands/runs-list.ts")).runsList,
  "runs show": async () => (await import("./commands/runs-show.ts")).runsShow,
  "runs export": async () => (await import("./commands/runs-export.ts")).runsExport,
  "memory add": async () => (await import("./commands/memory-add.ts")).memoryAdd,
  "memory list": async () => (await import("./commands/memory-list.ts")).memoryList,
  "memory delete": async () => (await import("./commands/memory-delete.ts")).memoryDelete,
  "memory export": async () => (await import("./commands/memory-export.ts")).memoryExport,
  sql: async () => (await import("./commands/sql.ts")).sql,
  backup: async () => (await import("./commands/backup.ts")).backup,
  "config show": async () => (await import("./commands/config-show.ts")).configShow,
  completion: async () => (await import("./commands/completion.ts")).completion,
  demo: async () => (await import("./commands/demo.ts")).demo,
};
