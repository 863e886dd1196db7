import type { Command, CommandOption, CommandTable, OptionTable } from "./command.ts";
import { APPROVAL_RULES, APPROVALS, REVIEWS } from "./table/approvals.ts";
import { BATCHES } from "./table/batches.ts";
import { JOBS } from "./table/jobs.ts";
import { MEMORY } from "./table/memory.ts";
import { PROCESSES, TOKENS } from "./table/processes.ts";
import { RUNS } from "./table/runs.ts";
import { SCHEDULES } from "./table/schedules.ts";
import { TOOLS } from "./table/tools.ts";

const optionsOf = (options: OptionTable): readonly CommandOption[] =>
  Object.entries(options).map(([flags, option]) => ({
    flags,
    ...(typeof option === "string" ? { description: option } : option),
  }));

export const GLOBAL_OPTIONS = optionsOf({
  "--config <file>": "configuration file",
  "--workroot <folder>": "the work root: every path is relative to it",
  "--in <folder>": "a folder of documents; its configuration is made where it has none",
  "--json": "one line of JSON on stdout",
  "--log-level <level>": {
    description: "level of the log on stderr",
    choices: ["trace", "debug", "info", "warn", "error", "silent"],
  },
  "--ollama-base-url <url>": "scheme://host[:port] of the model host",
  "--color <when>": {
    description: "colours: auto (on a terminal), always, or never, without the progress bar, too",
    choices: ["auto", "always", "never"],
  },
  "--no-color": "the same as --color never",
  "--debug": "stack traces with errors",
});

/** Summaries of the words that several commands begin with. */
export const GROUP_SUMMARIES: Readonly<Record<string, string>> = {
  batch: "Follow, change, repeat and export batches",
  schedule: "Run commands at fixed times",
  runs: "List, show, repeat and export runs",
  evidence: "Show what answers rest on",
  approvals: "Decide about calls of tools that wait for somebody",
  "approvals rules": "Decide about commands before anybody asks",
  reviews: "Decide about answers and values that wait for somebody",
  memory: "Keep durable notes for the model to follow",
  hosts: "Show the model hosts",
  models: "Download and examine models",
  tools: "List the tools of investigations",
  tokens: "Let programs queue jobs by nightdesk serve",
  config: "Show the configuration",
};

const TABLE: CommandTable = {
  ...PROCESSES,
  ...JOBS,
  ...BATCHES,
  ...SCHEDULES,
  ...RUNS,
  ...APPROVALS,
  ...MEMORY,
  ...TOOLS,
  ...APPROVAL_RULES,
  ...REVIEWS,
  ...TOKENS,
};

/** All commands, in the order of the help text. */
export const COMMANDS: readonly Command[] = Object.entries(TABLE).map(
  ([name, { arguments: operands = {}, options = {}, ...command }]) => ({
    ...{ name, process: "producer", ...command },
    arguments: Object.entries(operands).map(([usage, description]) => ({ usage, description })),
    options: optionsOf(options),
  }),
);
