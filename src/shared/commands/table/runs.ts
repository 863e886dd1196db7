import type { CommandTable, OptionTable } from "../command.ts";
import { limit } from "./options.ts";

const WITH_REASONING: OptionTable = {
  "--with-reasoning": "also what models thought before they replied, as far as it is kept",
};

/** Runs and their records. */
export const RUNS: CommandTable = {
  "runs list": {
    summary: "List runs, newest first",
    examples: ["nightdesk runs list", "nightdesk runs list --batch tonight --limit 20"],
    options: { ...limit, "--batch <batch>": "only runs of this batch" },
  },
  "runs show": {
    summary: "Show a run: steps, models, prompts, evidence, checks, answer",
    examples: [
      "nightdesk runs show 5f2c0b2e-0d0a-4d0e-9a53-0a4f7a0c2b11",
      "nightdesk runs show 5f2c0b2e-0d0a-4d0e-9a53-0a4f7a0c2b11 --all",
      "nightdesk runs show 5f2c0b2e-0d0a-4d0e-9a53-0a4f7a0c2b11 --output 3",
    ],
    arguments: { "<id>": "id of a run or of a job, or its beginning" },
    options: {
      "--all": "long lists and replies in full",
      "--output <step>": "only what this step of an investigation gave, whole",
      "--reasoning": "only what models thought before they replied, as far as it is kept",
    },
  },
  "runs replay": {
    process: "worker",
    summary: "Repeat a run from its record, without a model",
    examples: ["nightdesk runs replay 5f2c0b2e-0d0a-4d0e-9a53-0a4f7a0c2b11"],
    arguments: { "<id>": "id of a run or of a job, or its beginning" },
  },
  "runs trace": {
    summary: "Write all that is on record of a job: trace, evidence, moves, queries, notes",
    examples: ["nightdesk runs trace 5f2c0b2e-0d0a-4d0e-9a53-0a4f7a0c2b11 --output audit/ferry"],
    arguments: { "<id>": "id of a run or of a job, or its beginning" },
    options: {
      "--output <folder>": "a folder in the work root, new or empty",
      ...WITH_REASONING,
    },
  },
  "runs export": {
    summary: "Write each run to runs/<run_id>/run.json",
    examples: ["nightdesk runs export audit", "nightdesk runs export audit --batch tonight"],
    arguments: { "<folder>": "a folder in the work root; runs/ is made in it" },
    options: {
      "--batch <batch>": "only runs of this batch",
      "--run <id>": "only this run, or those of this job; by id or its beginning",
      "--with-outputs": "also what steps of investigations gave, whole",
      ...WITH_REASONING,
      "--force": "replace files that are there with other content",
    },
  },
  "evidence show": {
    process: "worker",
    summary: "Show the words that carry a statement, marked on the page of their file",
    examples: [
      "nightdesk evidence show 5f2c0b2e --statement 3",
      "nightdesk evidence show 5f2c0b2e --statement 3 --place 1",
      "nightdesk evidence show 5f2c0b2e --output pages.html",
    ],
    arguments: { "<id>": "id of a run or of a job, or its beginning" },
    options: {
      "--statement <n>": {
        description: "only this statement of the answer, or value of the extraction, from 1",
        kind: "count",
      },
      "--place <n>": {
        description: "with --statement: where another piece that it cites says it too, from 1",
        kind: "count",
      },
      "--output <file>": "a file with the pictures of their pages (.html)",
      "--force": "replace a file that is there",
    },
  },
  "evidence doubts": {
    summary: "List figures in pictures of pages that were not read for sure",
    examples: ["nightdesk evidence doubts", "nightdesk evidence doubts bills/may.pdf --all"],
    arguments: { "[path]": "of this document alone" },
    options: { ...limit, "--all": "also those of which somebody chose a reading" },
  },
  "evidence choose": {
    summary: "Say what stands in a picture where its two readers were not sure",
    examples: [
      "nightdesk evidence choose 5f2c0b2e.1.210.50 --second",
      "nightdesk evidence choose 5f2c0b2e.1.210.50 --as 71.71",
    ],
    arguments: { "<figure>": "its name, as evidence doubts lists it" },
    options: {
      "--first": "what the first model read",
      "--second": "what the second model read",
      "--as <text>": "these words",
    },
  },
};
