import type { CommandTable } from "../command.ts";
import { large, raw } from "./options.ts";

/** Everything beside jobs. */
export const TOOLS: CommandTable = {
  sql: {
    summary: "Query the views of schema nightdesk, read-only",
    examples: [
      `nightdesk sql "select state, count(*) from results group by 1"`,
      `nightdesk sql "select custom_id, answer from results" --format csv`,
    ],
    arguments: { "<query>": "one statement" },
    options: {
      "--format <format>": { description: "table by default", choices: ["table", "json", "csv"] },
      "--crlf": "end the lines of a CSV with CR LF",
      "--timeout <seconds>": { description: "give up after this; 30 by default", kind: "count" },
      ...raw,
    },
  },
  backup: {
    summary: "Write a dump of the embedded database",
    examples: ["nightdesk backup nightdesk-backup.tar.gz"],
    arguments: { "<file>": "the dump to write" },
    options: { "--force": "replace a file that is there" },
  },
  restore: {
    process: "embedded",
    summary: "Put a dump that backup wrote in the place of the embedded database",
    examples: [
      "nightdesk restore nightdesk-backup.tar.gz",
      "nightdesk restore nightdesk-backup.tar.gz --force",
    ],
    arguments: { "<file>": "the dump, compressed or not" },
    options: { "--force": "replace a database that is there; its data is kept beside it" },
  },
  "tools list": {
    process: "worker",
    summary: "List the tools that investigations may use, and the presets that allow them",
    examples: ["nightdesk tools list", "nightdesk tools list --preset readonly_context --json"],
    options: { "--preset <name>": "which of them this preset allows" },
  },
  mcp: {
    process: "worker",
    summary: "Serve documents and results to a client of the Model Context Protocol",
    examples: ["nightdesk mcp", "nightdesk mcp --http --port 7342"],
    options: {
      "--http": "by HTTP on 127.0.0.1, in place of stdin and stdout",
      "--port <n>": { description: "another port than mcp.http.port", kind: "count" },
      "--dashboard": { description: "for the dashboard: search and doctor", hidden: true },
    },
  },
  doctor: {
    process: "worker",
    summary: "Check configuration, database, queue, sources, index, vectors, shell and model host",
    examples: ["nightdesk doctor", "nightdesk doctor --no-ollama --json", "nightdesk doctor --fix"],
    options: {
      "--no-ollama": "do not ask the model host",
      "--probe-window": "also send each model a prompt that it must refuse; its host loads it",
      "--fix": "run what is safe of the commands that mend, each after a yes",
      "--yes": "with --fix: do not ask; needed where there is no terminal",
      "--require-embeddings": "fail when vectors are missing or outdated",
      "--require-phase3": { description: "the same as --require-embeddings", hidden: true },
    },
  },
  "hosts list": {
    summary: "Show the model hosts: state, models, slots, limits and what they have cost",
    examples: ["nightdesk hosts list", "nightdesk hosts list --json"],
  },
  "models list": {
    process: "worker",
    summary: "Ask the hosts for their models: window, what each can do, and what it is used for",
    examples: ["nightdesk models list", "nightdesk models list --json"],
  },
  "models fetch": {
    process: "worker",
    summary: "Download a model for transformers, embed, a judge or rerank; asks first",
    examples: [
      "nightdesk models fetch Xenova/all-MiniLM-L6-v2",
      "nightdesk models fetch Xenova/all-MiniLM-L6-v2 --dtype q8 --yes",
    ],
    arguments: { "<id>": "owner and name of the model" },
    options: {
      "--yes": "do not ask; needed where there is no terminal",
      "--dtype <dtype>": {
        description:
          "precision of the weights; default: that of the model in the configuration, else embed.dtype",
        choices: ["fp32", "fp16", "q8", "int8", "uint8", "q4", "q4f16", "bnb4"],
      },
      "--host <url>": "a mirror in place of huggingface.co",
      "--revision <name>": "branch, tag or commit; main by default",
    },
  },
  status: {
    summary: "Say what is here and what comes next, as nightdesk alone does",
    examples: ["nightdesk", "nightdesk status --in ~/papers"],
  },
  init: {
    summary: "Keep the configuration of a folder of documents in it, as nightdesk.yaml",
    examples: ["nightdesk init", "nightdesk init --in ~/papers"],
    options: { ...large },
  },
  "models setup": {
    process: "worker",
    summary: "Install the packages that read scans and pictures; asks first",
    examples: ["nightdesk models setup ocr", "nightdesk models setup ocr --yes"],
    arguments: { "<what>": "ocr" },
    options: { "--yes": "do not ask; needed where there is no terminal" },
  },
  "config show": {
    summary: "Show the effective configuration and where each value came from",
    examples: ["nightdesk config show", "nightdesk config show --json"],
  },
  explain: {
    summary: "Explain an error code: its meaning, what to do, and with what a command ends",
    examples: ["nightdesk explain FILE_NOT_FOUND", "nightdesk explain"],
    arguments: { "[code]": "as rows and messages have it; all without it" },
  },
  completion: {
    summary: "Print a completion script",
    examples: ["nightdesk completion bash > ~/.local/share/bash-completion/completions/nightdesk"],
    arguments: { "<shell>": "bash, zsh or fish" },
  },
  demo: {
    summary: "Index the example corpus, work the example batch and show the results",
    examples: ["npm run demo"],
    hidden: true,
  },
  database: {
    process: "embedded",
    summary: "The process of the embedded database",
    examples: [],
    options: { "--directory <folder>": "folder of the database" },
    hidden: true,
  },
};
