import type { ListedCommand } from "../command.ts";
import { limit, route, windows, deadline, priority, night, days } from "./options.ts";

/** What a rerun takes over from the batch whose jobs it repeats. */
const OTHERWISE: Readonly<Record<string, string>> = {
  [windows.flags]: "; desk for the configured ones; default: the old batch's",
  [deadline.flags]: ", or none; default: the old batch's, if that is still to come",
  [priority.flags]: "; default: the old batch's",
};

/** What can be done with a batch. */
export const BATCHES: readonly ListedCommand[] = [
  {
    name: "batch list",
    summary: "List batches, newest first",
    examples: ["nightdesk batch list", "nightdesk batch list --all --limit 5 --json"],
    options: [
      limit,
      {
        flags: "--all",
        description: "list batches of a single job, such as a question, too; also with --json",
      },
    ],
  },
  {
    name: "batch show",
    summary: "Show a batch: counts by state, refusals and failures",
    examples: ["nightdesk batch show tonight", "nightdesk batch show tonight --watch"],
    arguments: [{ usage: "<batch>", description: "name or id" }],
    options: [
      { flags: "--watch", description: "show its progress until it has ended" },
      { flags: "--wait", description: "wait until it has ended" },
      {
        flags: "--no-hold",
        description:
          "with --watch or --wait: exit 75 when it is held, or when only parked jobs are left",
      },
    ],
  },
  {
    name: "batch wait",
    summary: "Wait until a batch has ended",
    examples: ["nightdesk batch wait tonight", "nightdesk batch wait tonight --no-hold"],
    arguments: [{ usage: "<batch>", description: "name or id" }],
    options: [
      {
        flags: "--no-hold",
        description: "exit 75 when the batch is held, or when only parked jobs are left",
      },
    ],
  },
  {
    name: "batch pause",
    summary: "Start no further job of a batch; running ones may finish",
    examples: ["nightdesk batch pause tonight"],
    arguments: [{ usage: "<batch>", description: "name or id" }],
  },
  {
    name: "batch resume",
    summary: "Let a paused batch go on",
    examples: ["nightdesk batch resume tonight"],
    arguments: [{ usage: "<batch>", description: "name or id" }],
  },
  {
    name: "batch set",
    summary: "Change a batch's windows, deadline or priority",
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
        description: "jobs that have not finished by then expire: 8h, 06:00, an ISO time or none",
      },
      priority,
    ],
  },
  {
    name: "batch budget",
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
      { flags: "--money <amount>", description: "money by the prices of hosts, or none" },
    ],
  },
  {
    name: "batch retry",
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
    summary: "Cancel what a batch has not finished",
    examples: ["nightdesk batch cancel tonight"],
    arguments: [{ usage: "<batch>", description: "name or id" }],
  },
  {
    name: "batch export",
    summary: "Write a batch's results as JSONL, OpenAI's files, CSV, Markdown, XLSX or Parquet",
    examples: [
      "nightdesk batch export tonight > results.jsonl",
      "nightdesk batch export tonight --format csv --output tonight.csv",
      "nightdesk batch export tonight --format xlsx --output tonight.xlsx",
      "nightdesk batch export tonight --format openai --output output.jsonl --errors errors.jsonl",
    ],
    arguments: [{ usage: "<batch>", description: "name or id" }],
    options: [
      {
        flags: "--format <format>",
        description: "default: native, or openai for a batch that came in that form",
        choices: ["native", "openai", "csv", "markdown", "xlsx", "parquet"],
      },
      { flags: "--output <file>", description: "a file instead of stdout" },
      {
        flags: "--errors <file>",
        description: "openai: a separate file for what did not succeed",
      },
      { flags: "--with-outputs", description: "also what steps of investigations gave, whole" },
      { flags: "--force", description: "replace files that are there" },
    ],
  },
  {
    name: "batch report",
    summary: "Write a batch's morning report: one HTML page and a Markdown file",
    examples: [
      "nightdesk batch report tonight",
      "nightdesk batch report tonight --output public --compare yesterday",
      "nightdesk batch report tonight --brief",
    ],
    arguments: [{ usage: "<batch>", description: "name or id" }],
    options: [
      {
        flags: "--output <folder>",
        description:
          "where to write; default: reports/ in the work root, or in database.directory where it is indexed",
      },
      {
        flags: "--compare <batch>",
        description: "show what changed since this batch; default: the night before",
      },
      { flags: "--force", description: "also replace files that are not reports of this batch" },
      {
        flags: "--brief",
        description: "print a digest of 20 lines at most in place of it, and write no file",
      },
    ],
  },
  {
    name: "batch rerun",
    summary: "Run jobs of a batch again, in a new batch",
    examples: [
      "nightdesk batch rerun tonight --stale",
      "nightdesk batch rerun tonight --failed --refused --big",
      "nightdesk batch rerun tonight --where kind=summarize --where 'path=minutes/*' --dry-run",
      "nightdesk batch rerun tonight --stale --since 2026-01-01",
      "nightdesk batch rerun tonight --failed --now --deadline 2h --wait",
    ],
    arguments: [{ usage: "<batch>", description: "name or id" }],
    options: [
      {
        flags: "--stale",
        description: "those whose evidence, configuration, version or model has changed",
      },
      { flags: "--failed", description: "those that failed or expired" },
      { flags: "--refused", description: "those that were refused" },
      {
        flags: "--unresolved",
        description: "those whose checks left something open: after new documents were indexed",
      },
      {
        flags: "--where <key=value...>",
        description: "only those with this kind, state, error_code, path or custom_id",
      },
      ...days,
      ...route,
      {
        flags: "--batch-name <name>",
        description: "unique name; default: the old name, rerun and the time",
      },
      ...night.map((option) => ({
        ...option,
        description: `${option.description}${OTHERWISE[option.flags] ?? ""}`,
      })),
      { flags: "--dry-run", description: "count, and queue nothing" },
      { flags: "--wait", description: "wait until the new batch has ended" },
    ],
  },
  {
    name: "batch prune",
    summary: "Delete old finished batches and all that belongs to them",
    examples: ["nightdesk batch prune --older-than 30d --dry-run", "nightdesk batch prune"],
    options: [
      {
        flags: "--older-than <age>",
        description: "such as 12h, 30d or 4w; default: runs.keep_days",
      },
      { flags: "--dry-run", description: "list, and change nothing" },
    ],
  },
  {
    name: "batch pin",
    summary: "Keep a batch, whatever its age",
    examples: ["nightdesk batch pin tonight", "nightdesk batch pin tonight --until-exported"],
    arguments: [{ usage: "<batch>", description: "name or id" }],
    options: [{ flags: "--until-exported", description: "only until its results are exported" }],
  },
  {
    name: "batch unpin",
    summary: "Undo batch pin",
    examples: ["nightdesk batch unpin tonight"],
    arguments: [{ usage: "<batch>", description: "name or id" }],
  },
  {
    name: "write-back",
    process: "worker",
    summary:
      "Write what is supported of a batch's extractions to paperless-ngx, where their files came from",
    examples: ["nightdesk write-back letters --dry-run", "nightdesk write-back letters --json"],
    arguments: [{ usage: "<batch>", description: "name or id" }],
    options: [
      {
        flags: "--dry-run",
        description: "only look there, and print what would be written and what would be withheld",
      },
      { flags: "--if-any", description: "exit 0 where there is no such batch" },
    ],
  },
  {
    name: "write-back undo",
    process: "worker",
    summary: "Put back what the write-back of a batch changed, where nobody has changed it since",
    examples: ["nightdesk write-back undo letters"],
    arguments: [{ usage: "<batch>", description: "name or id" }],
  },
];
