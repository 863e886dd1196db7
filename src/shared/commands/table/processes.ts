import type { CommandTable } from "../command.ts";

/** Commands that start and update an installation. */
export const PROCESSES: CommandTable = {
  up: {
    process: "worker",
    summary: "Run the embedded database, a worker and the dashboard in the foreground",
    examples: ["nightdesk up", "nightdesk up --concurrency 4"],
    options: {
      "--concurrency <n>": { description: "jobs at once", kind: "count" },
      "--no-dashboard": "without the dashboard",
    },
  },
  worker: {
    process: "worker",
    summary: "Run the jobs of the queue",
    examples: ["nightdesk worker", "nightdesk worker --concurrency 4", "nightdesk worker --drain"],
    options: {
      "--concurrency <n>": { description: "jobs at once", kind: "count" },
      "--drain": "end when nothing is left to do; exit 75 when jobs wait for a model host",
      "--linger <seconds>": {
        description: "with --drain: stay so long for what comes next",
        kind: "count",
        hidden: true,
      },
      "--health": "exit 0 when a worker of this host is alive",
    },
  },
  dashboard: {
    process: "dashboard",
    summary: "Serve the dashboard to a browser",
    examples: ["nightdesk dashboard", "nightdesk dashboard --port 8400"],
    options: {
      "--port <n>": {
        description: "instead of dashboard.port; 0 takes any that is free",
        kind: "port",
      },
      "--host <address>": { description: "instead of dashboard.host", kind: "text" },
      "--or-any-port": "take any port that is free where that one is not",
    },
  },
  serve: {
    process: "serve",
    summary: "Serve files and batches to programs, as OpenAI's clients ask for them",
    examples: ["nightdesk serve", "nightdesk serve --port 8400"],
    options: {
      "--port <n>": {
        description: "instead of serve.port; 0 takes any that is free",
        kind: "port",
      },
      "--host <address>": { description: "instead of serve.host", kind: "text" },
      "--beside-worker": {
        description: "say nothing of workers: who starts it starts one",
        hidden: true,
      },
    },
  },
  migrate: {
    summary: "Bring the database schema to this version",
    examples: ["nightdesk migrate", "nightdesk migrate --status"],
    options: { "--status": "list what is applied and what is not" },
  },
};

/** Tokens of programs that use `nightdesk serve`. */
export const TOKENS: CommandTable = {
  "tokens create": {
    summary: "Make a token by which a program may queue jobs, and print it once",
    examples: [
      "nightdesk tokens create letters --source letters --expires 90d",
      "nightdesk tokens create chats --kind chat --model qwen3:8b",
      "nightdesk tokens create scout --source letters --kind investigate --preset readonly_safe",
    ],
    arguments: { "<name>": "what it is called in lists and records" },
    options: {
      "--scope <scope>": {
        description:
          "files:write, batches:read, or batches:write, which includes both; batches:write without it",
        kind: "list",
      },
      "--source <name>": {
        description: "of index.sources: its jobs read documents of these alone",
        kind: "list",
      },
      "--kind <kind>": {
        description: "ask, summarize, extract, chat, embed, investigate; the first four without it",
        kind: "list",
      },
      "--preset <name>": { description: "presets of tools for its investigations", kind: "list" },
      "--model <name>": {
        description: "models that its jobs may name; all that are configured without it",
        kind: "list",
      },
      "--expires <duration>": { description: "like 12h or 2d; 90d without it", kind: "text" },
    },
  },
  "tokens list": {
    summary: "List the tokens of programs, with their last use",
    examples: ["nightdesk tokens list", "nightdesk tokens list --json"],
  },
  "tokens revoke": {
    summary: "End a token, and cancel the jobs that it queued",
    examples: ["nightdesk tokens revoke letters"],
    arguments: { "<name>": "the token" },
  },
};
