import type { Command } from "../command.ts";

const job = {
  usage: "<job>",
  description: "id of a job, or 8 characters or more that it begins with",
};
const batch = { flags: "--batch <batch>", description: "of one batch, by its name or id" };

/** Answers that a person is asked to look at: the last of verify.tiers. */
export const REVIEWS: readonly Command[] = [
  {
    name: "reviews list",
    process: "producer",
    summary: "List answers that wait for somebody to accept, correct or reject them",
    examples: ["nightdesk reviews list", "nightdesk reviews list --batch tonight --json"],
    options: [
      batch,
      { flags: "--all", description: "also what was decided" },
      { flags: "--limit <n>", description: "how many rows; 50 by default", kind: "count" },
    ],
  },
  {
    name: "reviews show",
    process: "producer",
    summary: "Show an answer that waits, why, and what its checks found",
    examples: ["nightdesk reviews show 5d20be91"],
    arguments: [job],
  },
  {
    name: "reviews accept",
    process: "producer",
    summary: "Let an answer stand as it is: its job succeeds, and is graded verified",
    examples: ["nightdesk reviews accept 5d20be91"],
    arguments: [job],
    options: [
      { flags: "--reason <text>", description: "why" },
      { flags: "--fact <text...>", description: "what a right answer holds, for reviews export" },
    ],
  },
  {
    name: "reviews correct",
    process: "producer",
    summary: "Put other words in the place of an answer: its job succeeds with them",
    examples: [
      `nightdesk reviews correct 5d20be91 --text "The crossing takes 42 minutes." --fact "42 minutes"`,
      "nightdesk reviews correct 5d20be91 --file answer.txt",
    ],
    arguments: [job],
    options: [
      { flags: "--text <text>", description: "the answer; of an extraction the fields as JSON" },
      { flags: "--file <file>", description: "the same from a file" },
      { flags: "--fact <text...>", description: "what a right answer holds, for reviews export" },
      { flags: "--reason <text>", description: "why" },
    ],
  },
  {
    name: "reviews reject",
    process: "producer",
    summary: "Refuse an answer: its job ends as REVIEW_REJECTED",
    examples: [`nightdesk reviews reject 5d20be91 --reason "The contract is not ours."`],
    arguments: [job],
    options: [{ flags: "--reason <text>", description: "why; has to be given" }],
  },
  {
    name: "reviews export",
    process: "producer",
    summary: "Write questions with what people said a right answer holds, for nightdesk eval",
    examples: ["nightdesk reviews export decided.jsonl", "nightdesk eval decided.jsonl"],
    arguments: [{ usage: "<file>", description: "a file that is not there yet" }],
    options: [batch],
  },
];
