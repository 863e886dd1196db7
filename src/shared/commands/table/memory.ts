import type { CommandTable } from "../command.ts";

const NOTE_TYPES = ["preference", "project_state", "constraint", "workflow_rule", "user_fact"];

export const MEMORY: CommandTable = {
  "memory add": {
    summary: "Write a durable note: a preference, a constraint, a rule, a fact",
    examples: [
      'nightdesk memory add "Give temperatures in Celsius." --type preference',
      "nightdesk memory add - --type constraint < rule.txt",
    ],
    arguments: { "<text>": "the note; - for stdin" },
    options: {
      "--type <type>": { description: "what kind of note it is; required", choices: NOTE_TYPES },
      "--chunk-key <key...>": "passages of the index that it is based on",
      "--source <source>": {
        description: "where it comes from; manual by default",
        choices: ["manual", "derived_from_evidence"],
      },
    },
  },
  "memory list": {
    summary: "List durable notes, newest first",
    examples: ["nightdesk memory list", "nightdesk memory list --type preference --json"],
    options: { "--type <type>": { description: "only notes of this kind", choices: NOTE_TYPES } },
  },
  "memory delete": {
    summary: "Delete a durable note",
    examples: ["nightdesk memory delete 5f2c0b2e-0d0a-4d0e-9a53-0a4f7a0c2b11"],
    arguments: { "<id>": "id of the note" },
  },
  "memory export": {
    summary: "Write all durable notes to a file in the work root, as JSON",
    examples: ["nightdesk memory export notes.json", "nightdesk memory export notes.json --force"],
    arguments: { "<file>": "the file to write" },
    options: { "--force": "replace a file that is there" },
  },
};
