import type { CommandTable } from "../command.ts";
import {
  attachments,
  raw,
  wait,
  noWait,
  changed,
  dedupe,
  dryRun,
  days,
  fileList,
  files,
  large,
  limit,
  source,
  route,
  verification,
  night,
  now,
  documentFilter,
} from "./options.ts";

/** Commands that queue work, or search the index. */
export const JOBS: CommandTable = {
  sync: {
    summary: "Fetch what is new or changed in the places that sources mirror, and index it",
    examples: ["nightdesk sync", "nightdesk sync letters --wait"],
    arguments: { "[source...]": "names of sources; all that mirror a place without" },
    options: {
      "--accept-deletions": "delete what is gone there, however much it is",
      "--wait": "wait until they are indexed, and print what was done",
      ...night,
    },
  },
  index: {
    anyFolder: true,
    summary: "Index what is new or changed in the sources",
    examples: ["nightdesk index", "nightdesk index --source corpus --rebuild"],
    options: {
      ...source,
      "--rebuild": "index every document again",
      "--verify": "hash every file, and index again those that differ",
      "--prune": "remove the documents of sources that are not configured any more",
      "--prune-missing": "remove the documents of a source whose root is missing or empty",
      "--allow-partial": "exit 0 also when documents could not be indexed",
      "--no-embed": "make no vectors now",
      "--ocr": "read the pictures of scans and photos, too: a job a file",
      ...noWait,
      ...large,
    },
  },
  forget: {
    summary: "Remove a document and what is stored of its bytes, and name the runs that read it",
    examples: ["nightdesk forget letter.pdf", "nightdesk forget letter.pdf --yes --json"],
    arguments: { "<path>": "from the work root, as the index has it" },
    options: { "--yes": "do not ask; needed where there is no terminal" },
  },
  prune: {
    summary: "Remove stored bytes that no document has and no evidence of a run names",
    examples: ["nightdesk prune"],
  },
  "index show": {
    summary:
      "Show what the index knows of documents: their date, other versions, how they were read",
    examples: ["nightdesk index show prices-2025.md", "nightdesk index show 'prices-*' --json"],
    arguments: { "<path...>": "files, folders, or quoted globs below the allowed roots" },
  },
  "index duplicates": {
    summary: "Find documents that are copies of each other, to the byte or nearly to the word",
    examples: ["nightdesk index duplicates", "nightdesk index duplicates --alike 90 --json"],
    options: {
      ...source,
      "--alike <percent>": {
        description: "groups of five words in common, at least; 80 by default",
        kind: "count",
      },
    },
  },
  put: {
    summary: "Store stdin as a new file of a watched folder, where workers take it",
    examples: ["nightdesk put --watch inbox letter.pdf < letter.pdf"],
    arguments: { "<name>": "of the file: no path, and none that is there" },
    options: {
      "--watch <source>": "name of a source with watch",
      "--bytes <n>": {
        description: "how many bytes stdin must hold; fewer are not stored",
        kind: "count",
      },
    },
  },
  embed: {
    summary: "Make the vectors that are missing",
    examples: ["nightdesk embed", "nightdesk embed --dry-run", "nightdesk embed --rebuild"],
    options: {
      "--model <id>": "id of the embedder's model",
      "--rebuild": "make every vector again",
      ...limit,
      "--batch-size <n>": { description: "texts in one call", kind: "count" },
      "--dry-run": "count, and change nothing",
      "--no-prune": "has no effect: vectors are deleted with their chunks",
      ...noWait,
    },
  },
  query: {
    process: "worker",
    anyFolder: true,
    summary: "Search the index",
    examples: [
      'nightdesk query "kitchen load" --limit 5',
      `nightdesk query '"pay day" crew* -kitchen' --where tag=ops --explain`,
      "nightdesk query --file queries.jsonl --mode lexical > hits.jsonl",
    ],
    arguments: { "[text]": 'what to look for: words, "a phrase", a beginning*, -without' },
    options: {
      ...large,
      ...limit,
      "--mode <mode>": {
        description: "how to search; hybrid by default",
        choices: ["hybrid", "lexical", "vector"],
      },
      "--path <prefix>": "only documents whose path starts with this",
      ...source,
      ...documentFilter,
      "--explain": "show why each hit was found",
      "--file <queries>": 'JSONL of {"id","text"}; prints one JSON line a query',
      ...raw,
    },
  },
  ask: {
    anyFolder: true,
    summary: "Answer a question from the documents",
    examples: [
      'nightdesk ask "How much diesel does the Bear burn under kitchen load?" --wait',
      'nightdesk ask "What does run-the-generator.md say about fuel?" --wait --json',
      'nightdesk ask "And in winter?" --follows 3f9a2c41 --wait',
    ],
    arguments: { "<question>": "the question, or - to read it from stdin" },
    options: {
      ...large,
      ...wait,
      ...noWait,
      ...route,
      ...verification,
      "--full": "read the whole file that the question names",
      "--follows <id>":
        "the question of that job stands before this one, and its files count as named",
      ...now,
      "--path <prefix>": "only documents whose path starts with this are found and read",
      ...source,
      ...documentFilter,
    },
  },
  investigate: {
    anyFolder: true,
    summary: "Look into a question with tools, step by step, and answer it from what was found",
    examples: [
      'nightdesk investigate "Which contracts renew before March, and on what terms?" --wait',
      'nightdesk investigate "Compare the two outages" --preset readonly_context --path notes/incidents',
    ],
    arguments: { "<task>": "the question, or - to read it from stdin" },
    options: {
      ...large,
      ...wait,
      ...noWait,
      ...route,
      ...verification,
      "--preset <name>": "which tools it may use; readonly_safe by default (nightdesk tools list)",
      "--require-tools <names>": "queue it only if the preset has all of these, parted by commas",
      "--tools <need>": {
        description: "optional: a model that calls no tools answers from passages alone",
        choices: ["required", "optional"],
      },
      "--max-steps <n>": {
        description: "end after so many calls of models and tools",
        kind: "count",
      },
      "--path <prefix>": "its tools see nothing outside of this folder",
      ...days,
    },
  },
  summarize: {
    anyFolder: true,
    summary: "Summarize files, one job a file",
    examples: [
      "nightdesk summarize minutes/2026-03.md --wait",
      "nightdesk summarize '**/*.md' --batch-name tonight",
      "nightdesk summarize '**/*.md' --digest --wait",
      "git diff --name-only HEAD~1 | nightdesk summarize --files-from - --batch-name changes",
    ],
    arguments: { ...files },
    options: {
      ...large,
      ...wait,
      ...noWait,
      ...fileList,
      ...attachments,
      ...route,
      ...verification,
      "--length <length>": {
        description: "how long",
        choices: ["sentence", "short", "medium", "long"],
      },
      "--bullets": "a list instead of a paragraph",
      ...night,
      ...changed,
      ...dedupe,
      ...dryRun,
      ...days,
      "--digest": "also a digest of each folder, and one of all",
      "--batch-name <name>": "name of the batch",
    },
  },
  extract: {
    anyFolder: true,
    summary:
      "Take fields out of files, one job a file: a label, action items, people, or your JSON schema",
    examples: [
      "nightdesk extract '**/*.md' --preset classify --labels invoice,letter,minutes,other",
      "nightdesk extract 'inbox/*.pdf' --preset classify --examples labels.jsonl",
      "nightdesk extract minutes/2026-03.md --preset actions --wait --json",
      "nightdesk extract 'bills/*.txt' --schema bill.json --batch-name bills",
    ],
    arguments: { ...files },
    options: {
      ...large,
      ...wait,
      ...noWait,
      ...fileList,
      ...attachments,
      "--preset <preset>": {
        description:
          "a label and a priority, action items, people and dates, or what is needed to file a letter",
        choices: ["classify", "actions", "people", "file-letters"],
      },
      "--labels <labels>":
        "for --preset classify: two or more, separated by commas; those of the examples without it. For file-letters: the tags to choose from",
      "--examples <file>":
        "for --preset classify: JSONL of texts or paths of documents with their labels; - for stdin",
      "--schema <file>": "JSON schema that the fields must fit",
      ...route,
      ...verification,
      ...night,
      ...changed,
      ...dedupe,
      ...dryRun,
      ...days,
      "--batch-name <name>": "name of the batch",
    },
  },
  digest: {
    summary: "Sum up a batch's summaries and extractions in a few lines",
    examples: [
      "nightdesk digest tonight --wait",
      "nightdesk digest tonight --lines 12 --batch-name 'tonight, told'",
    ],
    arguments: { "<batch>": "name or id; it may still be running" },
    options: {
      ...wait,
      ...route,
      "--lines <n>": { description: "lines in each digest, at most", kind: "count" },
      ...night,
      "--batch-name <name>": "name of the batch of digests",
    },
  },
  chat: {
    summary: "Call the model once, without tools or evidence",
    examples: ['nightdesk chat "Write a haiku about queues" --wait'],
    arguments: { "<prompt>": "the prompt, or - to read it from stdin" },
    options: {
      ...wait,
      "--model <name>": "name of the model",
      "--max-tokens <n>": { description: "at most this many tokens", kind: "count" },
    },
  },
  "models examine": {
    summary: "Examine whether a model may judge statements; a job like any other",
    examples: ["nightdesk models examine --wait", "nightdesk models examine qwen3:8b --own 60"],
    arguments: { "[model]": "name of the model; default: who judges by verify.judge, or answers" },
    options: {
      ...wait,
      "--own <n>": {
        description: "and of so many statements over your indexed documents, 2 to 200",
        kind: "count",
      },
    },
  },
  enqueue: {
    summary: "Queue a batch of jobs from a JSONL file",
    examples: [
      "nightdesk enqueue tonight.jsonl",
      "nightdesk enqueue - --batch-name tonight < tonight.jsonl",
      "nightdesk enqueue openai-batch.jsonl --model llama3.1:8b",
    ],
    arguments: { "<file>": "JSONL, one job a line; - for stdin" },
    options: {
      "--batch-name <name>": "unique name; default: the file's name and the time",
      "--no-strict": "queue the good lines and report the bad ones",
      ...dedupe,
      ...days,
      ...night,
      "--format <format>": {
        description: "what the lines are; default: told by the first line",
        choices: ["native", "openai"],
      },
      "--model <name>": "openai: use this model for every chat",
      "--model-names <which>": {
        description: "openai: any passes unknown names on to the model host",
        choices: ["known", "any"],
      },
      "--wait": "wait until the batch has ended",
    },
  },
  eval: {
    summary: "Ask a file of questions with known answers, and count what is right",
    examples: [
      "nightdesk eval --make 20",
      "nightdesk eval questions.jsonl",
      "nightdesk eval questions.jsonl --models llama3.1:8b,qwen3:14b",
      "nightdesk eval questions.jsonl --against other.yaml --min-right 60",
    ],
    arguments: {
      "[file]": "JSONL, one question a line; - for stdin. With --make, default: eval.jsonl",
    },
    options: {
      "--make <n>": {
        description: "draw so many questions from the index into the file, to be corrected",
        kind: "count",
      },
      "--force": "with --make: replace a file that is there",
      "--models <names>": "ask each of these models, with commas between",
      "--against <file>": "ask this configuration, too, and compare both",
      "--min-right <percent>":
        "exit 3 when fewer of the questions that have an answer are answered right",
      "--again": "ask anew what was answered before",
    },
  },
};
