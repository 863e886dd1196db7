import type { ListedCommand } from "../command.ts";
import { limit } from "./options.ts";

const WITH_REASONING = {
  flags: "--with-reasoning",
  description: "also what models thought before they replied, as far as it is kept",
};

/** Runs, and what they leave behind. */
export const RUNS: readonly ListedCommand[] = [
  {
    name: "runs list",
    summary: "List runs, newest first",
    examples: ["nightdesk runs list", "nightdesk runs list --batch tonight --limit 20"],
    options: [limit, { flags: "--batch <batch>", description: "only runs of this batch" }],
  },
  {
    name: "runs show",
    summary: "Show a run: steps, models, prompts, evidence, checks, answer",
    examples: [
      "nightdesk runs show 5f2c0b2e-0d0a-4d0e-9a53-0a4f7a0c2b11",
      "nightdesk runs show 5f2c0b2e-0d0a-4d0e-9a53-0a4f7a0c2b11 --all",
      "nightdesk runs show 5f2c0b2e-0d0a-4d0e-9a53-0a4f7a0c2b11 --output 3",
    ],
    arguments: [{ usage: "<id>", description: "id of a run or of a job, or its beginning" }],
    options: [
      { flags: "--all", description: "long lists and replies in full" },
      {
        flags: "--output <step>",
        description: "only what this step of an investigation gave, whole",
      },
      {
        flags: "--reasoning",
        description: "only what models thought before they replied, as far as it is kept",
      },
    ],
  },
  {
    name: "runs replay",
    process: "worker",
    summary: "Repeat a run from its record, without a model",
    examples: ["nightdesk runs replay 5f2c0b2e-0d0a-4d0e-9a53-0a4f7a0c2b11"],
    arguments: [{ usage: "<id>", description: "id of a run or of a job, or its beginning" }],
  },
  {
    name: "runs trace",
    summary: "Write all that is on record of a job: trace, evidence, moves, queries, notes",
    examples: ["nightdesk runs trace 5f2c0b2e-0d0a-4d0e-9a53-0a4f7a0c2b11 --output audit/ferry"],
    arguments: [{ usage: "<id>", description: "id of a run or of a job, or its beginning" }],
    options: [
      { flags: "--output <folder>", description: "a folder in the work root, new or empty" },
      WITH_REASONING,
    ],
  },
  {
    name: "runs export",
    summary: "Write each run to runs/<run_id>/run.json",
    examples: ["nightdesk runs export audit", "nightdesk runs export audit --batch tonight"],
    arguments: [
      { usage: "<folder>", description: "a folder in the work root; runs/ is made in it" },
    ],
    options: [
      { flags: "--batch <batch>", description: "only runs of this batch" },
      {
        flags: "--run <id>",
        description: "only this run, or those of this job; by id or its beginning",
      },
      { flags: "--with-outputs", description: "also what steps of investigations gave, whole" },
      WITH_REASONING,
      { flags: "--force", description: "replace files that are there with other content" },
    ],
  },
  {
    name: "evidence show",
    process: "worker",
    summary: "Show the words that carry a statement, marked on the page of their file",
    examples: [
      "nightdesk evidence show 5f2c0b2e --statement 3",
      "nightdesk evidence show 5f2c0b2e --statement 3 --place 1",
      "nightdesk evidence show 5f2c0b2e --out pages.html",
    ],
    arguments: [{ usage: "<id>", description: "id of a run or of a job, or its beginning" }],
    options: [
      {
        flags: "--statement <n>",
        description: "only this statement of the answer, or value of the extraction, from 1",
        kind: "count",
      },
      {
        flags: "--place <n>",
        description: "with --statement: where another piece that it cites says it too, from 1",
        kind: "count",
      },
      { flags: "--out <file>", description: "a file with the pictures of their pages (.html)" },
      { flags: "--force", description: "replace a file that is there" },
    ],
  },
  {
    name: "evidence doubts",
    summary: "List figures in pictures of pages that were not read for sure",
    examples: [
      "nightdesk evidence doubts",
      "nightdesk evidence doubts allowed/bills/may.pdf --all",
    ],
    arguments: [{ usage: "[path]", description: "of this document alone" }],
    options: [
      limit,
      { flags: "--all", description: "also those of which somebody chose a reading" },
    ],
  },
  {
    name: "evidence choose",
    summary: "Say what stands in a picture where its two readers were not sure",
    examples: [
      "nightdesk evidence choose 5f2c0b2e.1.210.50 --second",
      "nightdesk evidence choose 5f2c0b2e.1.210.50 --as 71.71",
    ],
    arguments: [{ usage: "<figure>", description: "its name, as evidence doubts lists it" }],
    options: [
      { flags: "--first", description: "what the first model read" },
      { flags: "--second", description: "what the second model read" },
      { flags: "--as <text>", description: "these words" },
    ],
  },
];
