import type { CommandTable } from "../command.ts";

/** Commands at fixed times. */
export const SCHEDULES: CommandTable = {
  "schedule list": {
    summary: "List schedules with their next times and their last run",
    examples: ["nightdesk schedule list", "nightdesk schedule list --json"],
  },
  "schedule set": {
    summary: "Add a schedule, or replace one added this way",
    examples: [
      `nightdesk schedule set nightly --cron "0 1 * * *" --timezone Europe/Berlin -- index`,
      `nightdesk schedule set evening --cron "0 22 * * 1-5" -- enqueue tonight.jsonl --batch-name "{schedule} {date}"`,
    ],
    arguments: {
      "<name>": "lower-case letters, digits, - and _",
      "<command...>":
        "after --, the words that follow nightdesk; {planned}, {date} and {schedule} are filled in",
    },
    options: {
      "--cron <expression>": "minute, hour, day of month, month, day of week; required",
      "--timezone <zone>": "IANA name; default: this machine's",
      "--catch-up <age>":
        "run a missed time that is no older, like 90m or 2d; default 12h, 0 is never",
      "--off": "add it switched off; schedule enable switches it on",
    },
  },
  "schedule enable": {
    summary: "Switch a schedule on, including one of the configuration",
    examples: ["nightdesk schedule enable nightly-index"],
    arguments: { "<name>": "name of the schedule" },
  },
  "schedule disable": {
    summary: "Switch a schedule off, including one of the configuration",
    examples: ["nightdesk schedule disable nightly-index"],
    arguments: { "<name>": "name of the schedule" },
  },
  "schedule remove": {
    summary: "Remove a schedule that schedule set added",
    examples: ["nightdesk schedule remove nightly"],
    arguments: { "<name>": "name of the schedule" },
  },
  "schedule run": {
    summary: "Run a schedule now, in addition to its times",
    examples: ["nightdesk schedule run nightly-index"],
    arguments: { "<name>": "name of the schedule" },
  },
};
