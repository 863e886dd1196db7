import type { CommandTable } from "../command.ts";
import { DEADLINE, PRIORITY, WINDOWS, days, limit, night, priority, route } from "./options.ts";

export const BATCHES: CommandTable = {
  "batch list": {
    summary: "List batches, newest first",
    examples: ["nightdesk batch list", "nightdesk batch list --all --limit 5 --json"],
    options: {
      ...limit,
      "--all": "list batches of a single job, such as a question, too; also with --json",
    },
  },
  "batch show": {
    summary: "Show a batch: counts by state, refusals and failures",
    examples: ["nightdesk batch show tonight", "nightdesk batch show tonight --watch"],
    arguments: { "<batch>": "name or id" },
    options: {
      "--watch": "show its progress until it has ended",
      "--wait": "wait until it has ended",
      "--no-hold":
        "with --watch or --wait: exit 75 when it is held, or when only parked jobs are left",
    },
  },
  "batch wait": {
    summary: "Wait until a batch has ended",
    examples: ["nightdesk batch wait tonight", "nightdesk batch wait tonight --no-hold"],
    arguments: { "<batch>": "name or id" },
    options: { "--no-hold": "exit 75 when the batch is held, or when only parked jobs are left" },
  },
  "batch pause": {
    summary: "Start no further job of a batch; running ones may finish",
    examples: ["nightdesk batch pause tonight"],
    arguments: { "<batch>": "name or id" },
  },
  "batch resume": {
    summary: "Let a paused batch go on",
    examples: ["nightdesk batch resume tonight"],
    arguments: { "<batch>": "name or id" },
  },
  "batch set": {
    summary: "Change a batch's windows, deadline or priority",
    examples: [
      'nightdesk batch set tonight --windows "22:00-06:00 Europe/Berlin" --deadline 06:00',
      "nightdesk batch set tonight --no-windows --priority 5",
    ],
    arguments: { "<batch>": "name or id" },
    options: {
      "--windows <window>": {
        description: `${WINDOWS}; desk for the configured ones`,
        kind: "list",
      },
      "--no-windows": "run at any time",
      "--deadline <time>":
        "jobs that have not finished by then expire: 8h, 06:00, an ISO time or none",
      ...priority,
    },
  },
  "batch budget": {
    summary: "Show or change what the model calls of a batch may cost",
    examples: [
      "nightdesk batch budget tonight",
      "nightdesk batch budget tonight --tokens 2000000 --wall-time none",
    ],
    arguments: { "<batch>": "name or id" },
    options: {
      "--tokens <n>": "tokens read and written, or none for no limit",
      "--calls <n>": "calls of a model, or none",
      "--wall-time <seconds>": "seconds of model time, or none",
      "--money <amount>": "money by the prices of hosts, or none",
    },
  },
  "batch retry": {
    summary: "Queue again what failed, expired or was cancelled, in the same batch",
    examples: ["nightdesk batch retry tonight", "nightdesk batch retry tonight --expired"],
    arguments: { "<batch>": "name or id" },
    options: {
      "--failed": "what failed; the default",
      "--expired": "what expired",
      "--cancelled": "what was cancelled",
      "--refused": { description: "not possible: a refusal is a result", hidden: true },
    },
  },
  "batch cancel": {
    summary: "Cancel what a batch has not finished",
    examples: ["nightdesk batch cancel tonight"],
    arguments: { "<batch>": "name or id" },
  },
  "batch export": {
    summary: "Write a batch's results as JSONL, OpenAI's files, CSV, Markdown, XLSX or Parquet",
    examples: [
      "nightdesk batch export tonight > results.jsonl",
      "nightdesk batch export tonight --format csv --output tonight.csv",
      "nightdesk batch export tonight --format xlsx --output tonight.xlsx",
      "nightdesk batch export tonight --format openai --output output.jsonl --errors errors.jsonl",
    ],
    arguments: { "<batch>": "name or id" },
    options: {
      "--format <format>": {
        description: "default: native, or openai for a batch that came in that form",
        choices: ["native", "openai", "csv", "markdown", "xlsx", "parquet"],
      },
      "--output <file>": "a file instead of stdout",
      "--errors <file>": "openai: a separate file for what did not succeed",
      "--with-outputs": "also what steps of investigations gave, whole",
      "--force": "replace files that are there",
    },
  },
  "batch report": {
    summary: "Write a batch's morning report: one HTML page and a Markdown file",
    examples: [
      "nightdesk batch report tonight",
      "nightdesk batch report tonight --output public --compare yesterday",
      "nightdesk batch report tonight --brief",
    ],
    arguments: { "<batch>": "name or id" },
    options: {
      "--output <folder>":
        "where to write; default: reports/ in the work root, or in database.directory where it is indexed",
      "--compare <batch>": "show what changed since this batch; default: the night before",
      "--force": "also replace files that are not reports of this batch",
      "--brief": "print a digest of 20 lines at most in place of it, and write no file",
    },
  },
  "batch rerun": {
    summary: "Run jobs of a batch again, in a new batch",
    examples: [
      "nightdesk batch rerun tonight --stale",
      "nightdesk batch rerun tonight --failed --refused --big",
      "nightdesk batch rerun tonight --where kind=summarize --where 'path=minutes/*' --dry-run",
      "nightdesk batch rerun tonight --stale --since 2026-01-01",
      "nightdesk batch rerun tonight --failed --now --deadline 2h --wait",
    ],
    arguments: { "<batch>": "name or id" },
    options: {
      "--stale": "those whose evidence, configuration, version or model has changed",
      "--failed": "those that failed or expired",
      "--refused": "those that were refused",
      "--unresolved": "those whose checks left something open: after new documents were indexed",
      "--where <key=value...>": "only those with this kind, state, error_code, path or custom_id",
      ...days,
      ...route,
      "--batch-name <name>": "unique name; default: the old name, rerun and the time",
      ...night,
      "--windows <window>": {
        description: `${WINDOWS}; desk for the configured ones; default: the old batch's`,
        kind: "list",
      },
      "--deadline <time>": `${DEADLINE}, or none; default: the old batch's, if that is still to come`,
      "--priority <n>": `${PRIORITY}; default: the old batch's`,
      "--dry-run": "count, and queue nothing",
      "--wait": "wait until the new batch has ended",
    },
  },
  "batch prune": {
    summary: "Delete old finished batches and all that belongs to them",
    examples: ["nightdesk batch prune --older-than 30d --dry-run", "nightdesk batch prune"],
    options: {
      "--older-than <age>": "such as 12h, 30d or 4w; default: runs.keep_days",
      "--dry-run": "list, and change nothing",
    },
  },
  "batch pin": {
    summary: "Keep a batch, whatever its age",
    examples: ["nightdesk batch pin tonight", "nightdesk batch pin tonight --until-exported"],
    arguments: { "<batch>": "name or id" },
    options: { "--until-exported": "only until its results are exported" },
  },
  "batch unpin": {
    summary: "Undo batch pin",
    examples: ["nightdesk batch unpin tonight"],
    arguments: { "<batch>": "name or id" },
  },
  "write-back": {
    process: "worker",
    summary:
      "Write what is supported of a batch's extractions to paperless-ngx, where their files came from",
    examples: ["nightdesk write-back letters --dry-run", "nightdesk write-back letters --json"],
    arguments: { "<batch>": "name or id" },
    options: {
      "--dry-run": "only look there, and print what would be written and what would be withheld",
      "--if-any": "exit 0 where there is no such batch",
    },
  },
  "write-back undo": {
    process: "worker",
    summary: "Put back what the write-back of a batch changed, where nobody has changed it since",
    examples: ["nightdesk write-back undo letters"],
    arguments: { "<batch>": "name or id" },
  },
};
