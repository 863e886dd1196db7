import type { Command } from "../command.ts";
import { wait, noWait, changed, limit, source, route, night, documentFilter } from "./options.ts";

/** Commands that queue work, or look into the index. */
export const JOBS: readonly Command[] = [
  {
    name: "index",
    process: "producer",
    summary: "Index the sources: what is new or changed, and nothing else",
    examples: ["nightdesk index", "nightdesk index --source corpus --rebuild"],
    options: [
      source,
      { flags: "--rebuild", description: "index every document again" },
      {
        flags: "--verify",
        description: "read and hash every file, and index again what differs",
      },
      {
        flags: "--prune",
        description: "remove the documents of sources that are not configured any more",
      },
      {
        flags: "--prune-missing",
        description: "remove the documents of a source whose root is missing or empty",
      },
      { flags: "--no-embed", description: "leave the vectors for later" },
      noWait,
    ],
  },
  {
    name: "embed",
    process: "producer",
    summary: "Make vectors for chunks that miss one",
    examples: ["nightdesk embed", "nightdesk embed --dry-run", "nightdesk embed --rebuild"],
    options: [
      { flags: "--model <id>", description: "id of the embedder's model" },
      { flags: "--rebuild", description: "make every vector again" },
      limit,
      { flags: "--batch-size <n>", description: "texts of one call", kind: "count" },
      { flags: "--dry-run", description: "count, and change nothing" },
      {
        flags: "--no-prune",
        description: "of no effect: vectors go with their chunks, and none is left to prune",
      },
      noWait,
    ],
  },
  {
    name: "query",
    process: "worker",
    summary: "Search the index",
    examples: [
      'nightdesk query "kitchen load" --limit 5',
      `nightdesk query '"pay day" crew* -kitchen' --where tag=ops --explain`,
      "nightdesk query --file queries.jsonl --mode lexical > hits.jsonl",
    ],
    arguments: [
      {
        usage: "[text]",
        description: 'what to look for: words, "a phrase", a beginning*, -without',
      },
    ],
    options: [
      limit,
      {
        flags: "--mode <mode>",
        description: "hybrid unless it is said otherwise",
        choices: ["hybrid", "lexical", "vector"],
      },
      { flags: "--path <prefix>", description: "only documents whose path starts so" },
      source,
      ...documentFilter,
      { flags: "--explain", description: "say of each hit why it was found" },
      {
        flags: "--file <queries>",
        description: 'JSONL of {"id","text"}; one JSON line a query out',
      },
    ],
  },
  {
    name: "ask",
    process: "producer",
    summary: "Ask a question of the documents",
    examples: [
      'nightdesk ask "How much diesel does the Bear burn under kitchen load?" --wait',
      'nightdesk ask "What does run-the-generator.md say about fuel?" --wait --json',
    ],
    arguments: [{ usage: "<question>", description: "the question" }],
    options: [
      wait,
      ...route,
      { flags: "--full", description: "read the whole file that the question names" },
      { flags: "--path <prefix>", description: "only documents whose path starts so" },
      source,
      ...documentFilter,
    ],
  },
  {
    name: "summarize",
    process: "producer",
    summary: "Summarize files, one job a file",
    examples: [
      "nightdesk summarize allowed/corpus/minutes/2026-03.md --wait",
      "nightdesk summarize 'allowed/corpus/**/*.md' --batch-name tonight",
      "nightdesk summarize 'allowed/corpus/**/*.md' --digest --wait",
    ],
    arguments: [
      { usage: "<path...>", description: "files, or quoted globs below the allowed roots" },
    ],
    options: [
      wait,
      ...route,
      {
        flags: "--length <length>",
        description: "how long",
        choices: ["short", "medium", "long"],
      },
      { flags: "--bullets", description: "a list instead of a paragraph" },
      ...night,
      changed,
      { flags: "--digest", description: "and a digest of each folder, and one of all of it" },
      { flags: "--batch-name <name>", description: "name of the batch" },
    ],
  },
  {
    name: "extract",
    process: "producer",
    summary: "Take fields out of files, one job a file: a label, tasks, people, or a JSON schema",
    examples: [
      "nightdesk extract 'allowed/corpus/**/*.md' --preset classify --labels invoice,letter,minutes,other",
      "nightdesk extract allowed/corpus/minutes/2026-03.md --preset actions --wait --json",
      "nightdesk extract 'allowed/corpus/bills/*.txt' --schema bill.json --batch-name bills",
    ],
    arguments: [
      { usage: "<path...>", description: "files, or quoted globs below the allowed roots" },
    ],
    options: [
      wait,
      {
        flags: "--preset <preset>",
        description: "a label and a priority, action items, or people and dates",
        choices: ["classify", "actions", "people"],
      },
      { flags: "--labels <labels>", description: "of --preset classify: two or more, with commas" },
      { flags: "--schema <file>", description: "a JSON schema that the fields have to fit" },
      ...route,
      ...night,
      changed,
      { flags: "--batch-name <name>", description: "name of the batch" },
    ],
  },
  {
    name: "digest",
    process: "producer",
    summary: "Tell in a few lines what a batch's summaries and extractions say",
    examples: [
      "nightdesk digest tonight --wait",
      "nightdesk digest tonight --lines 12 --batch-name 'tonight, told'",
    ],
    arguments: [{ usage: "<batch>", description: "name or id; it may still run" }],
    options: [
      wait,
      ...route,
      { flags: "--lines <n>", description: "at most this many lines a digest", kind: "count" },
      ...night,
      { flags: "--batch-name <name>", description: "name of the batch of digests" },
    ],
  },
  {
    name: "chat",
    process: "producer",
    summary: "One call of the model, without tools and without evidence",
    examples: ['nightdesk chat "Write a haiku about queues" --wait'],
    arguments: [{ usage: "<prompt>", description: "the prompt" }],
    options: [
      wait,
      { flags: "--model <name>", description: "name of the model" },
      { flags: "--max-tokens <n>", description: "at most this many tokens", kind: "count" },
    ],
  },
  {
    name: "enqueue",
    process: "producer",
    summary: "Queue a batch of jobs from a JSONL file",
    examples: [
      "nightdesk enqueue tonight.jsonl",
      "nightdesk enqueue - --batch-name tonight < tonight.jsonl",
      "nightdesk enqueue openai-batch.jsonl --model llama3.1:8b",
    ],
    arguments: [{ usage: "<file>", description: "JSONL, one job a line; - for stdin" }],
    options: [
      {
        flags: "--batch-name <name>",
        description: "unique name; the file's name and the time otherwise",
      },
      { flags: "--no-strict", description: "queue the good lines and report the bad ones" },
      ...night,
      {
        flags: "--format <format>",
        description: "what the lines are; the first line tells it otherwise",
        choices: ["native", "openai"],
      },
      { flags: "--model <name>", description: "openai: this model for every chat" },
      {
        flags: "--model-names <which>",
        description: "openai: any passes names on that the configuration does not know",
        choices: ["known", "any"],
      },
      { flags: "--wait", description: "wait until the batch has ended" },
    ],
  },
];
