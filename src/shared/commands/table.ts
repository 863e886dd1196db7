import type { Command, CommandOption } from "./command.ts";

export const GLOBAL_OPTIONS: readonly CommandOption[] = [
  { flags: "--config <file>", description: "configuration file" },
  { flags: "--workroot <folder>", description: "the work root: every path is relative to it" },
  { flags: "--json", description: "one line of JSON on stdout" },
  {
    flags: "--log-level <level>",
    description: "level of the log on stderr",
    choices: ["trace", "debug", "info", "warn", "error", "silent"],
  },
  { flags: "--ollama-base-url <url>", description: "scheme://host[:port] of the model host" },
  { flags: "--no-color", description: "no colours and no progress bar" },
  { flags: "--debug", description: "stack traces with errors" },
];

const wait: CommandOption = {
  flags: "--wait",
  description: "wait for the answer and print it; otherwise the job id is printed at once",
};
const noWait: CommandOption = {
  flags: "--no-wait",
  description: "print the job id at once instead of waiting",
};
const changed: CommandOption = {
  flags: "--changed",
  description: "only files that are not what their newest result was made of",
};
const limit: CommandOption = {
  flags: "--limit <n>",
  description: "at most this many",
  kind: "count",
};
const source: CommandOption = { flags: "--source <name>", description: "only this source" };
const route: readonly CommandOption[] = [
  { flags: "--fast", description: "the fast model for both passes" },
  { flags: "--big", description: "the big model for the answer" },
  { flags: "--model <name>", description: "this model for both passes" },
];

const windows: CommandOption = {
  flags: "--windows <window>",
  description: 'run only then, like "22:00-06:00 Europe/Berlin"; again for more',
  kind: "list",
};
const priority: CommandOption = {
  flags: "--priority <n>",
  description: "-100 to 100, higher first; added to what a job has of its own",
};
/** When the jobs of a new batch run. */
const night: readonly CommandOption[] = [
  windows,
  { flags: "--now", description: "at any time, whatever the configured windows are" },
  {
    flags: "--deadline <time>",
    description: "what has not finished then expires: 8h, 06:00 or an ISO time",
  },
  priority,
];

const documentFilter: readonly CommandOption[] = [
  {
    flags: "--where <key=value...>",
    description: "only documents with this in their frontmatter, as in tag=ops",
  },
  { flags: "--since <day>", description: "only documents of this day (YYYY-MM-DD) or later" },
  { flags: "--until <day>", description: "only documents of this day or earlier" },
];

const memoryType: CommandOption = {
  flags: "--type <type>",
  description: "only notes of this kind",
  choices: ["preference", "project_state", "constraint", "workflow_rule", "user_fact"],
};

/** What the words have in common that several commands begin with. */
export const GROUP_SUMMARIES: Readonly<Record<string, string>> = {
  batch: "List, show, wait for, cancel and export batches",
  schedule: "Run commands at fixed times",
  runs: "List, show, repeat and export runs",
  memory: "Keep durable notes, which answers follow",
  models: "Download models",
  config: "Show the configuration",
};

