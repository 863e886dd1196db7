import type { CommandOption, ListedCommand } from "../command.ts";

const memoryType: CommandOption = {
  flags: "--type <type>",
  description: "only notes of this kind",
  choices: ["preference", "project_state", "constraint", "workflow_rule", "user_fact"],
};

/** Durable notes. */
export const MEMORY: readonly ListedCommand[] = [
  {
    name: "memory add",
    summary: "Write a durable note: a preference, a constraint, a rule, a fact",
    examples: [
      'nightdesk memory add "Give temperatures in Celsius." --type preference',
      "nightdesk memory add - --type constraint < rule.txt",
    ],
    arguments: [{ usage: "<text>", description: "the note; - for stdin" }],
    options: [
      { ...memoryType, description: "what kind of note it is; required" },
      { flags: "--chunk-key <key...>", description: "passages of the index that it is based on" },
      {
        flags: "--source <source>",
        description: "where it comes from; manual by default",
        choices: ["manual", "derived_from_evidence"],
      },
    ],
  },
  {
    name: "memory list",
    summary: "List durable notes, newest first",
    examples: ["nightdesk memory list", "nightdesk memory list --type preference --json"],
    options: [memoryType],
  },
  {
    name: "memory delete",
    summary: "Delete a durable note",
    examples: ["nightdesk memory delete 5f2c0b2e-0d0a-4d0e-9a53-0a4f7a0c2b11"],
    arguments: [{ usage: "<id>", description: "id of the note" }],
  },
  {
    name: "memory export",
    summary: "Write all durable notes to a file in the work root, as JSON",
    examples: ["nightdesk memory export notes.json", "nightdesk memory export notes.json --force"],
    arguments: [{ usage: "<file>", description: "the file to write" }],
    options: [{ flags: "--force", description: "replace a file that is there" }],
  },
];
