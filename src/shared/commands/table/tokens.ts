import type { Command } from "../command.ts";

/** Tokens of programs that come by `nightdesk serve`. */
export const TOKENS: readonly Command[] = [
  {
    name: "tokens create",
    process: "producer",
    summary: "Make a token by which a program may queue jobs, and print it once",
    examples: [
      "nightdesk tokens create letters --source letters --expires 90d",
      "nightdesk tokens create chats --kind chat --model qwen3:8b",
      "nightdesk tokens create scout --source letters --kind investigate --preset readonly_safe",
    ],
    arguments: [{ usage: "<name>", description: "what it is called in lists and records" }],
    options: [
      {
        flags: "--scope <scope>",
        description:
          "files:write, batches:read, or batches:write, which includes both; batches:write without it",
        kind: "list",
      },
      {
        flags: "--source <name>",
        description: "of index.sources: its jobs read documents of these alone",
        kind: "list",
      },
      {
        flags: "--kind <kind>",
        description: "ask, summarize, extract, chat, embed, investigate; the first four without it",
        kind: "list",
      },
      {
        flags: "--preset <name>",
        description: "presets of tools for its investigations",
        kind: "list",
      },
      {
        flags: "--model <name>",
        description: "models that its jobs may name; all that are configured without it",
        kind: "list",
      },
      {
        flags: "--expires <duration>",
        description: "like 12h or 2d; 90d without it",
        kind: "text",
      },
    ],
  },
  {
    name: "tokens list",
    process: "producer",
    summary: "List the tokens of programs, with their last use",
    examples: ["nightdesk tokens list", "nightdesk tokens list --json"],
  },
  {
    name: "tokens revoke",
    process: "producer",
    summary: "End a token, and cancel the jobs that it queued",
    examples: ["nightdesk tokens revoke letters"],
    arguments: [{ usage: "<name>", description: "the token" }],
  },
];