/** All commands, in the order of the help text. */
export const COMMANDS: readonly Command[] = [
  {
    name: "up",
    process: "worker",
    summary: "Run the embedded database and a worker in the foreground",
    examples: ["nightdesk up", "nightdesk up --concurrency 4"],
    options: [{ flags: "--concurrency <n>", description: "jobs at once", kind: "count" }],
  },
  {
    name: "worker",
    process: "worker",
    summary: "Work the queue",
    examples: ["nightdesk worker", "nightdesk worker --concurrency 4", "nightdesk worker --drain"],
    options: [
      { flags: "--concurrency <n>", description: "jobs at once", kind: "count" },
      { flags: "--drain", description: "end when nothing is left to do" },
      { flags: "--health", description: "exit 0 when a worker of this host is alive" },
    ],
  },
  {
    name: "migrate",
    process: "producer",
    summary: "Bring the database schema to this version",
    examples: ["nightdesk migrate", "nightdesk migrate --status"],
    options: [{ flags: "--status", description: "say what is applied and what is not" }],
  },
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
  {
    name: "batch list",
    process: "producer",
    summary: "List batches, newest first",
    examples: ["nightdesk batch list", "nightdesk batch list --limit 5 --json"],
    options: [limit],
  },
  {
    name: "batch show",
    process: "producer",
    summary: "Show a batch: counts by state, refusals and failures",
    examples: ["nightdesk batch show tonight", "nightdesk batch show tonight --watch"],
    arguments: [{ usage: "<batch>", description: "name or id" }],
    options: [
      { flags: "--watch", description: "show how far it is until it has ended" },
      { flags: "--wait", description: "wait until it has ended" },
      {
        flags: "--no-hold",
        description: "with either: exit 75 when it is held or only parked jobs are left",
      },
    ],
  },
  {
    name: "batch wait",
    process: "producer",
    summary: "Wait until a batch has ended",
    examples: ["nightdesk batch wait tonight", "nightdesk batch wait tonight --no-hold"],
    arguments: [{ usage: "<batch>", description: "name or id" }],
    options: [
      {
        flags: "--no-hold",
        description: "exit 75 when the batch is held or only parked jobs are left",
      },
    ],
  },
  {
    name: "batch pause",
    process: "producer",
    summary: "Take no further job of a batch; what runs may finish",
    examples: ["nightdesk batch pause tonight"],
    arguments: [{ usage: "<batch>", description: "name or id" }],
  },
  {
    name: "batch resume",
    process: "producer",
    summary: "Let a paused batch go on",
    examples: ["nightdesk batch resume tonight"],
    arguments: [{ usage: "<batch>", description: "name or id" }],
  },
  {
    name: "batch set",
    process: "producer",
    summary: "Change when a batch may run, expires, and what it comes before",
    examples: [
      'nightdesk batch set tonight --windows "22:00-06:00 Europe/Berlin" --deadline 06:00',
      "nightdesk batch set tonight --no-windows --priority 5",
    ],
    arguments: [{ usage: "<batch>", description: "name or id" }],
    options: [
      { ...windows, description: `${windows.description}; desk for the configured ones` },
      { flags: "--no-windows", description: "run at any time" },
      {
        flags: "--deadline <time>",
        description: "what has not finished then expires: 8h, 06:00, an ISO time or none",
      },
      priority,
    ],
  },
  {
    name: "batch budget",
    process: "producer",
    summary: "Show or change what the model calls of a batch may cost",
    examples: [
      "nightdesk batch budget tonight",
      "nightdesk batch budget tonight --tokens 2000000 --wall-time none",
    ],
    arguments: [{ usage: "<batch>", description: "name or id" }],
    options: [
      { flags: "--tokens <n>", description: "tokens read and written, or none for no limit" },
      { flags: "--calls <n>", description: "calls of a model, or none" },
      { flags: "--wall-time <seconds>", description: "seconds of model time, or none" },
    ],
  },
  {
    name: "batch retry",
    process: "producer",
    summary: "Queue again what did not succeed, in the same batch",
    examples: ["nightdesk batch retry tonight", "nightdesk batch retry tonight --expired"],
    arguments: [{ usage: "<batch>", description: "name or id" }],
    options: [
      { flags: "--failed", description: "what failed; the default" },
      { flags: "--expired", description: "what expired" },
      { flags: "--cancelled", description: "what was cancelled" },
      { flags: "--refused", description: "not possible: a refusal is a result", hidden: true },
    ],
  },
  {
    name: "batch cancel",
    process: "producer",
    summary: "Cancel what a batch has not finished",
    examples: ["nightdesk batch cancel tonight"],
    arguments: [{ usage: "<batch>", description: "name or id" }],
  },
  {
    name: "batch export",
    process: "producer",
    summary: "Write a batch's results as JSONL, in OpenAI's form, as CSV or Markdown",
    examples: [
      "nightdesk batch export tonight > results.jsonl",
      "nightdesk batch export tonight --format csv --output tonight.csv",
      "nightdesk batch export tonight --format openai --output output.jsonl --errors errors.jsonl",
    ],
    arguments: [{ usage: "<batch>", description: "name or id" }],
    options: [
      {
        flags: "--format <format>",
        description: "native, or openai for a batch that came so, unless it is said otherwise",
        choices: ["native", "openai", "csv", "markdown"],
      },
      { flags: "--output <file>", description: "a file instead of stdout" },
      {
        flags: "--errors <file>",
        description: "openai: a file of its own for what did not succeed",
      },
      { flags: "--force", description: "replace files that are there" },
    ],
  },
  {
    name: "batch report",
    process: "producer",
    summary: "Write a batch's report for the morning: one HTML page and a Markdown file",
    examples: [
      "nightdesk batch report tonight",
      "nightdesk batch report tonight --output public --compare yesterday",
    ],
    arguments: [{ usage: "<batch>", description: "name or id" }],
    options: [
      { flags: "--output <folder>", description: "reports/ in the work root otherwise" },
      {
        flags: "--compare <batch>",
        description: "say what changed since this batch; the night before otherwise",
      },
      { flags: "--force", description: "replace files that are no reports of this batch, too" },
    ],
  },
  {
    name: "batch rerun",
    process: "producer",
    summary: "Make jobs of a batch again, in a new batch",
    examples: [
      "nightdesk batch rerun tonight --stale",
      "nightdesk batch rerun tonight --failed --refused --big",
      "nightdesk batch rerun tonight --where kind=summarize --where 'path=minutes/*' --dry-run",
    ],
    arguments: [{ usage: "<batch>", description: "name or id" }],
    options: [
      {
        flags: "--stale",
        description: "whose evidence, configuration, version or model is another now",
      },
      { flags: "--failed", description: "those that failed or expired" },
      { flags: "--refused", description: "those that were refused" },
      {
        flags: "--where <key=value...>",
        description: "only those with this kind, state, error_code, path or custom_id",
      },
      ...route,
      {
        flags: "--batch-name <name>",
        description: "unique name; the old name, rerun and the time otherwise",
      },
      { flags: "--dry-run", description: "count, and queue nothing" },
    ],
  },
  {
    name: "batch prune",
    process: "producer",
    summary: "Delete old finished batches with everything of theirs",
    examples: ["nightdesk batch prune --older-than 30d --dry-run", "nightdesk batch prune"],
    options: [
      {
        flags: "--older-than <age>",
        description: "such as 12h, 30d or 4w; runs.keep_days unless it is said otherwise",
      },
      { flags: "--dry-run", description: "list, and change nothing" },
    ],
  },
  {
    name: "batch pin",
    process: "producer",
    summary: "Keep a batch, whatever its age",
    examples: ["nightdesk batch pin tonight", "nightdesk batch pin tonight --until-exported"],
    arguments: [{ usage: "<batch>", description: "name or id" }],
    options: [{ flags: "--until-exported", description: "until its results were exported" }],
  },
  {
    name: "batch unpin",
    process: "producer",
    summary: "Let a batch go when it is old enough",
    examples: ["nightdesk batch unpin tonight"],
    arguments: [{ usage: "<batch>", description: "name or id" }],
  },
  {
    name: "schedule list",
    process: "producer",
    summary: "List schedules with their next times and their last run",
    examples: ["nightdesk schedule list", "nightdesk schedule list --json"],
  },
  {
    name: "schedule set",
    process: "producer",
    summary: "Add a schedule, or replace one that was added so",
    examples: [
      `nightdesk schedule set nightly --cron "0 1 * * *" --timezone Europe/Berlin -- index`,
      `nightdesk schedule set evening --cron "0 22 * * 1-5" -- enqueue tonight.jsonl --batch-name "{schedule} {date}"`,
    ],
    arguments: [
      { usage: "<name>", description: "lower-case letters, digits, - and _" },
      {
        usage: "<command...>",
        description:
          "after --: words after nightdesk; {planned}, {date} and {schedule} are filled in",
      },
    ],
    options: [
      {
        flags: "--cron <expression>",
        description: "minute, hour, day of month, month, day of week; required",
      },
      { flags: "--timezone <zone>", description: "IANA name; this machine's without it" },
      {
        flags: "--catch-up <age>",
        description:
          "run a missed time that is no older, like 90m or 2d; 12h without it, 0 is never",
      },
      { flags: "--off", description: "switched off, until schedule enable" },
    ],
  },
  {
    name: "schedule enable",
    process: "producer",
    summary: "Switch a schedule on, also one of the configuration",
    examples: ["nightdesk schedule enable nightly-index"],
    arguments: [{ usage: "<name>", description: "name of the schedule" }],
  },
  {
    name: "schedule disable",
    process: "producer",
    summary: "Switch a schedule off, also one of the configuration",
    examples: ["nightdesk schedule disable nightly-index"],
    arguments: [{ usage: "<name>", description: "name of the schedule" }],
  },
  {
    name: "schedule remove",
    process: "producer",
    summary: "Remove a schedule that schedule set added",
    examples: ["nightdesk schedule remove nightly"],
    arguments: [{ usage: "<name>", description: "name of the schedule" }],
  },
  {
    name: "schedule run",
    process: "producer",
    summary: "Run a schedule now, beside its times",
    examples: ["nightdesk schedule run nightly-index"],
    arguments: [{ usage: "<name>", description: "name of the schedule" }],
  },
  {
    name: "runs list",
    process: "producer",
    summary: "List runs, newest first",
    examples: ["nightdesk runs list", "nightdesk runs list --batch tonight --limit 20"],
    options: [limit, { flags: "--batch <batch>", description: "only runs of this batch" }],
  },
  {
    name: "runs show",
    process: "producer",
    summary: "Show a run: steps, models, prompts, evidence, checks, answer",
    examples: [
      "nightdesk runs show 5f2c0b2e-0d0a-4d0e-9a53-0a4f7a0c2b11",
      "nightdesk runs show 5f2c0b2e-0d0a-4d0e-9a53-0a4f7a0c2b11 --all",
    ],
    arguments: [{ usage: "<id>", description: "id of a run or of a job" }],
    options: [{ flags: "--all", description: "long lists and replies in full" }],
  },
  {
    name: "runs replay",
    process: "worker",
    summary: "Repeat a run from its record, without a model",
    examples: ["nightdesk runs replay 5f2c0b2e-0d0a-4d0e-9a53-0a4f7a0c2b11"],
    arguments: [{ usage: "<id>", description: "id of a run or of a job" }],
    options: [{ flags: "--no-ollama", description: "do not ask the model host" }],
  },
  {
    name: "runs export",
    process: "producer",
    summary: "Write each run to runs/<run_id>/run.json",
    examples: ["nightdesk runs export audit", "nightdesk runs export audit --batch tonight"],
    arguments: [
      { usage: "<folder>", description: "a folder of the work root; runs/ goes into it" },
    ],
    options: [
      { flags: "--batch <batch>", description: "only runs of this batch" },
      { flags: "--run <id>", description: "only this run" },
      { flags: "--force", description: "replace files that are there with other content" },
    ],
  },
  {
    name: "memory add",
    process: "producer",
    summary: "Write a durable note: a preference, a constraint, a rule, a fact",
    examples: [
      'nightdesk memory add "Give temperatures in Celsius." --type preference',
      "nightdesk memory add - --type constraint < rule.txt",
    ],
    arguments: [{ usage: "<text>", description: "the note; - for stdin" }],
    options: [
      { ...memoryType, description: "what kind of note it is; required" },
      { flags: "--chunk-key <key...>", description: "passages of the index that it rests on" },
      {
        flags: "--source <source>",
        description: "where it comes from; manual unless it is said otherwise",
        choices: ["manual", "derived_from_evidence"],
      },
    ],
  },
  {
    name: "memory list",
    process: "producer",
    summary: "List durable notes, newest first",
    examples: ["nightdesk memory list", "nightdesk memory list --type preference --json"],
    options: [memoryType],
  },
  {
    name: "memory delete",
    process: "producer",
    summary: "Delete a durable note",
    examples: ["nightdesk memory delete 5f2c0b2e-0d0a-4d0e-9a53-0a4f7a0c2b11"],
    arguments: [{ usage: "<id>", description: "id of the note" }],
  },
  {
    name: "memory export",
    process: "producer",
    summary: "Write all durable notes to a file in the work root, as JSON",
    examples: ["nightdesk memory export notes.json", "nightdesk memory export notes.json --force"],
    arguments: [{ usage: "<file>", description: "the file to write" }],
    options: [{ flags: "--force", description: "replace a file that is there" }],
  },
  {
    name: "sql",
    process: "producer",
    summary: "Query the views of schema nightdesk, read-only",
    examples: [
      `nightdesk sql "select state, count(*) from results group by 1"`,
      `nightdesk sql "select custom_id, answer from results" --format csv`,
    ],
    arguments: [{ usage: "<query>", description: "one statement" }],
    options: [
      {
        flags: "--format <format>",
        description: "table unless it is said otherwise",
        choices: ["table", "json", "csv"],
      },
      {
        flags: "--timeout <seconds>",
        description: "give up after this; 30 by default",
        kind: "count",
      },
    ],
  },
  {
    name: "backup",
    process: "producer",
    summary: "Write a dump of the embedded database",
    examples: ["nightdesk backup nightdesk-backup.tar.gz"],
    arguments: [{ usage: "<file>", description: "the dump to write" }],
  },
  {
    name: "doctor",
    process: "worker",
    summary: "Check configuration, database, queue, sources, index, vectors and model host",
    examples: ["nightdesk doctor", "nightdesk doctor --no-ollama --json"],
    options: [
      { flags: "--no-ollama", description: "do not ask the model host" },
      { flags: "--require-embeddings", description: "missing or outdated vectors fail" },
      { flags: "--require-phase3", description: "the same as --require-embeddings", hidden: true },
    ],
  },
  {
    name: "models fetch",
    process: "worker",
    summary: "Download an embedding model for embed.provider transformers; asks first",
    examples: [
      "nightdesk models fetch Xenova/all-MiniLM-L6-v2",
      "nightdesk models fetch Xenova/all-MiniLM-L6-v2 --dtype q8 --yes",
    ],
    arguments: [{ usage: "<id>", description: "owner and name of the model" }],
    options: [
      { flags: "--yes", description: "do not ask; needed where there is no terminal" },
      {
        flags: "--dtype <dtype>",
        description: "precision of the weights; embed.dtype unless it is said otherwise",
        choices: ["fp32", "fp16", "q8", "int8", "uint8", "q4", "q4f16", "bnb4"],
      },
      { flags: "--host <url>", description: "a mirror in place of huggingface.co" },
      { flags: "--revision <name>", description: "branch, tag or commit; main otherwise" },
    ],
  },
  {
    name: "config show",
    process: "producer",
    summary: "Show the effective configuration and where each value came from",
    examples: ["nightdesk config show", "nightdesk config show --json"],
  },
  {
    name: "completion",
    process: "producer",
    summary: "Print a completion script",
    examples: ["nightdesk completion bash > ~/.local/share/bash-completion/completions/nightdesk"],
    arguments: [{ usage: "<shell>", description: "bash, zsh or fish" }],
  },
  {
    name: "demo",
    process: "producer",
    summary: "Index the example corpus, work the example batch and show the results",
    examples: ["npm run demo"],
    hidden: true,
  },
  {
    name: "database",
    process: "embedded",
    summary: "The process of the embedded database",
    examples: [],
    options: [
      { flags: "--directory <folder>", description: "folder of the database" },
      {
        flags: "--restore <file>",
        description: "put a dump in place of the data directory, then end",
      },
    ],
    hidden: true,
  },
];
