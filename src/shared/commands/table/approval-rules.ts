import type { Command } from "../command.ts";

/** Rules for commands of the tool shell. */
export const APPROVAL_RULES: readonly Command[] = [
  {
    name: "approvals rules add",
    process: "producer",
    summary: "Allow a command of the tool shell from now on, by what it begins with, or forbid it",
    examples: [
      "nightdesk approvals rules add git blame --flag --porcelain --flag --since=",
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
        flags: "--flag <flag>",
        description: "a flag that may follow, as it is written; with a value where it ends in =",
        kind: "list",
      },
      {
        flags: "--folder <folder>",
        description:
          "folder of the sandbox in which the command runs and all its other words lie; / by default",
      },
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
