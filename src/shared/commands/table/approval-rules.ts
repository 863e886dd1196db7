import type { Command } from "../command.ts";

/** Rules for commands of the tool shell. */
export const APPROVAL_RULES: readonly Command[] = [
  {
    name: "approvals rules add",
    process: "producer",
    summary: "Allow a command of the tool shell from now on, by what it begins with, or forbid it",
    examples: [
      "nightdesk approvals rules add cat --folder /input/corpus/logs",
      "nightdesk approvals rules add wc --batch tonight",
      "nightdesk approvals rules add --days 30 -- sed -n",
      `nightdesk approvals rules add git --forbid --reason "histories are nobody's business"`,
    ],
    arguments: [
      {
        usage: "<words...>",
        description:
          "the program, and the words that must follow it, as they stand; -- before those that begin with a dash",
      },
    ],
    options: [
      {
        flags: "--folder <folder>",
        description:
          "folder of the sandbox that all paths of the command lead into, wherever it runs; / by default",
      },
      {
        flags: "--batch <batch>",
        description: "of one batch, by its name or id, as long as it lasts; not with --days",
      },
      { flags: "--job <job>", description: "of one job, by its id, as long as it lasts" },
      {
        flags: "--days <n>",
        description: "how long it holds; 7 by default, for good where it forbids",
        kind: "count",
      },
      { flags: "--forbid", description: "forbid it, whatever else would allow it" },
      { flags: "--reason <text>", description: "why; needed where it forbids" },
    ],
  },
];
